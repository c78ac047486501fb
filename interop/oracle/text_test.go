package oracle_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/legation/legation/a2a"
)

// stricter are the faults that only we find in a text, on purpose: what we read
// of it may then differ from what the oracle reads.
var stricter = []struct {
	why   string
	found func(text string, err error, violations a2a.Violations) bool
}{
	{"names are unique in all of a text, whether a member is known or not", func(_ string, err error, _ a2a.Violations) bool {
		return err != nil && strings.Contains(err.Error(), "duplicate member name")
	}},
	{"nesting is limited to 100 levels", func(_ string, err error, _ a2a.Violations) bool {
		return err != nil && strings.Contains(err.Error(), "nested too deep")
	}},
	{"an enum value that is not one of 1.0 is reported and kept", func(_ string, _ error, violations a2a.Violations) bool {
		_, ok := violations.Find(a2a.UnknownEnum)
		return ok
	}},
	{"a security requirement whose form would lose its meaning is reported", func(_ string, _ error, violations a2a.Violations) bool {
		_, ok := violations.Find(a2a.Shape)
		return ok
	}},
	{"what follows the 32nd fault is not looked at", func(_ string, _ error, violations a2a.Violations) bool {
		_, ok := violations.Find(a2a.TooMany)
		return ok
	}},
	{"RFC 3339 has a full stop before the fraction, and two digits for the hour", func(text string, _ error, violations a2a.Violations) bool {
		_, ok := violations.Find(a2a.BadEncoding)
		return ok && oddTime.MatchString(text)
	}},
	{"a number has digits after its e (RFC 8259, section 6), which the oracle does not ask for in what it discards", func(text string, err error, _ a2a.Violations) bool {
		return err != nil && strings.Contains(err.Error(), "malformed JSON") && oddNumber.MatchString(text)
	}},
}

var oddNumber = regexp.MustCompile(`[0-9][eE][+-]?([^0-9+-]|$)`)

var oddTime = regexp.MustCompile(`T\d{1,2}:\d{2}:\d{2}(,|[^"]*[+-])|T\d:`)

// FuzzText holds our reading of any text against the oracle's.
func FuzzText(f *testing.F) {
	index := map[string]uint8{}
	for i, name := range messageNames {
		index[name] = uint8(i)
	}
	for _, a := range acceptance {
		f.Add(index[a.message], a.text)
	}
	f.Fuzz(func(t *testing.T, message uint8, text string) {
		if len(text) > 1<<12 {
			return
		}
		name := messageNames[int(message)%len(messageNames)]
		found := disagreement(name, text)
		if found == "" {
			return
		}
		_, violations, err := codecs[name].recode([]byte(text))
		for _, s := range stricter {
			if s.found(text, err, violations) {
				return
			}
		}
		t.Errorf("%s %s\n%s", name, text, found)
	})
}
