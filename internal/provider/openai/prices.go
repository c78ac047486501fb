package openai

import (
	"math"

	oai "github.com/sashabaranov/go-openai"
)

// Prices are what a million tokens cost, in millionths of a currency. The zero
// value costs nothing.
type Prices struct {
	Input, Output int64
}

// of is what a call costs, rounded up. The usage makes sense. What is in the
// total only, as thoughts are with some endpoints, was put out.
func (p Prices) of(usage *oai.Usage) int64 {
	out := max(usage.CompletionTokens, usage.TotalTokens-usage.PromptTokens)
	cost := math.Ceil((float64(usage.PromptTokens)*float64(p.Input) + float64(out)*float64(p.Output)) / 1e6)
	return int64(min(cost, 1<<60))
}
