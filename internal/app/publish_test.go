package app

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/internal/registry"
)

// TestAStoreThatFailsTakesNothingAway leaves cards, and what answers, as they were
// where a change cannot be published.
func TestAStoreThatFailsTakesNothingAway(t *testing.T) {
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.Publish = "127.0.0.1:0", t.TempDir(), []string{"one=echo:", "other/two=echo:"}
	a, err := New(t.Context(), cfg, Options{Unsynced: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	served := func() (names []string) {
		for _, one := range a.Agents() {
			for _, skill := range one.Card.Skills {
				if _, ok := a.publisher.catalog.Agent(one.Name, skill.ID); !ok {
					t.Errorf("%s/%s is on a card, and nothing answers", one.Name, skill.ID)
				}
				names = append(names, one.Name+"/"+skill.ID)
			}
		}
		return names
	}
	apply := func(text string) {
		t.Helper()
		docs, err := registry.Decode("", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.registry.Apply(t.Context(), "ann", docs, registry.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	const agent = "{kind: Agent, name: new, spec: {card: {description: D.}, skills: [{id: three, configuration: default-one, description: D.}]}}"
	before := a.publisher.since
	broken := errors.New("broken")
	// It fails for all, or only once all were checked.
	for name, good := range map[string]int{"at the first": 0, "in the middle": 2, "at the last": 3} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			a.publisher.since = func(ctx context.Context, agent, digest string, now time.Time) (time.Time, error) {
				if asked++; asked > good {
					return time.Time{}, broken
				}
				return before(ctx, agent, digest, now)
			}
			apply(strings.Replace(agent, "D.", name, 1))
			if got := strings.Join(served(), " "); got != "default/one other/two" {
				t.Errorf("served: %s", got)
			}
			if _, ok := a.publisher.catalog.Agent("new", "three"); ok {
				t.Error("something answers for a skill that is on no card")
			}
			if got := a.troubles(registry.ID{Kind: registry.KindAgent, Name: "other"}); len(got) > 0 {
				t.Errorf("troubles of an agent that is served: %q", got)
			}
		})
	}
	a.publisher.since = before
	apply(agent)
	if got := strings.Join(served(), " "); got != "default/one other/two new/three" {
		t.Errorf("once it works again, served: %s", got)
	}
}

// TestAStoreThatFailsAtTheStart is told, and nothing is served.
func TestAStoreThatFailsAtTheStart(t *testing.T) {
	p := &publisher{failure: errors.New("broken")}
	if err := p.refusal(); !errors.Is(err, p.failure) {
		t.Errorf("refusal() = %v", err)
	}
}
