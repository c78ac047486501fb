package openai

import (
	"cmp"
	"math"
)

const (
	// around is how many tokens an endpoint may put around a conversation on its
	// own account, and aroundEach around one message of it.
	around     = 128
	aroundEach = 16

	// leastAnswer is how much of a budget an answer needs to be worth a call.
	leastAnswer = 16

	// answerInBudget is the limit of an answer under a budget where the
	// configuration has none: what the budget leaves may be more than a model
	// takes for a limit, and this every model takes.
	answerInBudget = 4096
)

// weight is how many tokens messages are at most: a tokenizer makes no more
// than one token of a byte. For most texts that is two to four times too much,
// but what a model is sent can not be taken back.
func weight(messages ...Message) int64 {
	var sum int64
	for _, m := range messages {
		sum += int64(len(m.Text)) + aroundEach
	}
	return sum
}

// base is what every call costs before anything is said.
func (m *Model) base() int64 {
	if m.cfg.System == "" {
		return around
	}
	return around + weight(Message{Role: RoleSystem, Text: m.cfg.System})
}

// least is the smallest budget with which a message is sent to the model.
func (m *Model) least(asked Message) int64 { return m.base() + weight(asked) + leastAnswer }

// room is how much of what was said before may go along with a message: what
// the configuration allows, and of a budget half of what the message leaves.
func (m *Model) room(maxTokens int64, asked Message) int {
	if maxTokens == 0 {
		return m.cfg.MaxContextBytes
	}
	return int(min(int64(m.cfg.MaxContextBytes), (maxTokens-m.least(asked))/2))
}

// answerLimit is the limit of an answer within a budget for the whole call;
// zero leaves it to the endpoint.
func (m *Model) answerLimit(maxTokens int64, messages []Message) int {
	if maxTokens == 0 {
		return m.cfg.MaxTokens
	}
	left := maxTokens - m.base() - weight(messages...)
	return int(min(left, int64(cmp.Or(m.cfg.MaxTokens, answerInBudget)), math.MaxInt32))
}
