package app_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/app"
	"github.com/legation/legation/internal/config"
)

// TestWhatOthersMayReachServesNobodyUnknown lets nobody in without a credential
// where a proxy may pass requests on, which then come from this machine and may
// say nothing of it: whether or not a client is registered.
func TestWhatOthersMayReachServesNobodyUnknown(t *testing.T) {
	for name, set := range map[string]func(*config.Config){
		"behind a proxy": func(cfg *config.Config) {
			cfg.BehindProxy, cfg.PublicURL = true, "https://agents.example"
		},
		"behind a proxy, named as this machine": func(cfg *config.Config) {
			cfg.BehindProxy, cfg.PublicURL = true, "http://127.0.0.1:1"
		},
		"with a public URL": func(cfg *config.Config) { cfg.PublicURL = "https://agents.example" },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := settings(t)
			set(&cfg)
			h := move(t, cfg, app.Options{})
			h.apply(furniture)
			refused := func(when string) {
				t.Helper()
				if got := h.call(proof{}, "/", a2a.MethodSendMessage, said("hello")); got.status != 401 || got.header.Get("WWW-Authenticate") == "" {
					t.Errorf("%s: %d %s", when, got.status, got.body)
				}
				if got := h.card(""); got.status != 200 || !strings.Contains(got.body, `"securitySchemes"`) {
					t.Errorf("%s: the card is %d %s", when, got.status, got.body)
				}
			}
			refused("without a client")
			h.apply(remoteClient("partner", "", "desk/open", ""))
			p := bearer(h.key("partner").Key)
			refused("with a client")
			if got := h.call(p, "/", a2a.MethodSendMessage, said("hello")); got.status != 200 {
				t.Errorf("the client: %d %s", got.status, got.body)
			}
			managed[admin.Applied](h, "DELETE", "/admin/resources/RemoteClient/partner", "", "")
			refused("after the last client was deleted")
			if h.app.Open() {
				t.Error("it says that this machine is served without a credential")
			}
			entries := h.evidence("authenticate", "refused", 1)
			if entries[0].Reason != "credential_missing" || entries[0].Agent != "desk" {
				t.Errorf("the audit has %+v", entries[0])
			}
		})
	}
	h := build(t)
	if got := h.call(proof{}, "/", a2a.MethodSendMessage, said("hello")); got.status != 200 || !h.app.Open() {
		t.Errorf("for this machine alone: %d %s", got.status, got.body)
	}
}

// TestAClientThatCannotBeReadIsOne does not take a client that this version
// cannot read for none.
func TestAClientThatCannotBeReadIsOne(t *testing.T) {
	h := build(t, remoteClient("partner", "", "desk/open", ""))
	p := bearer(h.key("partner").Key)
	h.stop()
	db, err := sql.Open("sqlite", filepath.Join(h.cfg.Data, "legation.db"))
	if err != nil {
		t.Fatal(err)
	}
	const change = `UPDATE documents SET body = CAST(replace(CAST(body AS TEXT), '"enabled"', '"enabledSince"') AS BLOB) WHERE kind = 'RemoteClient'`
	if _, err := db.Exec(change); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	h = move(t, h.cfg, app.Options{})
	if got := h.resource("RemoteClient", "partner"); got.State != "unreadable" {
		t.Fatalf("the client is %s", got.State)
	}
	for who, p := range map[string]proof{"nobody": {}, "the client": p} {
		if got := h.call(p, "/", a2a.MethodSendMessage, said("hello")); got.status != 401 {
			t.Errorf("%s: %d %s", who, got.status, got.body)
		}
	}
	if got := h.card(""); !strings.Contains(got.body, `"securitySchemes"`) || h.app.Open() {
		t.Errorf("the card says %s", got.body)
	}
}

// TestTheFirstClientEndsWhatThisMachineHolds registers one while somebody
// without a credential listens.
func TestTheFirstClientEndsWhatThisMachineHolds(t *testing.T) {
	h := build(t)
	o := h.openAll(proof{}, "local")
	h.apply(remoteClient("partner", "", "desk/open", ""))
	const words = "the credential or the rights that this was opened with were taken away"
	for what, s := range map[string]*stream{"the first stream": o.sent, "a subscription": o.subscribed} {
		if last := s.last(); last.Error.Code != a2a.CodeInvalidRequest || last.Error.Message != words {
			t.Errorf("%s ends with %s %+v", what, last.Result, last.Error)
		}
	}
	if got := <-o.waiting; got.status != 403 || got.Error.Message != words {
		t.Errorf("a message that waits: %d %s", got.status, got.body)
	}
}
