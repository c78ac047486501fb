package openai

import (
	"context"
	"fmt"
	"strings"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
)

// question is the turn's own message.
func question(turn agent.Turn) Message {
	return Message{Role: RoleUser, Text: render(turn.Message.Parts, "\n")}
}

// conversation is what was said before a turn, within budget bytes of which
// each message costs some, and the turn's own message, which is sent whatever
// its size.
func conversation(ctx context.Context, turn agent.Turn, asked Message, budget, each int) ([]Message, error) {
	tasks, err := turn.Memory.Earlier(ctx)
	if err != nil {
		return nil, fmt.Errorf("read earlier tasks: %w", err)
	}
	history, err := turn.Memory.History(ctx)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	var said []Message
	for _, task := range tasks {
		said = append(said, spoken(task.History)...)
		for _, artifact := range task.Artifacts {
			said = append(said, Message{Role: RoleAssistant, Text: render(artifact.Parts, "")})
		}
	}
	if n := len(history); n > 0 {
		said = append(said, spoken(history[:n-1])...)
	}
	return joined(append(latest(said, budget, each), asked)), nil
}

// spoken is a history as messages of a model.
func spoken(history []a2a.Message) []Message {
	messages := make([]Message, len(history))
	for i, m := range history {
		messages[i] = Message{Role: RoleUser, Text: render(m.Parts, "\n")}
		if m.Role == a2a.RoleAgent {
			messages[i].Role = RoleAssistant
		}
	}
	return messages
}

// latest keeps the last turns that fit the budget. A turn is what the user said
// and what answered it; half of one would put words into wrong mouths.
func latest(messages []Message, budget, each int) []Message {
	keep, size := len(messages), 0
	for i := len(messages) - 1; i >= 0; i-- {
		size += len(messages[i].Text) + each
		if size > budget {
			break
		}
		if messages[i].Role == RoleUser && (i == 0 || messages[i-1].Role != RoleUser) {
			keep = i
		}
	}
	return messages[keep:]
}

// joined makes one of messages of the same role that follow each other, which
// not every endpoint takes, and leaves out empty ones.
func joined(messages []Message) []Message {
	var out []Message
	for _, m := range messages {
		switch last := len(out) - 1; {
		case strings.TrimSpace(m.Text) == "":
		case last >= 0 && out[last].Role == m.Role:
			out[last].Text += "\n\n" + m.Text
		default:
			out = append(out, m)
		}
	}
	return out
}

// render writes parts for a model: text as it is, data as JSON, and of a file
// its name and type. Between two texts comes a separator: a newline in what was
// said, nothing in an artifact, whose texts are chunks.
func render(parts []a2a.Part, separator string) string {
	var b strings.Builder
	text := false
	for i, part := range parts {
		content, isText := part.Content.(a2a.PartText)
		switch {
		case i == 0:
		case text && isText:
			b.WriteString(separator)
		default:
			b.WriteByte('\n')
		}
		text = isText
		switch data := part.Content.(type) {
		case a2a.PartText:
			b.WriteString(string(content))
		case a2a.PartData:
			b.WriteString(data.String())
		case a2a.PartRaw, a2a.PartURL:
			b.WriteString(mention(part))
		}
	}
	return b.String()
}

// mention stands for a file, whose content is not sent.
func mention(part a2a.Part) string {
	name, kind := "without a name", "of unknown type"
	if part.Filename != "" {
		name = fmt.Sprintf("named %q", part.Filename)
	}
	if part.MediaType != "" {
		kind = fmt.Sprintf("of type %q", part.MediaType)
	}
	return fmt.Sprintf("[a file %s, %s; its content is not included]", name, kind)
}
