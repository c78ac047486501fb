package card

import (
	"cmp"
	"strings"
)

// semantic is a semantic version: three numbers and perhaps a pre-release.
// What follows a plus sign plays no part in order.
type semantic struct {
	numbers    [3]string
	prerelease []string
}

func parseSemantic(version string) (semantic, bool) {
	var v semantic
	if len(version) > 256 {
		return v, false
	}
	version, build, hasBuild := strings.Cut(version, "+")
	if hasBuild && !identifiers(strings.Split(build, "."), false) {
		return v, false
	}
	core, prerelease, hasPrerelease := strings.Cut(version, "-")
	if hasPrerelease {
		v.prerelease = strings.Split(prerelease, ".")
		if !identifiers(v.prerelease, true) {
			return v, false
		}
	}
	numbers := strings.Split(core, ".")
	if len(numbers) != len(v.numbers) {
		return v, false
	}
	copy(v.numbers[:], numbers)
	for _, n := range numbers {
		if !isNumber(n) || padded(n) {
			return v, false
		}
	}
	return v, true
}

// Semantic reports whether a version is a semantic one, which have an order: three
// numbers such as 1.2.0, and perhaps a pre-release and a build.
func Semantic(version string) bool {
	_, ok := parseSemantic(version)
	return ok
}

func identifiers(names []string, numeric bool) bool {
	for _, name := range names {
		plain := func(r rune) bool {
			return r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		}
		if name == "" || strings.TrimFunc(name, plain) != "" || numeric && isNumber(name) && padded(name) {
			return false
		}
	}
	return true
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func padded(s string) bool { return len(s) > 1 && s[0] == '0' }

// olderVersion reports whether both are semantic versions and the first comes
// before the second.
func olderVersion(version, minimum string) bool {
	a, ok := parseSemantic(version)
	b, too := parseSemantic(minimum)
	return ok && too && a.compare(b) < 0
}

func (v semantic) compare(other semantic) int {
	for i := range v.numbers {
		if c := compareNumbers(v.numbers[i], other.numbers[i]); c != 0 {
			return c
		}
	}
	a, b := v.prerelease, other.prerelease
	if len(a) == 0 || len(b) == 0 {
		return cmp.Compare(len(b), len(a)) // a release comes after its previews
	}
	for i := range min(len(a), len(b)) {
		if c := compareIdentifiers(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func compareIdentifiers(a, b string) int {
	switch x, y := isNumber(a), isNumber(b); {
	case x && y:
		return compareNumbers(a, b)
	case x:
		return -1
	case y:
		return 1
	}
	return cmp.Compare(a, b)
}

// compareNumbers compares digits without leading zeros, of any length.
func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
