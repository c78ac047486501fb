package app_test

import (
	"testing"

	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/app"
)

// A card announces token budgets where each of its skills keeps to them; nobody
// knows what a program asks of models.
func TestWhoKeepsToABudget(t *testing.T) {
	cfg := settings(t, "one=echo:", "tools/up=tr a-z A-Z", "mixed/one=echo:", "mixed/up=tr a-z A-Z")
	cfg.DefaultSkills = []string{"mixed/one"}
	a, _ := serve(t, cfg, app.Options{})
	for path, want := range map[string]bool{"/": true, "/agents/tools": false, "/agents/mixed": false} {
		if got := dial(t, a, path).Card().Announces(client.TokenBudgetExtension); got != want {
			t.Errorf("the card at %s announces a token budget: %v, want %v", path, got, want)
		}
	}
}
