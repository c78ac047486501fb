package app_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/app"
)

// Whoever reads the log or the audit learns why somebody was not let in, and
// whom a good token that nobody is registered for names.
func TestRefusalsAreExplained(t *testing.T) {
	by := newIssuer(t)
	log := &lines{}
	h := move(t, settings(t), app.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	h.apply(furniture, remoteClient("partner", "oidc: ["+by.identity("authorizedParty", "known")+"]", "desk/open", "  operations: [GetTask]\n"))
	key := h.key("partner")
	h.revoke("partner", key.ID)

	for _, p := range []proof{
		by.token(by.claims("forgotten-app", "somebody")), by.token(by.claims("", "some\"body "+strings.Repeat("x", 200))),
		bearer(key.Key), {},
	} {
		if got := h.call(p, "/", a2a.MethodSendMessage, said("hello")); got.status != 401 || strings.Contains(got.body, "forgotten-app") {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	text := log.text()
	for _, want := range []string{
		`reason=token_party_unknown`, `credential="jwt:` + by.Issuer() + ` azp \"forgotten-app\""`,
		` sub \"some\\\"body xxx`, `reason=credential_revoked`, ` client=partner credential=api-key:` + key.ID, `reason=credential_missing`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the log has no %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, strings.Repeat("x", 101)) || strings.Contains(text, key.Key) {
		t.Errorf("the log has too much:\n%s", text)
	}
	named := 0
	for _, entry := range h.evidence("authenticate", "refused", 3) {
		if entry.KeyID == "jwt:"+by.Issuer()+` azp "forgotten-app"` {
			named++
		}
	}
	if named != 1 {
		t.Errorf("%d entries of the audit name the party of the token, want 1", named)
	}
	if got := h.call(by.token(by.claims("known", "somebody")), "/", a2a.MethodSendMessage, said("hello")); got.status != 403 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if want := "reason=operation_not_allowed"; !strings.Contains(log.text(), want) {
		t.Errorf("the log has no %s:\n%s", want, log.text())
	}
}

// lines is a log.
type lines struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}
