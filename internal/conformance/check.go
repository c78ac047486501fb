package conformance

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Difference is one thing that is not as claimed.
type Difference struct {
	What    string `json:"what"`
	Place   string `json:"place"`
	Claimed string `json:"claimed"`
	Found   string `json:"found"`
	Next    string `json:"next"` // what to do about it

	said string // in place of where, what is claimed and what was found
}

// String returns the difference on one line.
func (d Difference) String() string {
	if d.said != "" {
		return fmt.Sprintf("%s: %s (%s)", d.What, d.said, d.Next)
	}
	return fmt.Sprintf("%s: %s: claimed %s, found %s (%s)", d.What, d.Place, d.Claimed, d.Found, d.Next)
}

// Compared is one kind of thing that was compared, and how often.
type Compared struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

// Report is the outcome of a comparison.
type Report struct {
	// Compared is what was compared, in order. Differences are not taken off.
	Compared []Compared `json:"compared"`

	// Differences is empty if everything is as claimed.
	Differences []Difference `json:"differences"`

	// Coverage says how requirements are held.
	Coverage Coverage `json:"coverage"`
}

// Check compares the claim of a checkout, given by its root, with the checkout
// and with this program, which was built from a revision that is empty if it is
// not known, and may be cut short. An error means that there was nothing to compare, or
// that ctx ended; what differs is in the report. It starts a server on the
// loopback and a store in a temporary directory, and both are gone when it
// returns.
func Check(ctx context.Context, root fs.FS, revision string) (*Report, error) {
	in, err := read(root)
	if err != nil {
		return nil, err
	}
	in.revision = revision
	seen, err := show(ctx, in.claim)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return in.compare(seen, err), nil
}

// input is everything that is read before anything is compared.
type input struct {
	tree     tree
	head     string // commit of the checkout, if that is known
	revision string // that this program was built from, if that is known
	claim    Claim
	wire     *wire
	reqs     *requirements
}

func read(root fs.FS) (in input, err error) {
	if in.tree, err = readTree(root); err != nil {
		return in, err
	}
	in.head = headOf(root)
	if in.claim, err = readClaim(in.tree); err != nil {
		return in, err
	}
	if in.wire, err = readWire(in.tree, in.claim.Specification.Table); err != nil {
		return in, err
	}
	in.reqs, err = readRequirements(in.tree)
	return in, err
}

// compare compares everything with what a server showed, or with why none did.
func (in input) compare(seen *shown, why error) *Report {
	c := &checker{input: in, report: &Report{Differences: []Difference{}}}
	c.constants()
	c.table()
	c.codec()
	c.operations()
	c.server(seen, why)
	c.documents()
	c.partners()
	c.evidence()
	c.trace()
	c.page()
	c.older()
	c.ends()
	return c.report
}

// checker compares and remembers what differed.
type checker struct {
	input
	report *Report
	unsaid int // differences beyond what is noted
}

// begin names what the comparisons that follow are about.
func (c *checker) begin(what string) {
	c.report.Compared = append(c.report.Compared, Compared{What: what})
}

// counted says that n things were compared.
func (c *checker) counted(n int) {
	c.report.Compared[len(c.report.Compared)-1].Count += n
}

// maxDifferences are what is noted. Who has more begins with these.
const maxDifferences = 1000

// differs notes a difference.
func (c *checker) differs(what, place, claimed, found, next string) {
	c.note(Difference{What: what, Place: place, Claimed: claimed, Found: found, Next: next})
}

func (c *checker) note(d Difference) {
	if len(c.report.Differences) == maxDifferences {
		c.unsaid++
		return
	}
	d.What, d.Place = plain(d.What), plain(d.Place)
	c.report.Differences = append(c.report.Differences, d)
}

// ends says how many differences were not noted.
func (c *checker) ends() {
	if c.unsaid > 0 {
		c.report.Differences = append(c.report.Differences, Difference{
			What: "differences", Place: "the tree", Claimed: "none", Found: fmt.Sprintf("%d more", c.unsaid), Next: "mend the others first",
		})
	}
}

// same compares two values and notes when they differ. An empty value is one
// that is not there.
func (c *checker) same(what, place, claimed, found, next string) {
	c.counted(1)
	if claimed != found {
		c.differs(what, place, orNothing(claimed), orNothing(found), next)
	}
}

func orNothing(value string) string {
	if value == "" {
		return "nothing"
	}
	return bounded(value)
}

// bounded keeps what is repeated of a file to one short line.
func bounded(value string) string {
	const most = 120
	end := 0
	for i := range value {
		if i > most {
			return plain(value[:end]) + "…"
		}
		end = i
	}
	return plain(value)
}

// plain writes what would not stay on one line of a terminal as Go does.
func plain(value string) string {
	if strings.IndexFunc(value, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) < 0 {
		return value
	}
	quoted := strconv.Quote(value)
	return quoted[1 : len(quoted)-1]
}
