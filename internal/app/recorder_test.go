package app_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/app"
	"github.com/legation/legation/internal/audit"
)

// desk is a store of evidence that fails so many times first.
type desk struct {
	audit.Store
	mu      sync.Mutex
	fails   int
	entries []audit.Entry
}

func (d *desk) Record(_ context.Context, entries ...audit.Entry) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fails > 0 {
		d.fails--
		return errors.New("the disk is full")
	}
	for _, e := range entries {
		if _, err := e.Encode(); err != nil {
			return err
		}
	}
	d.entries = append(d.entries, entries...)
	return nil
}

// summary is how many entries there are for each operation and reason, and how
// often that was.
func (d *desk) summary() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries, times := map[string]int{}, map[string]int64{}
	for _, e := range d.entries {
		of := strings.TrimSpace(e.Operation + " " + e.Reason)
		entries[of]++
		times[of] += max(e.Count, 1)
	}
	all := map[string]string{}
	for of, n := range entries {
		all[of] = fmt.Sprintf("%d times in %d", times[of], n)
	}
	return all
}

// Whatever happens to evidence, it is counted, and the rest is stored.
func TestEvidenceThatIsNotStoredIsCounted(t *testing.T) {
	store := &desk{fails: 1}
	r := app.NewRecorder(store)
	entry := audit.Entry{At: time.Now(), Operation: "ListTasks", Outcome: audit.Done}
	large := entry
	large.TaskID = strings.Repeat("x", audit.MaxBytes)
	r.Record(large)
	for range 1500 {
		r.Record(entry)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	r.Run(ended)
	want := map[string]string{
		"ListTasks":                   "896 times in 896", // what waits, without the first 128
		"audit refusals_not_recorded": "605 times in 1",
	}
	if diff := cmp.Diff(want, store.summary()); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

func TestRefusalsAreSummedUpEveryMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &desk{}
		r := app.NewRecorder(store)
		ctx, end := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.Run(ctx)
		}()
		refuse := func(n int) {
			for range n {
				r.Record(audit.Entry{At: time.Now(), From: "192.0.2.1", Operation: "authenticate", Outcome: audit.Refused, Reason: "client_disabled"})
			}
			synctest.Wait()
		}
		see := func(after time.Duration, want string) {
			t.Helper()
			<-time.After(after)
			synctest.Wait()
			if got := store.summary()["authenticate client_disabled"]; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		refuse(100)
		see(0, "1 times in 1")
		see(75*time.Second, "100 times in 2")
		refuse(50)
		see(0, "100 times in 2")
		see(time.Minute, "150 times in 3")
		refuse(7)
		end()
		<-done
		see(0, "157 times in 4")
	})
}
