package main

// reviewed is what a file of terms means that no program can judge: somebody
// has read it. The entry is for these very bytes; another version of the file
// has to be read again.
var reviewed = map[string]struct {
	what  string
	terms []string // none: it grants and demands nothing of what we ship
}{
	"8438c9c89b849131ead81d5435cb97fcf052df5b0b286dda8a2d4c29e6cb3fd0": {
		what:  "modernc.org/sqlite, LICENSE-SQLITE: SQLite itself is in the public domain",
		terms: []string{"blessing"},
	},
	"f4a00ade8f4057ab0ea49097d9c459df8559fcf10ca78da0c950343fb7428d37": {
		what: "modernc.org/sqlite v1.62.0, LICENSE-3RD-PARTY.md: what is linked is MIT, BSD and public domain " +
			"(its section 1); the MPL-2.0 it quotes is of a module that nothing compiles (section 3)",
		terms: []string{"BSD-3-Clause", "MIT", "blessing"},
	},
	"f597097efe3d97021f89170746bd3a0fb9a8b6fb26b82043ed68a4e0283bee6c": {
		what:  "modernc.org/libc v1.80.2, LICENSE-3RD-PARTY.md: Go, musl libc, go-netdb and nixpkgs",
		terms: []string{"BSD-3-Clause", "MIT"},
	},
	"5ae5bee3072a841376451b48d8cfcec7188e10543926d5870828d36c8a750dc5": {
		what: "modernc.org/memory, LICENSE-LOGO: where a picture in its repository comes from",
	},
}
