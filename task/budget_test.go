package task_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

const tokenBudget = "https://fgentic.fmind.ai/a2a/extensions/token-budget/v1"

// budgeted is a message with a token budget, written as a caller writes it.
func budgeted(id, value string) *a2a.Message {
	m := userMessage(id, "x")
	m.Metadata = a2a.Struct(`{"` + tokenBudget + `":` + value + `}`)
	return m
}

// metered notes how much each of its turns may use, and asks for another one.
type metered struct {
	budgets *[]int64
	slow    bool
}

func (metered) Repeatable() bool { return true }

func (m metered) Run(ctx context.Context, turn agent.Turn, _ agent.Output) (agent.Outcome, error) {
	*m.budgets = append(*m.budgets, turn.MaxTokens)
	if m.slow && turn.Attempt == 1 {
		<-ctx.Done()
		return agent.Outcome{}, ctx.Err()
	}
	return agent.AskInput("more?"), nil
}

// Respond answers nothing by itself, and notes negative numbers.
func (m metered) Respond(_ context.Context, turn agent.Turn) (*a2a.Message, error) {
	*m.budgets = append(*m.budgets, -turn.MaxTokens)
	return nil, nil
}

// The budget of a turn is that of its message: over a restart as well, and not
// beyond it.
func TestTheBudgetOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var budgets []int64
		dir := t.TempDir()
		r := start(t, agents{"s": metered{&budgets, true}}, setup{dir: dir, work: work.Config{Drain: -1}})
		rec := r.send(t, clientA, budgeted("m-1", `{"maxTokens":500}`))
		<-time.After(time.Second)
		r.stop()
		r = start(t, agents{"s": metered{&budgets, false}}, setup{dir: dir})
		if _, err := r.Wait(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		for _, next := range []*a2a.Message{
			budgeted("m-2", `{"maxTokens":9007199254740991}`),
			userMessage("m-3", "x"),
			budgeted("m-4", `{"maxTokens":"many"}`), // where budgets are kept this is refused before
		} {
			next.TaskID = rec.ID
			reply, err := r.Send(t.Context(), clientA, task.Request{Message: next, Skill: "s"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Wait(t.Context(), *reply.Task); err != nil {
				t.Fatal(err)
			}
		}
		want := []int64{-500, 500, 500, 1<<53 - 1, 0, 0}
		if diff := cmp.Diff(want, budgets); diff != "" {
			t.Errorf("budgets (-want +got)\n%s", diff)
		}
	})
}
