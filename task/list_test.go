package task_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

// TestPaging walks all pages. (REQ-LIST-01, REQ-LIST-02, REQ-LIST-03, REQ-LIST-10,
// REQ-SCOPE-02, REQ-SCOPE-03)
func TestPaging(t *testing.T) {
	r := start(t, agents{"s": echo{}}, setup{})
	const n = 25
	for i := range n {
		r.settle(t, clientA, userMessage(fmt.Sprint("m-", i), "x"))
	}
	r.settle(t, clientB, userMessage("m-0", "x"))
	seen := map[a2a.TaskID]bool{}
	var last time.Time
	token, pages := "", 0
	for {
		page, next, err := r.List(t.Context(), clientA, task.ListRequest{Size: 10, Token: token})
		if err != nil || page.Total != n {
			t.Fatalf("List() = total %d, %v", page.Total, err)
		}
		pages++
		for _, rec := range page.Records {
			if seen[rec.ID] || rec.Owner != clientA || !last.IsZero() && rec.StatusAt.After(last) {
				t.Errorf("%s of %v at %v: seen before, foreign or out of order", rec.ID, rec.Owner, rec.StatusAt)
			}
			seen[rec.ID], last = true, rec.StatusAt
		}
		if token = next; token == "" {
			break
		}
	}
	if len(seen) != n || pages != 3 {
		t.Errorf("%d tasks on %d pages, want %d on 3", len(seen), pages, n)
	}
}

// TestPageTokens is F18 and REQ-SCOPE-03: a token is worth nothing to others,
// with other filters, or changed.
func TestPageTokens(t *testing.T) {
	r := start(t, agents{"s": echo{}}, setup{})
	for i := range 3 {
		r.settle(t, clientA, userMessage(fmt.Sprint("m-", i), "x"))
	}
	_, token, err := r.List(t.Context(), clientA, task.ListRequest{Size: 1})
	if err != nil || token == "" {
		t.Fatalf("List() = %q, %v", token, err)
	}
	raw, _ := base64.RawURLEncoding.DecodeString(token)
	raw[len(raw)-1] ^= 1
	good := task.ListRequest{Size: 1, Token: token}
	for _, test := range []struct {
		name  string
		owner task.Owner
		req   task.ListRequest
		want  error
	}{
		{"as given", clientA, good, nil},
		{"another page size", clientA, task.ListRequest{Size: 2, Token: token}, nil},
		{"another caller", clientB, good, task.ErrBadCursor},
		{"another agent", task.Owner{Agent: "other", Caller: "client-a"}, good, task.ErrBadCursor},
		{"another context", clientA, task.ListRequest{Size: 1, Token: token, ContextID: "c"}, task.ErrBadCursor},
		{"another state", clientA, task.ListRequest{Size: 1, Token: token, State: a2a.TaskStateFailed}, task.ErrBadCursor},
		{"another time", clientA, task.ListRequest{Size: 1, Token: token, Since: time.Unix(1, 0)}, task.ErrBadCursor},
		{"one bit changed", clientA, task.ListRequest{Size: 1, Token: base64.RawURLEncoding.EncodeToString(raw)}, task.ErrBadCursor},
		{"cut", clientA, task.ListRequest{Size: 1, Token: token[:10]}, task.ErrBadCursor},
		{"not base64", clientA, task.ListRequest{Size: 1, Token: "%%%"}, task.ErrBadCursor},
	} {
		if _, _, err := r.List(t.Context(), test.owner, test.req); !errors.Is(err, test.want) {
			t.Errorf("%s: error = %v, want %v", test.name, err, test.want)
		}
	}
}

// TestSinceIsInclusiveAndComparesInstants is REQ-LIST-13 and PVP-23.
func TestSinceIsInclusiveAndComparesInstants(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	r := start(t, agents{"s": echo{}}, setup{Config: task.Config{Now: func() time.Time { return now }}})
	r.settle(t, clientA, userMessage("m-1", "x"))
	berlin := time.FixedZone("", 2*3600)
	for _, test := range []struct {
		since time.Time
		want  int64
	}{
		{now, 1}, {now.In(berlin), 1}, {now.Add(-time.Millisecond), 1},
		{now.Add(time.Nanosecond), 0}, {now.Add(time.Millisecond), 0},
	} {
		page, _, err := r.List(t.Context(), clientA, task.ListRequest{Size: 10, Since: test.since})
		if err != nil || page.Total != test.want || int64(len(page.Records)) != test.want {
			t.Errorf("since %v: %d of %d (%v), want %d", test.since, len(page.Records), page.Total, err, test.want)
		}
	}
}
