package a2a_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/legation/legation/a2a"
)

// The list of violations is bounded, and so is what a hostile list of empty
// objects may occupy.
func TestViolationsAreBounded(t *testing.T) {
	text := `{"messageId":"m","role":1,"parts":[{"text":"first"}` + strings.Repeat(`,{}`, 5000) + `,{"text":"last"}]}`
	message, violations, err := a2a.Decode[a2a.Message]([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(violations) != 32 || violations[31].Reason != a2a.TooMany {
		t.Errorf("%d violations, the last is %+v", len(violations), violations[len(violations)-1])
	}
	if message.Text() != "firstlast" {
		t.Errorf("text = %q, want all that was sound", message.Text())
	}
	if len(message.Parts) > 40 {
		t.Errorf("%d parts are kept", len(message.Parts))
	}
	scheme := `{"securitySchemes":{"s":{}`
	for i := range 100 {
		scheme += fmt.Sprintf(`,"s%d":{}`, i)
	}
	card, _, err := a2a.Decode[a2a.AgentCard]([]byte(scheme + `}}`))
	if err != nil || len(card.SecuritySchemes) > 40 {
		t.Errorf("%d schemes are kept, error %v", len(card.SecuritySchemes), err)
	}
}

// Descriptions quote little, and nothing of members that may hold content.
func TestDescriptionsDoNotLeak(t *testing.T) {
	secret := strings.Repeat("s3cret", 20)
	for _, tt := range []struct{ message, input string }{
		{"AuthenticationInfo", `{"scheme":"Bearer","credentials":["` + secret + `"]}`},
		{"Part", `{"raw":"` + secret + `!"}`},
		{"Part", `{"text":{"` + secret + `":1}}`},
		{"Task", `{"` + secret + `":1}`},
		{"ListTasksRequest", `{"status":"` + secret + `"}`},
		{"ListTasksRequest", `{"statusTimestampAfter":"` + secret + `"}`},
		{"ListTasksRequest", `{"pageSize":"` + secret + `"}`},
		{"ListTasksRequest", `{"pageSize":"` + strings.Repeat("é", 100) + `"}`},
	} {
		_, violations, err := codecs[tt.message].decode([]byte(tt.input))
		if err != nil || len(violations) == 0 {
			t.Fatalf("%s: error %v, no violation", tt.input, err)
		}
		if strings.Contains(violations.String(), secret[:41]) {
			t.Errorf("%s: too much is quoted: %v", tt.input, violations)
		}
	}
	for _, input := range []string{`{"` + secret + `":`, `{"` + secret + `":1,"` + secret + `":1}`, "{\"" + secret + "\xff"} {
		if _, _, err := a2a.Decode[a2a.Task]([]byte(input)); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("error quotes the input: %v", err)
		}
	}
}
