package client

import (
	"strings"

	"github.com/legation/legation/a2a"
)

// decode reads a result, with tolerance for what can not change its meaning.
func decode[T any, P a2a.Wire[T]](x *exchange, result []byte) (*T, error) {
	value, violations, err := a2a.Decode[T, P](result)
	if err != nil {
		return nil, x.invalid("its result is not an object")
	}
	if v, bad := fault(violations); bad {
		return nil, x.invalid(describe(v))
	}
	if len(violations) > 0 {
		x.client.cfg.Logger.Info("the answer has faults that were passed over", "method", x.method, "count", len(violations))
	}
	return &value, nil
}

func describe(v a2a.Violation) string {
	if v.Field == "" {
		return "the result " + v.Description
	}
	return v.Field + " " + v.Description
}

// fault returns the first violation that could change what an answer means.
// Passed over are members that are missing, which peers leave out at their
// defaults; enum values and kinds of content a later version may have added,
// which stay unknown; and faults of members that only describe.
func fault(violations a2a.Violations) (a2a.Violation, bool) {
	for _, v := range violations {
		switch v.Reason {
		case a2a.Missing, a2a.Empty, a2a.UnknownEnum, a2a.OneofMissing, a2a.TooMany:
			continue
		case a2a.NullElement:
			if !securing(v.Field) {
				continue
			}
		case a2a.WrongType, a2a.OutOfRange, a2a.BadEncoding:
			if describes(v.Field) {
				continue
			}
		}
		return v, true
	}
	return a2a.Violation{}, false
}

// describes tells the members on which no result depends.
func describes(field string) bool {
	name := field[strings.LastIndexByte(field, '.')+1:]
	name, _, _ = strings.Cut(name, "[")
	switch name {
	case "timestamp", "metadata", "referenceTaskIds", "filename", "mediaType", "name", "description",
		"pageSize", "totalSize", "iconUrl", "documentationUrl", "tags", "examples":
		return !securing(field)
	}
	return false
}

// securing tells the members that say who may call and how.
func securing(field string) bool {
	return strings.Contains(field, "securityRequirements") || strings.Contains(field, "securitySchemes") ||
		strings.HasPrefix(field, "capabilities")
}

// The pruners drop parts whose content is of no known kind and count them.

func pruneParts(parts *[]a2a.Part) int {
	kept := (*parts)[:0]
	for _, part := range *parts {
		if part.Content != nil {
			kept = append(kept, part)
		}
	}
	dropped := len(*parts) - len(kept)
	*parts = kept
	return dropped
}

func pruneMessage(m *a2a.Message) int {
	if m == nil {
		return 0
	}
	return pruneParts(&m.Parts)
}

func pruneTask(t *a2a.Task) int {
	dropped := pruneMessage(t.Status.Message)
	for i := range t.History {
		dropped += pruneMessage(&t.History[i])
	}
	for i := range t.Artifacts {
		dropped += pruneParts(&t.Artifacts[i].Parts)
	}
	return dropped
}

// dropped logs what a pruner counted, never what it was.
func (c *Client) dropped(method string, count int) {
	if count > 0 {
		c.cfg.Logger.Warn("parts of an unknown kind were dropped", "method", method, "count", count)
	}
}

// task checks and prunes a task that was answered.
func (x *exchange) task(t *a2a.Task) error {
	if t.ID == "" {
		return x.invalid("the task has no id")
	}
	x.client.dropped(x.method, pruneTask(t))
	return nil
}

// message checks and prunes a message that was answered.
func (x *exchange) message(m *a2a.Message) error {
	dropped := pruneMessage(m)
	if len(m.Parts) == 0 && dropped == 0 {
		return x.invalid("the message has no parts")
	}
	x.client.dropped(x.method, dropped)
	return nil
}
