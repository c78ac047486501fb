package task

import (
	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/extension"
)

// maxTokens is the token budget of a turn: that of its own message, which is
// stored with the task, so a turn that is entered again has it too. A message
// that continues a task brings its own or there is none. One that can not be
// read was never honoured: where budgets are kept it is refused before a turn
// begins.
func maxTokens(message *a2a.Message) int64 {
	n, err := extension.Tokens(message.Metadata)
	if err != nil {
		return 0
	}
	return n
}
