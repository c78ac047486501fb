package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one thing that is wrong with a document.
type Problem struct {
	// Source is where it is; the zero value if the document was not read from a
	// text.
	Source Source

	// Document is what it is about: "Provider/local", or empty where a text
	// could not be read that far.
	Document string

	// Path is the field: "spec.skills[0].id". It may be empty.
	Path string

	// Words say what is wrong; Next what to do about it. Neither repeats a
	// value that could be a secret. Next may be empty.
	Words, Next string
}

// Error returns the problem in one line.
func (p Problem) Error() string {
	var b strings.Builder
	if p.Source.Line > 0 {
		fmt.Fprintf(&b, "%s:%d:%d: ", p.Source.File, p.Source.Line, p.Source.Column)
	}
	for _, part := range []string{p.Document, p.Path} {
		if part != "" {
			b.WriteString(part + ": ")
		}
	}
	b.WriteString(p.Words)
	if p.Next != "" {
		b.WriteString(" (" + p.Next + ")")
	}
	return b.String()
}

// Problems are all that is wrong; an error if there are any.
type Problems []Problem

// maxProblems is how many problems are told at once, of those that are gathered.
const (
	maxProblems = 100
	maxGathered = 1000
)

// Error returns a line for each.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// err returns the problems in order of place, each once, or nil.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	p = slices.Clone(p)
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Source.File, b.Source.File), cmp.Compare(a.Source.Line, b.Source.Line), cmp.Compare(a.Source.Column, b.Source.Column),
			cmp.Compare(a.Document, b.Document), comparePaths(a.Path, b.Path), cmp.Compare(a.Words, b.Words),
		)
	})
	p = slices.Compact(p)
	if len(p) > maxProblems {
		p = append(p[:maxProblems:maxProblems], Problem{Words: "and more problems", Next: "mend these first"})
	}
	return p
}

// comparePaths compares indexes as numbers.
func comparePaths(a, b string) int {
	for a != "" && b != "" {
		headA, restA := digits(a)
		headB, restB := digits(b)
		if headA != "" && headB != "" && headA != headB {
			return cmp.Or(cmp.Compare(len(headA), len(headB)), cmp.Compare(headA, headB))
		}
		if headA == "" || headB == "" {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			restA, restB = a[1:], b[1:]
		}
		a, b = restA, restB
	}
	return cmp.Compare(a, b)
}

func digits(s string) (head, rest string) {
	end := len(s) - len(strings.TrimLeft(s, "0123456789"))
	return s[:end], s[end:]
}

// index is the path of an item of a list.
func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// join is the path of a member.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// parent is the path that a path lies in, or nothing.
func parent(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }

// quoted is a text in quotes, cut where it is long.
func quoted(s string) string {
	const limit = 64
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return strconv.Quote(s)
}
