package registry_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/registry"
)

// watched gathers what a watcher is told.
type watched struct{ sets []string }

func (w *watched) told(set registry.Set) { w.sets = append(w.sets, told(set)) }

func (w *watched) want(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, w.sets); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// A change returns when everybody has been told of it.
func TestWatchersAreToldAtOnceAndOfEveryChange(t *testing.T) {
	n := newNode(t)
	var early, late watched
	stop := n.Watch(early.told)
	n.apply(secret("s"), registry.Options{})
	n.Watch(late.told)
	n.apply(secret("t"), registry.Options{})
	stop()
	stop()
	n.apply("", registry.Options{Prune: true})
	early.want(t, "0:", "1: Secret/s@1", "2: Secret/s@1 Secret/t@2")
	late.want(t, "1: Secret/s@1", "2: Secret/s@1 Secret/t@2", "3:")
}

func TestAWatcherThatPanicsHarmsNobody(t *testing.T) {
	n := newNode(t)
	n.Watch(func(registry.Set) { panic("marker") })
	var other watched
	n.Watch(other.told)
	n.apply(secret("s"), registry.Options{})
	other.want(t, "0:", "1: Secret/s@1")
	if log := n.log.String(); strings.Count(log, "panicked") != 2 || strings.Contains(log, "panic=marker") {
		t.Errorf("log = %s", log)
	}
}

func TestRefreshTellsWhatAnotherNodeChanged(t *testing.T) {
	n := newNode(t)
	other := n.again()
	var w watched
	other.Watch(w.told)
	refresh := func() {
		t.Helper()
		if err := other.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	refresh()
	n.apply(secret("s"), registry.Options{})
	refresh()
	refresh()
	w.want(t, "0:", "1: Secret/s@1")
}
