package sqlite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/store/sqlite"
	"github.com/legation/legation/task"
)

func TestEventsOfARow(t *testing.T) {
	for name, events := range map[string][]task.Event{
		"none":      nil,
		"one":       {{Number: 1, State: a2a.TaskStateSubmitted, Body: []byte(`{"a":1}`)}},
		"no body":   {{Number: 7}, {Number: 8, State: a2a.TaskStateAuthRequired, Body: []byte(`{}`)}},
		"any bytes": {{Number: 1 << 40, Body: []byte("3 2 1 \n- \x00\n")}, {Number: 1<<40 + 1, Body: []byte{}}},
	} {
		row, err := sqlite.EncodeEvents(events)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := sqlite.DecodeEvents(row)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(events, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, err := sqlite.EncodeEvents([]task.Event{{Number: 1, State: "TASK_STATE_DREAMING"}}); err == nil {
		t.Error("a state that cannot be stored was encoded")
	}
}

func FuzzEventsOfARow(f *testing.F) {
	for _, seed := range []string{"", "1 2 3 abc\n", "1 0 - \n", "1 0 -1 \n", "1 0 99 abc\n", "x y z \n", "1 0 0 \n2 0 0 \n", "1 2 3"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		events, err := sqlite.DecodeEvents(row)
		if err != nil {
			return
		}
		again, err := sqlite.EncodeEvents(events)
		if err != nil {
			t.Fatal(err)
		}
		reread, err := sqlite.DecodeEvents(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(events, reread); diff != "" {
			t.Errorf("decode, encode, decode (-first +second):\n%s", diff)
		}
	})
}
