package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/people"
	"github.com/legation/legation/internal/work"
)

// call is one request.
type call struct {
	route
	w       http.ResponseWriter
	r       *http.Request
	ctx     context.Context
	started time.Time

	who  string
	role people.Role

	values url.Values // checked against the route
	media  string     // of the body
	text   []byte     // the body, of its own
}

// name is a part of the path.
func (c *call) name(of string) string { return c.r.PathValue(of) }

// read reads what comes with the request, and refuses what does not belong to
// it.
func (c *call) read() error {
	if err := c.readQuery(); err != nil {
		return err
	}
	if len(c.body.types) == 0 {
		if c.r.ContentLength > 0 || len(c.r.TransferEncoding) > 0 {
			return invalid("this request takes no body", "send none")
		}
		return nil
	}
	if c.r.ContentLength != 0 {
		media, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
		if err != nil || !slices.Contains(c.body.types, media) {
			return &Failure{
				Status: http.StatusUnsupportedMediaType, Code: CodeMediaType, Message: "the body is not of a media type that is taken here",
				Next: "send it with Content-Type: " + strings.Join(c.body.types, " or "),
			}
		}
		c.media = media
		if err := c.readBody(); err != nil {
			return err
		}
	}
	if len(c.text) == 0 && c.body.form != nil && !c.body.optional {
		return invalid("the body is missing", "send it as "+c.body.types[0])
	}
	return nil
}

// readBody reads the body into a buffer of its own, which is not moved, so that
// no copies stay behind of what is to be wiped.
func (c *call) readBody() error {
	size := c.body.max
	if n := c.r.ContentLength; n >= 0 {
		size = min(size, n)
	}
	buffer := make([]byte, size+1)
	n, err := io.ReadFull(http.MaxBytesReader(c.w, c.r.Body, c.body.max), buffer)
	c.text = buffer[:n]
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		clear(buffer)
		return &Failure{
			Status: http.StatusRequestEntityTooLarge, Code: CodeTooLarge,
			Message: fmt.Sprintf("the body is larger than %d bytes", tooLarge.Limit),
		}
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		clear(buffer)
		return invalid("the body could not be read to its end", "")
	}
	return nil
}

// readQuery takes the query apart by the route's parameters.
func (c *call) readQuery() error {
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return invalid("the query is not written as queries are", "")
	}
	for name, all := range values {
		i := slices.IndexFunc(c.query, func(p parameter) bool { return p.name == name })
		switch {
		case i < 0:
			return invalid("there is no parameter "+quoted(name), c.parameters())
		case len(all) > 1:
			return invalid("parameter "+name+" is given more than once", "")
		}
		if words := c.query[i].wrong(all[0]); words != "" {
			return invalid("parameter "+name+" "+words, "")
		}
	}
	c.values = values
	return nil
}

func (c *call) parameters() string {
	if len(c.query) == 0 {
		return "this request takes none"
	}
	names := make([]string, len(c.query))
	for i, p := range c.query {
		names[i] = p.name
	}
	return "there are: " + strings.Join(names, ", ")
}

// wrong says what is wrong with a value, without repeating it.
func (p parameter) wrong(value string) string {
	switch p.kind {
	case numberParameter:
		if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < 0 || n > p.most {
			return fmt.Sprintf("is not a number from 0 to %d", p.most)
		}
	case flagParameter:
		if value != "true" && value != "false" {
			return "is neither true nor false"
		}
	case timeParameter:
		if _, err := time.Parse(time.RFC3339, value); err != nil {
			return "is not a time such as 2027-01-31T12:00:00Z"
		}
	default:
		if len(p.choices) > 0 && !slices.Contains(p.choices, value) {
			return "is none of " + strings.Join(p.choices, ", ")
		}
	}
	return ""
}

func (c *call) textOf(name string) string { return c.values.Get(name) }
func (c *call) flag(name string) bool     { return c.values.Get(name) == "true" }

// number is zero if it is left out. Its form was checked.
func (c *call) number(name string) int64 {
	n, _ := strconv.ParseInt(c.values.Get(name), 10, 64)
	return n
}

// time is the zero time if it is left out. Its form was checked.
func (c *call) time(name string) time.Time {
	at, _ := time.Parse(time.RFC3339, c.values.Get(name))
	return at
}

// limit is how many to return.
func (c *call) limit() int {
	if n := c.number("limit"); n > 0 {
		return int(n)
	}
	return defaultPage
}

// into reads the body as a form, and refuses members that it does not have.
func (c *call) into(form any) error {
	if len(c.text) == 0 {
		return nil
	}
	err := json.Unmarshal(c.text, form, json.RejectUnknownMembers(true))
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok {
		if errors.Is(wrong, json.ErrUnknownName) {
			return invalid("there is no member "+quoted(string(wrong.JSONPointer)), "leave it out")
		}
		return invalid("member "+quoted(string(wrong.JSONPointer))+" is not of the form that it should have", "see /openapi.json")
	}
	if err != nil {
		return invalid("the body is not JSON", "")
	}
	return nil
}

// entry is what the audit is told of a change.
func (c *call) entry(party string) audit.Entry {
	return audit.Entry{Who: c.who, Party: party, Operation: c.operation, Outcome: audit.Done}
}

func (c *call) effects(party string) work.Effects {
	return work.Effects{Audit: []audit.Entry{c.entry(party)}}
}

// quoted is a text of somebody else's in quotes, cut where it is long.
func quoted(s string) string {
	const most = 64
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}
