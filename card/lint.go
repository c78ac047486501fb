package card

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/a2a"
)

// Severity says how bad a [Finding] is.
type Severity string

const (
	// SeverityError is what others cannot, or must not, work with.
	SeverityError Severity = "error"
	// SeverityWarning is what some will stumble over.
	SeverityWarning Severity = "warning"
)

// Finding is one fault of a card.
type Finding struct {
	Severity Severity

	// Path is where it is, in the wire's names: skills[0].tags. Empty means the
	// whole card.
	Path string

	// Problem tells a person what is wrong and what would be right. What it
	// quotes of the card is bounded.
	Problem string
}

// String puts the finding on one line.
func (f Finding) String() string {
	if f.Path == "" {
		return string(f.Severity) + ": " + f.Problem
	}
	return string(f.Severity) + ": " + f.Path + ": " + f.Problem
}

const maxFindings = 200

// Lint lists what is wrong with a card: what the specification demands of it
// and can be seen without asking the agent (1.0.1, sections 4.4, 4.5 and 8),
// and what keeps others from verifying its signatures. Errors come first. There
// are at most 200; when there were more the last one says so.
func Lint(raw []byte) []Finding {
	card, violations, err := read(raw)
	if err != nil {
		return []Finding{{SeverityError, "", "the card can not be read: " + err.Error()}}
	}
	l := &linter{card: card}
	for _, v := range violations {
		l.error(v.Field, "%s", v.Description)
	}
	l.unknown("", "AgentCard", raw)
	l.content()
	l.signatures()
	l.divergence(raw)
	slices.SortStableFunc(l.found, func(a, b Finding) int {
		return cmp.Compare(a.Severity, b.Severity) // an error comes before a warning
	})
	if len(l.found) > maxFindings {
		l.found = append(l.found[:maxFindings-1], Finding{SeverityWarning, "", "there are more findings"})
	}
	return l.found
}

type linter struct {
	card  a2a.AgentCard
	found []Finding
}

func (l *linter) error(path, format string, args ...any) { l.add(SeverityError, path, format, args) }
func (l *linter) warn(path, format string, args ...any)  { l.add(SeverityWarning, path, format, args) }

func (l *linter) add(severity Severity, path, format string, args []any) {
	l.found = append(l.found, Finding{severity, path, fmt.Sprintf(format, args...)})
}

// older are members of versions before 1.0, by message, and what took their
// place.
var older = map[string]string{
	"AgentCard.url":                               "supportedInterfaces",
	"AgentCard.preferredTransport":                "supportedInterfaces",
	"AgentCard.additionalInterfaces":              "supportedInterfaces",
	"AgentCard.protocolVersion":                   "supportedInterfaces",
	"AgentCard.security":                          "securityRequirements",
	"AgentCard.supportsAuthenticatedExtendedCard": "capabilities.extendedAgentCard",
	"AgentSkill.security":                         "securityRequirements",
	"AgentInterface.transport":                    "protocolBinding",
	"SecurityScheme.type":                         "the member that names the kind of the scheme",
}

// unknown finds members that the specification does not have, or spells
// otherwise, in an object and below it.
func (l *linter) unknown(path, message string, raw []byte) {
	for name, value := range entries(raw) {
		i := lookup(messages[message], name)
		at := member(path, name)
		if i < 0 {
			if now, ok := older[message+"."+name]; ok {
				l.warn(at, "is of versions before 1.0, and will be ignored; use %s", now)
			} else {
				l.warn(at, "is not known to the specification, and will be ignored")
			}
			continue
		}
		f := messages[message][i]
		if name != f.name {
			l.error(at, "must be written %s", f.name) // REQ-PJ-01
		}
		switch {
		case f.message == "":
		case f.kind == object:
			l.unknown(at, f.message, value)
		default:
			for key, element := range entries(value) {
				below := at + "[" + key + "]"
				if f.kind == dict {
					below = member(at, key)
				}
				l.unknown(below, f.message, element)
			}
		}
	}
}

// divergence finds what other implementations leave out of the form they sign,
// though it is covered: everything that is empty. Their signatures do not
// verify here, nor ours there.
func (l *linter) divergence(raw []byte) {
	form, err := Canonical(raw)
	if err != nil {
		l.error("", "the card can not be signed: %s", strings.TrimPrefix(err.Error(), "card: "))
		return
	}
	l.empties("", form)
}

func (l *linter) empties(path string, value jsontext.Value) {
	switch string(value) {
	case `""`, `[]`, `{}`, `null`:
		l.warn(path, "is %s, which some implementations leave out of what they sign; with signatures give it a value or leave it out", value)
		return
	}
	isList := value.Kind() == '['
	for key, below := range entries(value) {
		if isList {
			l.empties(path+"["+key+"]", below)
			continue
		}
		l.empties(member(path, key), below)
	}
}

// entries are the members of an object, or the elements of a list with their
// numbers as names. Of anything else there are none.
func entries(raw []byte) func(yield func(string, jsontext.Value) bool) {
	return func(yield func(string, jsontext.Value) bool) {
		in := jsontext.NewDecoder(bytes.NewReader(raw))
		open, err := in.ReadToken()
		if err != nil || open.Kind() != '{' && open.Kind() != '[' {
			return
		}
		for i := 0; in.PeekKind() != '}' && in.PeekKind() != ']'; i++ {
			name := fmt.Sprint(i)
			if open.Kind() == '{' {
				token, err := in.ReadToken()
				if err != nil {
					return
				}
				name = token.String()
			}
			value, err := in.ReadValue()
			if err != nil || !yield(name, value.Clone()) {
				return
			}
		}
	}
}

// member is the path of a member. Names that do not read well are quoted.
func member(path, name string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	switch {
	case name == "" || len(name) > 40 || strings.Trim(name, plain) != "":
		return fmt.Sprintf("%s[%q]", path, bounded(name))
	case path == "":
		return name
	}
	return path + "." + name
}
