package registry

import (
	"net/netip"
	"regexp"
	"strings"

	"github.com/legation/legation/guard"
)

// text is a string type whose values have a form.
type text interface {
	// check returns what is wrong with a value that is not empty, or nothing.
	check() string

	// pattern is the form as a regular expression that every value matches.
	pattern() string
}

// Name is the name of a document: lower-case letters, digits and hyphens, at
// most 63, beginning and ending with a letter or digit (a label of RFC 1123).
type Name string

const nameForm = `[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`

var nameRE = regexp.MustCompile(`^` + nameForm + `$`)

func (Name) pattern() string { return `^` + nameForm + `$` }

func (n Name) check() string {
	if !nameRE.MatchString(string(n)) {
		return "a name has lower-case letters, digits and hyphens, at most 63, and begins and ends with a letter or digit"
	}
	return ""
}

// SecretName is the name of a secret. It is not repeated in problems, for
// somebody may have put the secret itself there.
type SecretName string

func (SecretName) pattern() string { return Name("").pattern() }

func (n SecretName) check() string {
	if Name(n).check() != "" {
		return "this is not the name of a secret (lower-case letters, digits and hyphens, at most 63); the value itself is never written in a document"
	}
	return ""
}

// SkillID is the id of a skill within its agent: letters, digits, dots, hyphens
// and underscores, at most 63, beginning with a letter or digit.
type SkillID string

const skillForm = `[A-Za-z0-9][A-Za-z0-9._-]{0,62}`

var skillRE = regexp.MustCompile(`^` + skillForm + `$`)

func (SkillID) pattern() string { return `^` + skillForm + `$` }

func (id SkillID) check() string {
	if !skillRE.MatchString(string(id)) {
		return "the id of a skill has letters, digits, '.', '_' and '-', at most 63, and begins with a letter or digit"
	}
	return ""
}

// SkillRef names a skill: "agent/skill", where agent is the name of an [Agent]
// or a [RemoteAgent].
type SkillRef string

func (SkillRef) pattern() string { return `^` + nameForm + `/` + skillForm + `$` }

func (r SkillRef) check() string {
	agent, skill := r.Split()
	if agent.check() != "" || skill.check() != "" {
		return "write agent/skill, for example support/summarize"
	}
	return ""
}

// Split returns both halves. Without a slash the skill is empty.
func (r SkillRef) Split() (agent Name, skill SkillID) {
	before, after, _ := strings.Cut(string(r), "/")
	return Name(before), SkillID(after)
}

// Exception is a host or a range of addresses that may be reached although the
// guard would refuse it: "host", "host:port", an address, or a CIDR. A host may
// be reached over plain http too; a range may not.
type Exception string

func (Exception) pattern() string { return `^[^\s*]+$` }

func (e Exception) check() string {
	if prefix, err := netip.ParsePrefix(string(e)); err == nil {
		if prefix != prefix.Masked() {
			return "the range has bits behind its mask; write " + prefix.Masked().String()
		}
		return ""
	}
	if strings.ContainsAny(string(e), "*/@ ") {
		return "an exception is a literal host, host:port, address or CIDR; no URL and no pattern"
	}
	words, _ := guarded("http://"+hostPart(string(e))+"/", []Exception{e})
	return words
}

// hostPart puts brackets around an address of IP version 6 without a port.
func hostPart(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		return "[" + host + "]"
	}
	return host
}

// policy is what the guard is told for a party with these exceptions.
func policy(exceptions []Exception) guard.Policy {
	var p guard.Policy
	for _, e := range exceptions {
		if prefix, err := netip.ParsePrefix(string(e)); err == nil {
			p.AllowCIDRs = append(p.AllowCIDRs, prefix)
		} else {
			p.AllowHosts = append(p.AllowHosts, string(e))
		}
	}
	return p
}

// URL is an absolute URL: https, or http to a host that an exception names. Its
// text is not repeated in problems.
type URL string

func (URL) pattern() string { return `^https?://[^\s]+$` }

func (u URL) check() string {
	if !strings.HasPrefix(string(u), "https://") && !strings.HasPrefix(string(u), "http://") {
		return "write an absolute URL, for example https://agent.example/path"
	}
	return ""
}

// URI identifies an extension or an issuer. It is compared letter by letter.
type URI string

var uriRE = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:[^\s]+$`)

func (URI) pattern() string { return uriRE.String() }

func (u URI) check() string {
	if !uriRE.MatchString(string(u)) {
		return "write a URI with its scheme, for example https://agent.example/ext/v1 or urn:example:ext:v1"
	}
	return ""
}

// SHA256 is a digest in lower-case hexadecimal.
type SHA256 string

var sha256RE = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (SHA256) pattern() string { return sha256RE.String() }

func (s SHA256) check() string {
	switch {
	case !sha256RE.MatchString(string(s)):
		return "write a SHA-256 digest as 64 lower-case hexadecimal digits"
	case strings.Trim(string(s), "0") == "":
		return "a digest of nothing but zeros is that of nothing"
	}
	return ""
}
