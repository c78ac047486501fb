package repotest

import (
	"os"
	"strings"
	"testing"
)

// Who sees which tasks is written down (REQ-SCOPE-08), and what a card shows at
// which level of authentication (REQ-XCARD-11).
func TestSecurityIsDocumented(t *testing.T) {
	raw, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for section := range strings.SplitSeq(string(raw), "\n## ") {
		title, text, _ := strings.Cut(section, "\n")
		sections[title] = strings.Join(strings.Fields(text), " ")
	}
	for title, wants := range map[string][]string{
		"Who sees what":                   {"an agent *and* a caller", "does not exist", "totals do not count it", "as `admin`"},
		"What a card shows, and to whom":  {"anybody, once remote clients are registered", "a caller that is let in (`GetExtendedAgentCard`)", "private skills it may use"},
		"Being called":                    {"API key", "OpenID Connect", "certificate", "401", "403", "429"},
		"What this does not protect from": {"master key"},
	} {
		for _, want := range wants {
			if !strings.Contains(sections[title], want) {
				t.Errorf("docs/security.md, %q, does not say %q", title, want)
			}
		}
	}
}
