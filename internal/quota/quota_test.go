package quota_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/quota"
)

var (
	afternoon = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	midnight  = time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC)
)

func TestAdmit(t *testing.T) {
	day := func(tasks, tokens, cost int64) quota.Limits {
		return quota.Limits{Day: quota.Amount{Tasks: tasks, Tokens: tokens, Cost: cost}}
	}
	counted := func(open int64, held, used quota.Amount) quota.Counters {
		return quota.Counters{Open: open, Held: held, Used: used}
	}
	tests := []struct {
		name     string
		counters quota.Counters
		limits   quota.Limits
		amount   quota.Amount
		adds     bool
		what     string // none: admitted
	}{
		{"the first", counted(0, quota.Amount{}, quota.Amount{}), day(1, 10, 100), quota.Amount{Tasks: 1, Tokens: 10, Cost: 100}, false, ""},
		{"tasks held", counted(1, quota.Amount{Tasks: 1}, quota.Amount{}), day(1, 0, 0), quota.Amount{Tasks: 1}, false, "tasks per day"},
		{"tasks used", counted(0, quota.Amount{}, quota.Amount{Tasks: 1}), day(1, 0, 0), quota.Amount{Tasks: 1}, false, "tasks per day"},
		{"another turn of a task", counted(0, quota.Amount{}, quota.Amount{Tasks: 1}), day(1, 0, 0), quota.Amount{}, false, ""},
		{"tokens, to the last", counted(1, quota.Amount{Tokens: 3}, quota.Amount{Tokens: 4}), day(0, 10, 0), quota.Amount{Tokens: 3}, false, ""},
		{"tokens, one more", counted(1, quota.Amount{Tokens: 3}, quota.Amount{Tokens: 4}), day(0, 10, 0), quota.Amount{Tokens: 4}, false, "tokens per day"},
		{"cost", counted(1, quota.Amount{Cost: 3}, quota.Amount{Cost: 4}), day(0, 0, 10), quota.Amount{Cost: 4}, false, "millionths of cost per day"},
		{"used too much", counted(0, quota.Amount{}, quota.Amount{Tokens: 11}), day(0, 10, 0), quota.Amount{}, false, "tokens per day"},
		{"at once", counted(2, quota.Amount{}, quota.Amount{}), quota.Limits{Concurrent: 2}, quota.Amount{}, false, "tasks at once"},
		{"at once, of one that is", counted(2, quota.Amount{}, quota.Amount{}), quota.Limits{Concurrent: 2}, quota.Amount{}, true, ""},
		{"at once by default", counted(72, quota.Amount{}, quota.Amount{}), quota.Limits{}, quota.Amount{}, false, "tasks at once"},
		{"tasks by default", counted(0, quota.Amount{}, quota.Amount{Tasks: 10_000}), quota.Limits{}, quota.Amount{Tasks: 1}, false, "tasks per day"},
		{
			"no limits", counted(1<<40, quota.Amount{Tasks: 1 << 40, Tokens: 1 << 40, Cost: 1 << 40}, quota.Amount{}),
			quota.Limits{Concurrent: quota.None, Day: quota.Amount{Tasks: -7, Tokens: quota.None, Cost: quota.None}},
			quota.Amount{Tasks: 1, Tokens: 1, Cost: 1}, false, "",
		},
		{
			"more than there are numbers", counted(0, quota.Amount{Tokens: math.MaxInt64}, quota.Amount{Tokens: math.MaxInt64}),
			day(0, math.MaxInt64-1, 0), quota.Amount{Tokens: math.MaxInt64}, false, "tokens per day",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := quota.Admit(tt.counters, quota.Hold{ID: "t", Caller: "c", At: afternoon, Amount: tt.amount, Limits: tt.limits}, tt.adds)
			if tt.what == "" {
				if err != nil {
					t.Errorf("Admit() error = %v", err)
				}
				return
			}
			exceeded, ok := errors.AsType[*quota.ExceededError](err)
			if !ok || exceeded.What != tt.what || !errors.Is(err, quota.ErrExceeded) || !strings.Contains(err.Error(), tt.what) {
				t.Fatalf("Admit() error = %v, want an ExceededError of %s", err, tt.what)
			}
			again, wait := midnight, midnight.Sub(afternoon)
			if tt.what == "tasks at once" {
				again, wait = time.Time{}, 2*time.Second
			}
			if !exceeded.Again.Equal(again) || exceeded.RetryAfter(afternoon) != wait {
				t.Errorf("again at %v, after %v, want %v, after %v", exceeded.Again, exceeded.RetryAfter(afternoon), again, wait)
			}
		})
	}
}

func TestRetryAfterIsNeverInThePast(t *testing.T) {
	e := &quota.ExceededError{Again: midnight}
	if wait := e.RetryAfter(midnight.Add(time.Hour)); wait <= 0 {
		t.Errorf("RetryAfter() = %v", wait)
	}
}

func TestLimitsAllow(t *testing.T) {
	base := quota.Limits{Requests: 10, Concurrent: 10, Day: quota.Amount{Tasks: 10, Tokens: 10, Cost: 10}, Bytes: 10, Parts: 10}
	fields := map[string]func(*quota.Limits) *int64{
		"requests":   func(l *quota.Limits) *int64 { return &l.Requests },
		"concurrent": func(l *quota.Limits) *int64 { return &l.Concurrent },
		"tasks":      func(l *quota.Limits) *int64 { return &l.Day.Tasks },
		"tokens":     func(l *quota.Limits) *int64 { return &l.Day.Tokens },
		"cost":       func(l *quota.Limits) *int64 { return &l.Day.Cost },
		"bytes":      func(l *quota.Limits) *int64 { return &l.Bytes },
		"parts":      func(l *quota.Limits) *int64 { return &l.Parts },
	}
	for name, field := range fields {
		for limit, allows := range map[int64]bool{9: false, 10: true, 11: true, quota.None: true, -5: true} {
			changed := base
			*field(&changed) = limit
			if got := changed.Allows(base); got != allows {
				t.Errorf("%s %d allows what 10 does: %v, want %v", name, limit, got, allows)
			}
			if got := base.Allows(changed); got != (limit == 9 || limit == 10) {
				t.Errorf("%s 10 allows what %d does: %v", name, limit, got)
			}
		}
	}
	if !(quota.Limits{}).Allows(quota.Limits{}.OrDefault()) || !(quota.Limits{}).OrDefault().Allows(quota.Limits{}) {
		t.Error("no limits and the defaults differ")
	}
	if unlimited := (quota.Limits{Requests: quota.None}); !unlimited.Allows(unlimited) {
		t.Error("no limit does not allow no limit")
	}
}

func TestDays(t *testing.T) {
	east := time.FixedZone("east", 14*60*60)
	for _, tt := range []struct {
		at   time.Time
		want string
	}{
		{midnight.Add(-time.Nanosecond), "2026-03-14"},
		{midnight, "2026-03-15"},
		{midnight.In(east), "2026-03-15"},
		{time.Date(2026, 3, 15, 13, 59, 59, 0, east), "2026-03-14"},
		{time.Unix(0, 0), "1970-01-01"},
		{time.Unix(-1, 0), "1969-12-31"},
		{time.Unix(-86400, 0), "1969-12-31"},
	} {
		day := quota.DayOf(tt.at)
		if day.String() != tt.want {
			t.Errorf("DayOf(%v) = %v, want %s", tt.at, day, tt.want)
		}
		if day.Start().After(tt.at) || !(day + 1).Start().After(tt.at) {
			t.Errorf("%v does not lie in its day, from %v", tt.at, day.Start())
		}
	}
}

func TestAmounts(t *testing.T) {
	a, b := quota.Amount{Tasks: 1, Tokens: 5, Cost: 9}, quota.Amount{Tasks: 2, Tokens: 3, Cost: 9}
	if diff := cmp.Diff(quota.Amount{Tasks: 3, Tokens: 8, Cost: 18}, a.Plus(b)); diff != "" {
		t.Errorf("Plus (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(quota.Amount{Tokens: 2}, a.Minus(b)); diff != "" {
		t.Errorf("Minus (-want +got):\n%s", diff)
	}
	if (quota.Hold{ID: "t", Caller: "c", Amount: a}).Check() != nil || quota.Return("t").Check() != nil {
		t.Error("Check() refuses what is right")
	}
	for _, bad := range []error{
		quota.Hold{Caller: "c"}.Check(), quota.Hold{ID: "t"}.Check(),
		quota.Hold{ID: "t", Caller: "c", Amount: quota.Amount{Tasks: -1}}.Check(),
		quota.Use{ID: "t", Amount: quota.Amount{Tokens: -1}}.Check(),
	} {
		if bad == nil {
			t.Error("Check() accepts what counts backwards or belongs to nobody")
		}
	}
}
