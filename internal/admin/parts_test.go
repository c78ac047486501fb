package admin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/internal/work"
)

// What this installation does not have is told, in words.
func TestPartsThatAreMissing(t *testing.T) {
	o := newOffice(t, func(cfg *admin.Config) {
		*cfg = admin.Config{People: cfg.People, Now: cfg.Now}
	})
	for _, one := range everyRoute {
		path, _, _ := strings.Cut(one.path, "?")
		path = strings.NewReplacer("{kind}", "Agent", "{name}", "nobody", "{id}", "none").Replace(path)
		switch {
		case strings.HasPrefix(path, "/admin/people"), path == "/admin/status", strings.HasPrefix(path, "/admin/schemas"):
			continue
		}
		refusal := o.refuses(one.method, path, one.body, ask{}, 404, admin.CodeUnavailable)
		if !strings.Contains(refusal.Message, "not available") {
			t.Errorf("%s %s: %s", one.method, path, refusal.Message)
		}
	}
	if got := get[admin.Status](o, "/admin/status"); got.Resources != 0 || got.Who != "admin" {
		t.Errorf("status = %+v", got)
	}
	if _, err := admin.New(admin.Config{}); err == nil {
		t.Error("New() lets in whoever comes")
	}
}

// In the process of somebody who may open the data directory anyway there are
// no tokens, and errors are told as they are.
func TestInProcess(t *testing.T) {
	var log journal
	o := newOffice(t, nil)
	handler, err := admin.New(admin.Config{
		Registry: o.registry, Vault: brokenVault{}, Audit: o.store, Offline: true,
		Author: func(*http.Request) string { return "local" }, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	send := func(method, path, media, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", media)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	if w := send("POST", "/admin/apply", admin.TypeYAML, documents); w.Code != 200 {
		t.Fatalf("apply: %d %s", w.Code, w.Body)
	}
	var status admin.Status
	w := send("GET", "/admin/status", "", "")
	if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil || status.Who != "local" || status.Role != "admin" || !status.Offline || status.Resources != 6 {
		t.Errorf("status = %s, error %v", w.Body, err)
	}
	if entry := get[admin.Audit](o, "/admin/audit?limit=1").Entries[0]; entry.Who != "local" {
		t.Errorf("entry = %+v", entry)
	}
	if w := send("GET", "/admin/secrets", "", ""); w.Code != 500 || !strings.Contains(w.Body.String(), "the disk is on fire") {
		t.Errorf("a failure is told as %d %s", w.Code, w.Body)
	}
	if w := send("GET", "/admin/people", "", ""); w.Code != 404 {
		t.Errorf("people: %d %s", w.Code, w.Body)
	}
}

// brokenVault fails in every way.
type brokenVault struct{ admin.Vault }

func (brokenVault) List(context.Context) ([]vault.Metadata, error) {
	return nil, errors.New("the disk is on fire")
}

func (brokenVault) Versions(context.Context, string) ([]vault.Metadata, error) {
	panic("at the disco")
}

func (brokenVault) Uses(context.Context, string, int64, int) ([]vault.UseRecord, error) {
	return nil, &vault.UnknownKeyError{Keys: []vault.KeyID{{1}}}
}

func (brokenVault) Put(context.Context, string, vault.Value, string, work.Effects) (vault.Metadata, error) {
	return vault.Metadata{}, vault.ErrFull
}

func (brokenVault) Delete(context.Context, vault.Reference, work.Effects) error {
	return context.DeadlineExceeded
}

func (brokenVault) Rotate(context.Context) (vault.Rotation, error) {
	return vault.Rotation{Primary: vault.KeyID{1}, Rewrapped: 3, Failed: 2, Left: []vault.KeyID{{2}}}, errors.New("2 values stay as they are")
}

// What goes wrong inside is told to the log, and to whoever asks only that it
// did.
func TestFailures(t *testing.T) {
	o := newOffice(t, func(cfg *admin.Config) { cfg.Vault = brokenVault{} })
	for _, tt := range []struct {
		method, path, body string
		status             int
		code               admin.Code
		logged             string
	}{
		{"GET", "/admin/secrets", "", 500, admin.CodeInternal, "the disk is on fire"},
		{"GET", "/admin/secrets/a/versions", "", 500, admin.CodeInternal, "panic"},
		{"GET", "/admin/secrets/a/uses", "", 409, admin.CodeConflict, ""},
		{"PUT", "/admin/secrets/a", secretMarker, 409, admin.CodeConflict, ""},
		{"DELETE", "/admin/secrets/a", "", 503, admin.CodeBusy, ""},
	} {
		failure := o.refuses(tt.method, tt.path, tt.body, ask{media: admin.TypeBytes}, tt.status, tt.code)
		if tt.logged == "" {
			continue
		}
		_, reference, found := strings.Cut(failure.Message, "reference ")
		if !found || !strings.Contains(o.log.String(), reference) || !strings.Contains(o.log.String(), tt.logged) {
			t.Errorf("%s: %q is not in the log with its reference", tt.path, tt.logged)
		}
		if strings.Contains(failure.Message, tt.logged) {
			t.Errorf("%s: the cause is told: %s", tt.path, failure.Message)
		}
	}
	full := newOffice(t, func(cfg *admin.Config) {
		cfg.Vault, cfg.Unavailable = brokenVault{}, func(err error) bool { return strings.Contains(err.Error(), "disk") }
	})
	failure := full.refuses("GET", "/admin/secrets", "", ask{}, 503, admin.CodeBusy)
	if !strings.Contains(failure.Message, "the disk is full, or fails") || !strings.Contains(failure.Next, "free space") || !strings.Contains(full.log.String(), "on fire") {
		t.Errorf("a full disk is told as %+v", failure)
	}
	var rotated admin.Rotation
	o.do("POST", "/admin/secrets/rotate", "", &rotated, ask{})
	if rotated.Failed != 2 || rotated.Rewrapped != 3 || len(rotated.Left) != 1 {
		t.Errorf("rotation = %+v", rotated)
	}
	if entry := get[admin.Audit](o, "/admin/audit?limit=1").Entries[0]; entry.Outcome != string(audit.Failed) || entry.Operation != "secret rotate" {
		t.Errorf("entry = %+v", entry)
	}
	o.agents.err = errors.New("nobody is at home")
	for _, path := range []string{"/admin/agents", "/admin/agents/partner"} {
		o.refuses("GET", path, "", ask{}, 500, admin.CodeInternal)
	}
	o.refuses("POST", "/admin/clients/billing/check", "", ask{}, 500, admin.CodeInternal)
}

func TestRotationBringsEverythingOver(t *testing.T) {
	o := newOffice(t, nil)
	o.do("PUT", "/admin/secrets/a", secretMarker, nil, ask{media: admin.TypeBytes})
	o.do("PUT", "/admin/secrets/b", secretMarker, nil, ask{media: admin.TypeBytes})
	keys, err := vault.AddKey(o.keys)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.vault.UseKeys(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	var rotated admin.Rotation
	o.do("POST", "/admin/secrets/rotate", "", &rotated, ask{})
	if rotated.Rewrapped != 2 || len(rotated.Left) != 0 {
		t.Errorf("rotation = %+v", rotated)
	}
	for _, one := range get[admin.Secrets](o, "/admin/secrets").Secrets {
		if one.MasterKey != rotated.Primary {
			t.Errorf("%s is sealed with %s, want %s", one.Name, one.MasterKey, rotated.Primary)
		}
	}
	if entry := get[admin.Audit](o, "/admin/audit?limit=1").Entries[0]; entry.KeyID != rotated.Primary || entry.Who != "admin" {
		t.Errorf("entry = %+v", entry)
	}
}

// What takes long is done a few at a time, and the rest is not held up.
func TestChecksAreBounded(t *testing.T) {
	o := newOffice(t, nil)
	o.agents.entered, o.agents.leave = make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if got := o.send("POST", "/admin/agents/partner/check", "", ask{}); got.status != 200 {
				t.Errorf("check: %d %s", got.status, got.body)
			}
		})
	}
	for range 4 {
		<-o.agents.entered
	}
	got := o.send("POST", "/admin/agents/partner/check", "", ask{})
	if got.status != 503 || got.refusal(t).Code != admin.CodeBusy || got.header.Get("Retry-After") == "" {
		t.Errorf("a fifth check: %d %s", got.status, got.body)
	}
	o.do("GET", "/admin/status", "", nil, ask{})
	close(o.agents.leave)
	all.Wait()
}

// longAudit has more entries than one read looks at, all of the same kind, and
// more evidence than one answer has room for.
type longAudit struct {
	newest int64
	rare   int64 // the entry that somebody looks for
	since  int64
}

func (l longAudit) Record(context.Context, ...audit.Entry) error { return nil }

func (l longAudit) Audit(_ context.Context, query audit.Query) (page audit.Page, err error) {
	from := l.newest
	if query.Before > 0 {
		from = query.Before - 1
	}
	for n := from; n > 0; n-- {
		if !query.Since.IsZero() && n < l.since {
			return page, nil
		}
		entry := audit.Entry{Who: "somebody", Operation: "SendMessage", Outcome: audit.Done}
		if n == l.rare {
			entry.Who = "ann"
		}
		if query.Matches(entry) {
			page.Entries = append(page.Entries, audit.Recorded{Number: n, Entry: entry})
		}
		if len(page.Entries) == query.Limit || n == from-audit.MaxScan {
			page.Next = n
			return page, nil
		}
	}
	return page, nil
}

func (l longAudit) Unsealed(context.Context) ([]int64, error) { return []int64{-7, 1 << 40}, nil }

func (l longAudit) Evidence(_ context.Context, after int64, visit func(audit.Seal, [][]byte) error) error {
	for n := after + 1; n <= 10; n++ {
		entry := []byte(strings.Repeat("e", 1<<20))
		if err := visit(audit.Seal{Node: "n", Number: n, First: n, Count: 1}, [][]byte{entry}); err != nil {
			return fmt.Errorf("visit: %w", err)
		}
	}
	return nil
}

func TestLongAuditsAreReadToTheirEnd(t *testing.T) {
	const newest = 2*audit.MaxScan + 10
	o := newOffice(t, func(cfg *admin.Config) { cfg.Audit = longAudit{newest: newest, rare: 5, since: newest - 100} })
	var found []int64
	pages, query := 0, "/admin/audit?who=ann"
	for next := int64(0); ; pages++ {
		path := query
		if next > 0 {
			path += "&before=" + number(next)
		}
		page := get[admin.Audit](o, path)
		for _, entry := range page.Entries {
			found = append(found, entry.Number)
		}
		if next = page.Next; next == 0 || pages == 10 {
			break
		}
	}
	if len(found) != 1 || found[0] != 5 || pages != 2 {
		t.Errorf("found %v on %d more pages, want entry 5 on the third page", found, pages)
	}
	if page := get[admin.Audit](o, "/admin/audit?who=ann&since=2026-01-01T00:00:00Z"); page.Next != 0 || len(page.Entries) != 0 {
		t.Errorf("what is older than asked for goes on at %d", page.Next)
	}
	seals, after := 0, int64(0)
	var unsealed []int64
	for len(unsealed) == 0 {
		got := o.do("GET", "/admin/audit/evidence?after="+number(after), "", nil, ask{})
		if len(got.body) == 0 {
			t.Fatal("what no seal covers is not told")
		}
		if len(got.body) > 8<<20 {
			t.Errorf("a page has %d bytes", len(got.body))
		}
		for line := range strings.Lines(string(got.body)) {
			var one admin.Evidence
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatal(err)
			}
			if len(one.Unsealed) > 0 {
				unsealed = append(unsealed, one.Unsealed...)
				continue
			}
			seals++
			after = one.Seal.Number
		}
	}
	if seals != 10 || !slices.Equal(unsealed, []int64{-7, 1 << 40}) {
		t.Errorf("%d seals, and %v under none, want 10, and those of the store", seals, unsealed)
	}
}

func TestSealsAreReadAsWritten(t *testing.T) {
	for _, wrong := range []admin.Seal{{}, {Previous: strings.Repeat("0", 64), Hash: "zz"}, {Hash: strings.Repeat("0", 64), Previous: strings.Repeat("0", 66)}} {
		if seal, err := wrong.Audit(); err == nil {
			t.Errorf("Audit() of %+v = %+v", wrong, seal)
		}
	}
	var raw admin.JSON
	if err := json.Unmarshal([]byte(`{"a":1}`), &raw); err != nil || string(raw) != `{"a":1}` {
		t.Errorf("JSON is kept as %s, %v", raw, err)
	}
	if text, err := json.Marshal(admin.JSON(nil)); err != nil || string(text) != "null" {
		t.Errorf("no JSON is written as %s, %v", text, err)
	}
	var failure error = &admin.Failure{Message: "no"}
	if failure.Error() != "no" {
		t.Errorf("Error() = %s", failure.Error())
	}
}

// slow is a body that does not come to its end.
type slow struct{ io.Reader }

func (slow) Read([]byte) (int, error) { return 0, errors.New("the line was cut") }

func TestBodiesThatBreakOff(t *testing.T) {
	o := newOffice(t, nil)
	handler, err := admin.New(admin.Config{Vault: o.vault, Author: func(*http.Request) string { return "local" }})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), "PUT", "/admin/secrets/a", slow{})
	r.Header.Set("Content-Type", admin.TypeBytes)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if w.Code != 400 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if got := get[admin.Secrets](o, "/admin/secrets"); len(got.Secrets) != 0 {
		t.Errorf("part of a secret was stored: %+v", got)
	}
}
