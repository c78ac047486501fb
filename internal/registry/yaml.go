package registry

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

// The parser takes time with the square of the tokens of a document, so they
// are bounded, four for a value, and so is the sum of the squares. The scanner
// takes time with the empty lines behind a text and its length.
const (
	maxTokens = 4 * maxValues
	maxEffort = 16 * maxTokens * maxTokens
	maxEmpty  = 100
)

// yaml reads a stream of documents. Each is parsed by itself, so that a broken
// one does not hide what is wrong with the others.
func (d *decoder) yaml(data []byte) []node {
	// Line breaks are normalized as YAML does (YAML 1.2.2, section 5.4), before
	// anything counts them.
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	if at := bytes.IndexByte(data, '\r'); at >= 0 {
		d.report(d.at(1+bytes.Count(data[:at], []byte("\n")), 1), "", "there is a carriage return that ends no line", "take it out, or write it as \"\\r\"")
		return nil
	}
	parts, tooEmpty := split(data)
	if tooEmpty > 0 {
		d.report(d.at(tooEmpty, 1), "", "there are more than 100 empty lines in a row", "take some out")
		return nil
	}
	var nodes []node
	for i, part := range parts {
		if i == maxDocuments {
			d.report(d.at(part.line, 1), "", "there are more than 10,000 documents", "split the text")
			return nil
		}
		if d.effort > maxEffort {
			break
		}
		if n, ok := d.parse(part); ok {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// part is one document of a stream.
type part struct {
	line int // of its first line, from 1
	text string
}

// split cuts a stream at the lines that begin documents. Such a line cannot be
// part of a value (YAML 1.2.2, section 9.1.2). It returns the line where there
// are too many empty ones in a row, or zero.
func split(data []byte) (parts []part, tooEmpty int) {
	current, line, empty := part{line: 1}, 0, 0
	var text strings.Builder
	end := func() {
		current.text = text.String()
		parts = append(parts, current)
		text.Reset()
	}
	for one := range bytes.Lines(data) {
		line++
		if marks(one, "---") && line > 1 {
			end()
			current = part{line: line}
		}
		if empty++; len(bytes.TrimSpace(one)) > 0 {
			empty = 0
		}
		if empty > maxEmpty {
			return nil, line
		}
		text.Write(one)
	}
	end()
	return parts, 0
}

func marks(line []byte, marker string) bool {
	rest, found := bytes.CutPrefix(line, []byte(marker))
	return found && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// parse makes a node of a document. An empty one is nothing.
func (d *decoder) parse(p part) (n node, ok bool) {
	r := &yamlReader{d: d, line: p.line - 1}
	before := len(d.problems)
	defer func() {
		// The parser is not ours, and the text is anybody's.
		if recover() != nil {
			d.report(d.at(p.line, 1), "", "this cannot be read as YAML", "")
			n, ok = node{}, false
		}
	}()
	if len(p.text) > maxDocument {
		d.report(d.at(p.line, 1), "", tooLarge, "")
		return node{}, false
	}
	tokens := scan(p.text)
	d.effort += len(tokens) * len(tokens)
	if len(tokens) > maxTokens || d.effort > maxEffort {
		d.report(d.at(p.line, 1), "", "the text has too many parts up to the end of this document", "split it")
		return node{}, false
	}
	if r.refuse(tokens); len(d.problems) > before {
		return node{}, false
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		at, words := d.at(p.line, 1), "this is not YAML"
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil {
			at = r.place(syntax.GetToken())
			words += ": " + strings.ToLower(strings.TrimSpace(syntax.GetMessage()))
		}
		next := ""
		if indentedByTab(p.text, at.Line-p.line) {
			words, next = "there is a tab at the beginning of the line, which YAML does not allow", "indent with spaces"
		}
		d.report(at, "", words, next)
		return node{}, false
	}
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.NullType {
			continue
		}
		if ok {
			d.report(r.place(doc.Body.GetToken()), "", "there is something behind the end of the document", "begin a document with ---")
			return node{}, false
		}
		n, ok = r.node(doc.Body), true
	}
	return n, ok && len(d.problems) == before
}

// indentedByTab reports whether a line, from 0, is indented by a tab.
func indentedByTab(text string, line int) bool {
	for one := range strings.Lines(text) {
		if line == 0 {
			return strings.ContainsRune(one[:len(one)-len(strings.TrimLeft(one, " \t"))], '\t')
		}
		line--
	}
	return false
}

// scan returns the tokens of a text, or some more than there may be.
func scan(text string) token.Tokens {
	var s scanner.Scanner
	var tokens token.Tokens
	s.Init(text)
	for len(tokens) <= maxTokens {
		some, err := s.Scan()
		if errors.Is(err, io.EOF) {
			break
		}
		tokens.Add(some...) // one that is not valid is among them
	}
	return tokens
}

type yamlReader struct {
	d    *decoder
	line int // lines before the document
}

func (r *yamlReader) place(t *token.Token) Source {
	if t == nil || t.Position == nil {
		return r.d.at(r.line+1, 1)
	}
	return r.d.at(r.line+t.Position.Line, t.Position.Column)
}

// refuse reports what documents do without, and nesting that is too deep,
// before anything is built from the tokens.
func (r *yamlReader) refuse(tokens token.Tokens) {
	var columns []int // of the blocks that a token lies in
	flow, line := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			r.d.report(r.place(t), "", "anchors, aliases and merges are not used here", "write the value out")
			return
		case token.TagType, token.DirectiveType:
			r.d.report(r.place(t), "", "tags and directives are not used here", "leave it out; put a text in quotes if it looks like something else")
			return
		case token.MappingKeyType:
			r.d.report(r.place(t), "", "keys behind a question mark are not used here", "write key: value")
			return
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		}
		if p := t.Position; p != nil && flow == 0 && (p.Line != line || t.Type == token.SequenceEntryType) {
			for len(columns) > 0 && columns[len(columns)-1] >= p.Column {
				columns = columns[:len(columns)-1]
			}
			columns, line = append(columns, p.Column), p.Line
		}
		if flow+len(columns) > 2*maxDepth {
			r.d.report(r.place(t), "", "this is nested deeper than 32", "")
			return
		}
	}
}

func (r *yamlReader) node(in ast.Node) node {
	n := node{at: r.place(in.GetToken())}
	switch in := in.(type) {
	case *ast.NullNode:
		n.kind = nullNode
	case *ast.BoolNode:
		n.kind, n.text = boolNode, in.String()
		if in.Value {
			n.text = "true"
		} else {
			n.text = "false"
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.kind, n.text = numberNode, in.GetToken().Value
	case *ast.StringNode:
		n.kind, n.text = textNode, in.Value
	case *ast.LiteralNode:
		n.kind, n.text = textNode, in.Value.Value
	case *ast.SequenceNode:
		n.kind = listNode
		for _, item := range in.Values {
			n.items = append(n.items, r.node(item))
		}
	case ast.MapNode:
		n.kind = objectNode
		for pairs := in.MapRange(); pairs.Next(); {
			key := r.node(pairs.Key())
			if key.kind != textNode {
				r.d.report(key.at, "", "a key must be a text, found "+key.kind.String(), "put it in quotes")
			}
			if len(n.members) == 0 {
				n.at = key.at
			}
			n.members = append(n.members, member{name: key.text, at: key.at, value: r.node(pairs.Value())})
		}
	default:
		r.d.report(n.at, "", "this cannot be used here", "write it as a text, a number, a list or an object")
	}
	return n
}
