package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/testkit"
)

func TestWithhold(t *testing.T) {
	headers := http.Header{"Authorization": {"Bearer S3cret-token"}, "X-Api-Key": {" k3y-k3y ", "short"}, "X-Long": {"S3cret-token-and-more"}}
	long := strings.Repeat("x", 60)
	for text, want := range map[string]string{
		"":                                     "",
		"nothing of it":                        "nothing of it",
		"Bearer S3cret-token":                  "[withheld]",
		"you sent 'S3cret-token', not k3y-k3y": "you sent '[withheld]', not [withheld]",
		"S3cret-token-and-more":                "[withheld]",
		"in lower case: s3cret-token":          "in lower case: [withheld]",
		"Bearer is a scheme, short is too short to tell": "Bearer is a scheme, short is too short to tell",
		long + " S3cret":        long + " [withheld]", // cut
		long + " S3cret-tok…":   long + " [withheld]",
		long + " S3cr":          long + " S3cr",
		long + " asking Bearer": long + " asking Bearer",
		"a whole word, S3cret":  "a whole word, S3cret",
	} {
		if diff := cmp.Diff(want, client.Withhold(text, headers)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
	if got := client.Withhold("text", nil); got != "text" {
		t.Errorf("Withhold() without headers = %q", got)
	}
}

// REQ-GEN-04, F36: whatever a peer repeats of what it was given, no error repeats it.
func TestPeersThatRepeatCredentials(t *testing.T) {
	const token = "s3cret-token-of-some-length"
	bearer := http.Header{"Authorization": {"Bearer " + token}}
	echo := func(code int) string {
		return `{"jsonrpc":"2.0","id":$ID,"error":{"code":` + fmt.Sprint(code) + `,"message":"bad token Bearer ` + token + `","data":[` +
			`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"` + token + `","domain":"x","metadata":{"` + token + `":"` + token + `"}},` +
			`{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"` + token + `","description":"` + token + `"}]},` +
			`{"@type":"x","y":"` + token + `"}]}}`
	}
	pad := strings.Repeat("x", 280)
	answers := map[string]testkit.Answer{
		"an error":             testkit.JSON(echo(-32042)),
		"an error of members":  testkit.JSON(echo(-32602)),
		"a cut error":          testkit.JSON(testkit.Failure(-32042, pad+" "+token)),
		"a cut member":         testkit.JSON(`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"x","data":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"` + pad[:235] + " " + token + `"}]}]}}`),
		"plain text":           testkit.HTTP(403, "text/plain", "not with "+token),
		"a cut text":           testkit.HTTP(403, "text/plain", pad+" "+token),
		"an error at a status": testkit.HTTP(401, "application/json", echo(-32603)),
		"another's id":         testkit.HTTP(400, "application/json", strings.Replace(echo(-32603), "$ID", `"`+token+`"`, 1)),
		"headers":              testkit.HTTP(401, "text/"+token, "x", "Server: "+token, "WWW-Authenticate: "+token+" realm=x"),
		"a redirect":           testkit.Redirect(307, "https://"+token+".example/"),
		"a broken status":      testkit.Bytes("HTTP/1.1 " + token + "\r\n\r\n"),
		"no HTTP":              testkit.Bytes("Bearer " + token + "\r\n\r\n"),
		"a media type":         testkit.HTTP(200, "text/"+token, "x"),
		"a broken answer":      testkit.JSON(`{"` + token + `":1}`),
		"a card":               testkit.JSON(`{"name":"` + token + `","securityRequirements":[{"` + token + `":1}],"securitySchemes":{"` + token + `":5}}`),
		"interfaces": testkit.JSON(`{"name":"x","supportedInterfaces":[{"url":"https://` + token + `.example","protocolBinding":"JSONRPC","protocolVersion":"1.0"},` +
			`{"url":"x","protocolBinding":"` + token + `","protocolVersion":"1.0"}]}`),
		"security": testkit.JSON(`{"name":"x","securitySchemes":{"` + token + `":5},` +
			`"supportedInterfaces":[{"url":"$URL","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`),
		"extensions": testkit.JSON(`{"name":"x","capabilities":{"extensions":[{"uri":"` + token + `","required":true}]},` +
			`"supportedInterfaces":[{"url":"$URL","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`),
		"a stream": testkit.EventBytes("data: " + echo(-32042) + "\n\n"),
	}
	for name, answer := range answers {
		for how, cfg := range map[string]client.Config{
			"headers":     {Headers: bearer},
			"credentials": {Credentials: func(context.Context, bool) (http.Header, error) { return bearer, nil }},
		} {
			peer := testkit.NewPeer(t, answer)
			errs := map[string]error{}
			for method, call := range operations {
				errs[method] = call(t, connect(t, peer, cfg))
			}
			if how == "headers" || name != "interfaces" && name != "extensions" && name != "security" {
				cfg.Policy = peer.Policy()
				_, errs["card"] = client.Dial(t.Context(), peer.URL, cfg)
			}
			for method, err := range errs {
				if err == nil {
					t.Errorf("%s, %s: no error", name, method)
				} else if said := told(err); strings.Contains(said, "s3cret") {
					t.Errorf("%s, %s, %s: %s", name, how, method, said)
				}
			}
		}
	}
	// The root of the host may belong to another agent, which may know the token.
	peer := testkit.NewPeer(t, testkit.Routes(map[string]testkit.Answer{"GET " + a2a.WellKnownCardPath: testkit.JSON(`{"name":"` + token + `"}`)}))
	_, err := client.ReadCard(t.Context(), peer.URL+"/path", client.Config{Headers: bearer, Policy: peer.Policy()})
	if failed, ok := errors.AsType[*client.CardError](err); !ok || failed.Root == nil || strings.Contains(err.Error(), token) {
		t.Errorf("error = %v, want one that names the other agent without the token", err)
	}
}

// Where a redirect leads is not told where credentials went along, in whatever
// spelling they might be part of it.
func TestRedirectsAfterCredentials(t *testing.T) {
	for name, tt := range map[string]struct {
		headers  http.Header
		location string
		host     string
	}{
		"without credentials": {nil, "https://elsewhere.test/x", "elsewhere.test"},
		"with credentials":    {http.Header{"X-Api-Key": {"abcdefgh"}}, "https://hgfedcba.elsewhere.test/x", ""},
		"with a short one":    {http.Header{"X-Api-Key": {"abc"}}, "https://abc.elsewhere.test/x", ""},
		"to itself":           {http.Header{"X-Api-Key": {"abcdefgh"}}, "/x", "peer.example"},
	} {
		peer := testkit.NewPeer(t, testkit.Redirect(302, tt.location))
		_, err := client.ReadCard(t.Context(), peer.URL, client.Config{Headers: tt.headers, Policy: peer.Policy()})
		away, ok := errors.AsType[*guard.RedirectError](err)
		if !ok || away.Status != 302 || away.Host != tt.host || tt.host == "" && strings.Contains(err.Error(), "elsewhere") {
			t.Errorf("%s: error = %v", name, err)
		}
	}
}

// told is all that an error says, in its text and in the fields that are text.
func told(err error) string {
	text := err.Error()
	if peer, ok := errors.AsType[*client.PeerError](err); ok {
		text += fmt.Sprintf(" %+v", *peer.Err)
	}
	if answer, ok := errors.AsType[*client.HTTPError](err); ok {
		text += fmt.Sprintf(" %+v", *answer)
	}
	if away, ok := errors.AsType[*guard.RedirectError](err); ok {
		text += fmt.Sprintf(" %+v", *away)
	}
	if broken, ok := errors.AsType[*client.InvalidResponseError](err); ok {
		text += fmt.Sprintf(" %+v", *broken)
	}
	return text
}
