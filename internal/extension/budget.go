package extension

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/legation/legation/a2a"
)

// MaxTokens is the largest token budget, 2^53-1: what every JSON reader can
// hold.
const MaxTokens = 1<<53 - 1

// errBudget says how a budget is written.
var errBudget = errors.New(`["` + TokenBudget + `"].maxTokens: must be a whole number from 1 to 9007199254740991`)

// Tokens reads the token budget of a message's metadata; zero if there is none.
// The error names the path below the metadata and says how to write it, and
// repeats nothing of what was there. Numbers of a google.protobuf.Struct are
// doubles, so 1e3 and 1000.0 are 1000.
func Tokens(metadata a2a.Struct) (int64, error) {
	value, ok := metadata.Get(TokenBudget)
	if !ok {
		return 0, nil
	}
	var form struct {
		MaxTokens *float64 `json:"maxTokens"`
	}
	if err := value.Decode(&form); err != nil || form.MaxTokens == nil {
		return 0, errBudget
	}
	n := *form.MaxTokens
	if n != math.Trunc(n) || n < 1 || n > MaxTokens {
		return 0, errBudget
	}
	return int64(n), nil
}

// SetTokens gives a message a token budget, from 1 to [MaxTokens]: in its
// metadata and by name among its extensions. What the message shares with
// others stays as it is.
func SetTokens(m *a2a.Message, maxTokens int64) error {
	if maxTokens < 1 || maxTokens > MaxTokens {
		return fmt.Errorf("a token budget is a number from 1 to %d, not %d", int64(MaxTokens), maxTokens)
	}
	metadata, err := m.Metadata.With(TokenBudget, fmt.Appendf(nil, `{"maxTokens":%d}`, maxTokens))
	if err != nil {
		return fmt.Errorf("set the token budget: %w", err)
	}
	m.Metadata = metadata
	if !slices.Contains(m.Extensions, TokenBudget) {
		m.Extensions = append(slices.Clip(m.Extensions), TokenBudget)
	}
	return nil
}
