package conformance

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// areas are the groups of requirements in words.
var areas = map[string]string{
	"REQ-PJ": "encoding", "REQ-MOD": "model", "REQ-RPC": "JSON-RPC", "REQ-ERR": "errors",
	"REQ-LIFE": "life of tasks", "REQ-CTX": "contexts", "REQ-HIST": "history", "REQ-SEND": "sending",
	"REQ-STRM": "streams", "REQ-GET": "getting tasks", "REQ-LIST": "listing tasks", "REQ-CANC": "canceling",
	"REQ-SUBS": "subscribing", "REQ-PCFG": "webhook configurations", "REQ-XCARD": "extended card",
	"REQ-OPS": "all operations", "REQ-CARD": "agent card", "REQ-SIGN": "signatures of cards",
	"REQ-PUSH": "push notifications", "REQ-SEC": "transport and authentication", "REQ-SCOPE": "who sees what",
	"REQ-ITA": "authorization within a task", "REQ-GEN": "security in general", "REQ-VER": "versions",
	"REQ-MIG": "older peers", "REQ-EXT": "extensions", "REQ-TEN": "tenants", "REQ-FWD": "later peers",
	"PVP": "prose against proto", "PVX": "prose against itself",
}

// Page returns what docs/conformance.md has to be for a checkout, given by its
// root.
func Page(root fs.FS) ([]byte, error) {
	in, err := read(root)
	if err != nil {
		return nil, err
	}
	return page(in, readCitations(in.tree).tests), nil
}

// page compares the generated document with what it has to be, line by line.
func (c *checker) page() {
	c.begin("lines of the generated document")
	want := strings.Split(string(page(c.input, c.report.Coverage.Tests)), "\n")
	c.counted(len(want))
	data, there := c.tree.files[PageFile]
	if !there {
		c.stale(Difference{Place: PageFile, Claimed: "the document", Found: "nothing", said: PageFile + " is missing"})
		return
	}
	have := strings.Split(string(data), "\n")
	const most = 3
	n, all := 0, min(len(want), len(have))
	for i := range all {
		if want[i] == have[i] {
			continue
		}
		n++
		if n <= most {
			place, should, has := fmt.Sprintf("%s:%d", PageFile, i+1), want[i], have[i]
			should, has = around(should, has)
			c.stale(Difference{Place: place, Claimed: should, Found: has, said: place + " is stale: has " + has + ", should have " + should})
		}
		if len(want) != len(have) {
			break // what follows has moved
		}
	}
	switch more := n - most; {
	case len(want) != len(have):
		should, has := fmt.Sprintf("%d lines", len(want)), strconv.Itoa(len(have))
		c.stale(Difference{Place: PageFile, Claimed: should, Found: has, said: PageFile + " is stale: has " + has + " lines, should have " + strconv.Itoa(len(want))})
	case more > 0:
		words := fmt.Sprintf("%d more stale lines", more)
		if more == 1 {
			words = "1 more stale line"
		}
		c.stale(Difference{Place: PageFile, Claimed: "what is there now", Found: words, said: "and " + words})
	}
}

func (c *checker) stale(d Difference) {
	d.What, d.Next = "document", "run make generate, and look at what changed"
	c.note(d)
}

// around cuts two lines to where they differ first.
func around(a, b string) (string, string) {
	const before, fits = 30, 120
	if len(a) <= fits && len(b) <= fits {
		return orNothing(a), orNothing(b)
	}
	from, last := 0, 0
	starts := make([]int, 0, len(a))
	for i, r := range a {
		if !strings.HasPrefix(b[min(last, len(b)):], string(r)) {
			break
		}
		starts = append(starts, i)
		last = i + utf8.RuneLen(r)
	}
	if len(starts) > before {
		from = starts[len(starts)-before]
	}
	cut := func(line string) string {
		if from == 0 || from >= len(line) {
			return orNothing(line)
		}
		return "…" + bounded(line[from:])
	}
	return cut(a), cut(b)
}

func page(in input, tests map[string][]string) []byte {
	var b strings.Builder
	b.WriteString(`# Conformance

What Legation claims to speak, and which test holds which requirement. This document is written by
` + "`legation conformance write`" + ` and not by hand; ` + "`legation conformance check`" + ` compares the claim with the code, a running
server, the documents, the pinned partners and the recorded evidence, and names each difference.

`)
	writeClaim(&b, in.claim)
	writeKit(&b, in.tree, in.claim.Kit)
	writeRequirements(&b, in.reqs, tests)
	return []byte(b.String())
}

func writeClaim(b *strings.Builder, c Claim) {
	rows(b, "## Claim", []string{"What", "Claimed"}, [][]string{
		{"specification", c.Specification.Revision},
		{"SHA-256 of a2a.proto", c.Specification.ProtoSHA256},
		{"wire table", c.Specification.Table},
		{"version in requests", fmt.Sprintf("`%s: %s`", c.Headers.Version, c.Headers.Literal)},
		{"extensions in requests and answers", "`" + c.Headers.Extensions + "`"},
		{"interfaces on cards", fmt.Sprintf("`%s` `%s`", c.Interface.Binding, c.Interface.Version)},
		{"card", "`" + c.CardPath + "`, " + c.MediaTypes.Card},
		{"calls, answers, streams", strings.Join([]string{c.MediaTypes.Call, c.MediaTypes.Answer, c.MediaTypes.Stream}, ", ")},
	})
	var table [][]string
	for _, op := range c.Operations {
		table = append(table, []string{"`" + op.Name + "`", inWords(op.Server, op.Code), op.Client})
	}
	rows(b, "", []string{"Operation", "As server", "As client"}, table)
	table = nil
	for _, e := range c.Extensions {
		table = append(table, []string{"`" + e.URI + "`", e.Stability, required(e.Required)})
	}
	rows(b, "", []string{"Extension", "Stability", "For callers"}, table)
	table = nil
	for _, p := range c.Partners {
		table = append(table, []string{p.Name, p.Language, p.Version, strings.Join(p.Locks, ", ")})
	}
	rows(b, "", []string{"Partner", "Language", "Version", "Pinned in"}, table)
}

func writeKit(b *strings.Builder, t tree, kit Kit) {
	var e evidence
	when := "not recorded"
	if err := json.Unmarshal(t.files[kit.Evidence], &e); err == nil && dated(e.Date) {
		when = fmt.Sprintf("%s on %.12s", e.Date, e.Revision)
		if e.Modified {
			when += " with changes"
		}
	}
	var table [][]string
	for _, set := range slices.Sorted(maps.Keys(kit.Outcome)) {
		o := kit.Outcome[set]
		table = append(table, []string{set, fmt.Sprint(o.Executed), fmt.Sprint(o.Passed), fmt.Sprint(o.Failed), fmt.Sprint(o.Skipped)})
	}
	fmt.Fprintf(b, "## Conformance kit\n\n%s, branch %s, revision %s.\nRun: %s. Evidence: %s.\n\n",
		kit.Repository, kit.Branch, kit.Revision, when, kit.Evidence)
	rows(b, "", []string{"Set", "Executed", "Passed", "Failed", "Skipped"}, table)
	table = nil
	for _, fault := range kit.KnownFaults {
		table = append(table, []string{fault.ID, fault.Reason})
	}
	rows(b, "", []string{"Cannot pass", "Fault of the kit"}, table)
}

func writeRequirements(b *strings.Builder, r *requirements, tests map[string][]string) {
	cover, unclear := r.coverage(tests), r.count("PVP")+r.count("PVX")
	fmt.Fprintf(b, `## Requirements

The ids are those of %s: %d requirements of the specification for both roles, and %d places
where its texts disagree. Of the %d that bind us %d are held by tests, %d are not for the reason given, and %d that are no
MUST are open. A test cites what it holds next to where it holds it; a transcript is named by its file. "Held by" means
that a test which runs cites the requirement, and all tests must pass; whether it fails when the rule is broken is for review.

`, RequirementsFile, len(r.list)-unclear, unclear, cover.Binding, cover.Tested, cover.Pending, cover.Open)
	var table [][]string
	last := ""
	for _, one := range r.list {
		if area := one.area(); area != last {
			last = area
			table = append(table, []string{"**" + area + "**", "", "", "**" + areas[area] + "**", r.held(area, tests)})
		}
		table = append(table, []string{one.ID, one.Level, one.Role, one.Subject, r.holds(one, tests[one.ID])})
	}
	rows(b, "", []string{"Id", "Level", "Role", "Subject", "Held by"}, table)
}

func (r *requirements) count(area string) (n int) {
	for _, one := range r.list {
		if one.area() == area {
			n++
		}
	}
	return n
}

// held says how many of an area's requirements that bind us have a test.
func (r *requirements) held(area string, tests map[string][]string) string {
	all, tested := 0, 0
	for _, one := range r.list {
		if one.area() == area && one.binds() {
			all++
			if len(tests[one.ID]) > 0 {
				tested++
			}
		}
	}
	return fmt.Sprintf("%d of %d", tested, all)
}

// holds says what holds a requirement, or why nothing does.
func (r *requirements) holds(one requirement, tests []string) string {
	const most = 4
	var shown []string
	for _, test := range tests[:min(most, len(tests))] {
		shown = append(shown, strings.TrimPrefix(test, "internal/"))
	}
	switch {
	case len(tests) > most:
		return strings.Join(shown, ", ") + fmt.Sprintf(", and %d more", len(tests)-most)
	case len(tests) > 0:
		return strings.Join(shown, ", ")
	case !one.binds():
		return "binds nobody here"
	case r.reason(one) != "":
		return "not held: " + r.reason(one)
	case one.Level == must:
		return "**missing**"
	}
	return "open"
}

// rows writes a table, or nothing if there are no rows.
func rows(b *strings.Builder, title string, head []string, table [][]string) {
	if title != "" {
		b.WriteString(title + "\n\n")
	}
	if len(table) == 0 {
		return
	}
	b.WriteString("| " + strings.Join(head, " | ") + " |\n|" + strings.Repeat("---|", len(head)) + "\n")
	for _, row := range table {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	b.WriteString("\n")
}
