package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Files that the comparison reads or writes, from the root of the tree.
const (
	ClaimFile        = "conformance/claim.yaml"
	RequirementsFile = "conformance/requirements.tsv"
	PendingFile      = "conformance/pending.yaml"
	PageFile         = "docs/conformance.md"
)

// Claim is what is said to be spoken, as conformance/claim.yaml holds it.
type Claim struct {
	Specification struct {
		Revision    string `yaml:"revision"`    // release of the specification
		ProtoSHA256 string `yaml:"protoSha256"` // of a2a.proto at that release
		Table       string `yaml:"table"`       // the proto as data, in this tree
		TableSHA256 string `yaml:"tableSha256"` // of that file
	} `yaml:"specification"`
	Headers struct {
		Version    string `yaml:"version"`
		Literal    string `yaml:"literal"` // what requests carry in it
		Extensions string `yaml:"extensions"`
	} `yaml:"headers"`
	Interface struct {
		Binding string `yaml:"binding"`
		Version string `yaml:"version"`
	} `yaml:"interface"`
	CardPath   string `yaml:"cardPath"`
	MediaTypes struct {
		Card   string `yaml:"card"`
		Call   string `yaml:"call"`
		Answer string `yaml:"answer"`
		Stream string `yaml:"stream"`
	} `yaml:"mediaTypes"`
	Operations []Operation `yaml:"operations"`
	Extensions []Extension `yaml:"extensions"`
	Partners   []Partner   `yaml:"partners"`
	Kit        Kit         `yaml:"kit"`

	Requirements Requirements `yaml:"requirements"`
}

// Operation is what either role does with one method.
type Operation struct {
	Name   string `yaml:"name"`
	Server string `yaml:"server"` // "served", or "refused" with Code
	Code   int    `yaml:"code"`   // of the error that refuses it
	Client string `yaml:"client"` // "called", or "absent"
}

// Extension is an extension of the protocol that cards announce.
type Extension struct {
	URI       string `yaml:"uri"`
	Stability string `yaml:"stability"`
	Required  bool   `yaml:"required"`
}

// Partner is another implementation that ours is tried against.
type Partner struct {
	Name     string   `yaml:"name"`
	Language string   `yaml:"language"`
	Version  string   `yaml:"version"`
	Locks    []string `yaml:"locks"` // files that pin it
}

// Kit is the public conformance kit and how it ended.
type Kit struct {
	Repository  string             `yaml:"repository"`
	Branch      string             `yaml:"branch"`
	Revision    string             `yaml:"revision"`
	Evidence    string             `yaml:"evidence"`
	KnownFaults []Fault            `yaml:"knownFaults"` // the kit's own
	Outcome     map[string]Outcome `yaml:"outcome"`     // by set
}

// Requirements are how many there are of each level, and how many of those that
// bind us wait for a test with a reason: none is lowered, taken out or put off
// unseen.
type Requirements struct {
	Must    int `yaml:"must"`
	Should  int `yaml:"should"`
	May     int `yaml:"may"`
	Note    int `yaml:"note"`
	Pending int `yaml:"pending"`
}

// Fault is a test of the kit that cannot pass, and why.
type Fault struct {
	ID     string `yaml:"id" json:"id"`
	Reason string `yaml:"reason" json:"reason"`
}

// Outcome is how many tests of the kit ran in one set, and how they ended.
type Outcome struct {
	Executed int `yaml:"executed" json:"executed"`
	Passed   int `yaml:"passed" json:"passed"`
	Failed   int `yaml:"failed" json:"failed"`
	Skipped  int `yaml:"skipped" json:"skipped"`
}

const (
	served  = "served"
	refused = "refused"
	called  = "called"
	absent  = "absent"
)

func readClaim(t tree) (Claim, error) {
	var c Claim
	if err := t.yaml(ClaimFile, &c); err != nil {
		return Claim{}, err
	}
	if err := c.check(); err != nil {
		return Claim{}, fmt.Errorf("%s: %w", ClaimFile, err)
	}
	return c, nil
}

// check refuses a claim that says too little to be compared.
func (c Claim) check() error {
	for _, must := range []struct{ name, value string }{
		{"specification.revision", c.Specification.Revision},
		{"specification.protoSha256", c.Specification.ProtoSHA256},
		{"specification.table", c.Specification.Table},
		{"specification.tableSha256", c.Specification.TableSHA256},
		{"headers.version", c.Headers.Version},
		{"headers.literal", c.Headers.Literal},
		{"headers.extensions", c.Headers.Extensions},
		{"interface.binding", c.Interface.Binding},
		{"interface.version", c.Interface.Version},
		{"cardPath", c.CardPath},
		{"kit.revision", c.Kit.Revision},
		{"kit.evidence", c.Kit.Evidence},
	} {
		if must.value == "" {
			return fmt.Errorf("%s says nothing", must.name)
		}
	}
	if !strings.HasPrefix(c.CardPath, "/") {
		return fmt.Errorf("cardPath is %q, which is no path", bounded(c.CardPath))
	}
	for _, op := range c.Operations {
		switch {
		case op.Server != served && op.Server != refused:
			return fmt.Errorf("%s: server is %q, neither %s nor %s", op.Name, op.Server, served, refused)
		case (op.Server == refused) != (op.Code != 0):
			return fmt.Errorf("%s: a code belongs to what is refused, and only to that", op.Name)
		case op.Code != 0 && !isCode(op.Code):
			return fmt.Errorf("%s: %d is no code of A2A", op.Name, op.Code)
		case op.Client != called && op.Client != absent:
			return fmt.Errorf("%s: client is %q, neither %s nor %s", op.Name, op.Client, called, absent)
		}
	}
	if len(c.Operations) == 0 || len(c.Partners) == 0 {
		return errors.New("operations and partners must not be empty")
	}
	return nil
}

// yaml reads a document strictly: unknown and doubled members are errors.
func (t tree) yaml(name string, into any) error {
	data, ok := t.files[name]
	if !ok {
		return fmt.Errorf("%s is missing", name)
	}
	if len(data) > maxYAML {
		return fmt.Errorf("%s is longer than %d bytes", name, maxYAML)
	}
	if !flat(data) {
		return fmt.Errorf("%s is nested deeper than anything written by hand", name)
	}
	// References could make little text a lot of memory.
	for _, one := range lexer.Tokenize(string(data)) {
		if one.Type == token.AliasType || one.Type == token.MergeKeyType {
			return fmt.Errorf("%s:%d: write out what is referred to", name, one.Position.Line)
		}
	}
	if err := yaml.UnmarshalWithOptions(data, into, yaml.Strict()); err != nil {
		return fmt.Errorf("%s: %s", name, strings.TrimSpace(yaml.FormatError(err, false, true)))
	}
	return nil
}

// flat reports whether a text is nested as little as a person would. The YAML
// library takes memory by the square of the depth.
func flat(data []byte) bool {
	const most = 16
	depth, marks, leading := 0, 0, true // marks begin a line: lists in lists
	for _, c := range data {
		switch c {
		case '\n':
			marks, leading = 0, true
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		case '-', '?', ':':
			marks++
		}
		leading = leading && bytes.IndexByte([]byte("-?: "), c) >= 0
		if depth > most || leading && marks > most {
			return false
		}
	}
	return true
}
