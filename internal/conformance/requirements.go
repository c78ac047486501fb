package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// requirement is one line of the table: something the specification asks for,
// or a place where its texts disagree.
type requirement struct {
	ID      string
	Level   string // MUST, SHOULD, MAY, or NOTE for what binds nobody here
	Role    string // server, client, both, none
	Subject string
}

const (
	must = "MUST"
	note = "NOTE"
)

var (
	wholeID = regexp.MustCompile(`^(?:REQ-[A-Z]+|PVP|PVX)-\d\d$`)
	levels  = []string{must, "SHOULD", "MAY", note}
	roles   = []string{"server", "client", "both", "none"}
)

// binds reports whether anything of ours is bound by it.
func (r requirement) binds() bool { return r.Level != note }

// area is the id without its number.
func (r requirement) area() string { return r.ID[:len(r.ID)-len("-00")] }

// pending is why requirements are not held by a test yet.
type pending struct {
	IDs    []string `yaml:"ids"` // whole ids, or an area with -* behind it
	Reason string   `yaml:"reason"`
}

// requirements are the table and what is pending of it.
type requirements struct {
	list    []requirement
	byID    map[string]requirement
	pending []pending
}

func readRequirements(t tree) (*requirements, error) {
	r := &requirements{byID: make(map[string]requirement)}
	data, there := t.files[RequirementsFile]
	if !there {
		return nil, fmt.Errorf("%s is missing", RequirementsFile)
	}
	number := 0
	for text := range strings.Lines(string(data)) {
		number++
		text = strings.TrimRight(text, "\r\n")
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		one, err := parseRequirement(text)
		if err == nil && r.byID[one.ID].ID != "" {
			err = fmt.Errorf("%s is there twice", one.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", RequirementsFile, number, err)
		}
		if len(r.list) == maxList {
			return nil, fmt.Errorf("%s has more than %d requirements", RequirementsFile, maxList)
		}
		r.list = append(r.list, one)
		r.byID[one.ID] = one
	}
	if len(r.list) == 0 {
		return nil, fmt.Errorf("%s is empty", RequirementsFile)
	}
	if err := t.yaml(PendingFile, &r.pending); err != nil {
		return nil, err
	}
	ids := 0
	for _, p := range r.pending {
		if ids += len(p.IDs); ids > maxList {
			return nil, fmt.Errorf("%s has more than %d ids", PendingFile, maxList)
		}
	}
	return r, nil
}

func parseRequirement(text string) (requirement, error) {
	cells := strings.Split(text, "\t")
	if len(cells) != 4 {
		return requirement{}, fmt.Errorf("there are %d cells, not id, level, role and subject", len(cells))
	}
	r := requirement{ID: cells[0], Level: cells[1], Role: cells[2], Subject: cells[3]}
	switch {
	case !wholeID.MatchString(r.ID):
		return r, fmt.Errorf("%q is no id", bounded(r.ID))
	case !slices.Contains(levels, r.Level):
		return r, fmt.Errorf("%s: %q is no level", r.ID, bounded(r.Level))
	case !slices.Contains(roles, r.Role) || (r.Role == "none") != (r.Level == note):
		return r, fmt.Errorf("%s: the role %q does not go with %s", r.ID, bounded(r.Role), r.Level)
	case r.Subject == "" || strings.Contains(r.Subject, "|"):
		return r, fmt.Errorf("%s: the subject is empty or has a bar", r.ID)
	}
	return r, nil
}

// covers reports whether an id or a pattern is meant to cover a requirement.
func covers(pattern string, r requirement) bool {
	area, whole := strings.CutSuffix(pattern, "-*")
	return pattern == r.ID || whole && area == r.area()
}

// reason is why a requirement without a test is pending, or nothing. A whole
// id goes before an area.
func (r *requirements) reason(one requirement) string {
	reason := ""
	for _, p := range r.pending {
		for _, pattern := range p.IDs {
			if pattern == one.ID {
				return p.Reason
			}
			if covers(pattern, one) {
				reason = p.Reason
			}
		}
	}
	return reason
}

// Coverage is how the requirements that bind us are held.
type Coverage struct {
	Total   int                 `json:"total"`   // in the table
	Binding int                 `json:"binding"` // what binds us
	Tested  int                 `json:"tested"`
	Pending int                 `json:"pending"` // with a reason, not tested
	Open    int                 `json:"open"`    // neither, and not a MUST
	Missing []string            `json:"missing"` // neither, and a MUST
	Tests   map[string][]string `json:"tests"`   // by id
}

// trace compares the requirements with the tests that say they hold them.
func (c *checker) trace() {
	r := c.reqs
	c.begin("requirements and the tests that hold them")
	cites := readCitations(c.tree)
	c.counted(len(r.list))
	for _, stray := range cites.stray {
		if stray.idle != "" {
			c.differs("citation of "+stray.id, stray.place, "a test that runs", stray.idle, "write the test, or give a reason in "+PendingFile)
			continue
		}
		c.differs("citation of "+stray.id, stray.place, "a test that holds it", "nothing that a test reaches",
			"put it into a test, or next to what one uses")
	}
	for _, id := range cites.ids() {
		if _, known := r.byID[id]; !known {
			c.differs("citation", cites.tests[id][0], "an id of "+RequirementsFile, id, "correct the id")
		}
	}
	cover := r.coverage(cites.tests)
	for _, id := range cover.Missing {
		c.differs("requirement "+id, RequirementsFile, must+": "+r.byID[id].Subject, "no test",
			"cite it in the test that holds it, or give a reason in "+PendingFile)
	}
	c.report.Coverage = cover
	c.levels(cover)
	c.shrinks(cites.tests)
}

// levels compares how many requirements there are, and how many are put off.
func (c *checker) levels(cover Coverage) {
	found := make(map[string]int)
	for _, one := range c.reqs.list {
		found[one.Level]++
	}
	claimed := c.claim.Requirements
	for _, level := range []struct {
		name    string
		claimed int
	}{{must, claimed.Must}, {"SHOULD", claimed.Should}, {"MAY", claimed.May}, {note, claimed.Note}} {
		c.same("requirements that are "+level.name, RequirementsFile, strconv.Itoa(level.claimed), strconv.Itoa(found[level.name]),
			"change it back: the levels are the specification's")
	}
	c.same("requirements without a test, for a reason", PendingFile, strconv.Itoa(claimed.Pending), strconv.Itoa(cover.Pending),
		"write the tests, or say in "+ClaimFile+" how many there are")
}

func (r *requirements) coverage(tests map[string][]string) Coverage {
	cover := Coverage{Total: len(r.list), Tests: tests, Missing: []string{}}
	for _, one := range r.list {
		if !one.binds() {
			continue
		}
		cover.Binding++
		switch {
		case len(tests[one.ID]) > 0:
			cover.Tested++
		case r.reason(one) != "":
			cover.Pending++
		case one.Level == must:
			cover.Missing = append(cover.Missing, one.ID)
		default:
			cover.Open++
		}
	}
	return cover
}

// shrinks sees that the list of reasons holds nothing that is done.
func (c *checker) shrinks(tests map[string][]string) {
	for _, p := range c.reqs.pending {
		if p.Reason == "" {
			c.differs("pending", PendingFile, "a reason for "+strings.Join(p.IDs, ", "), "none", "say why")
		}
		for _, pattern := range p.IDs {
			c.counted(1)
			known, untested := false, false
			for _, one := range c.reqs.list {
				if covers(pattern, one) && one.binds() {
					known = true
					untested = untested || len(tests[one.ID]) == 0
				}
			}
			switch {
			case !known:
				c.differs("pending", PendingFile, "an id that binds us", bounded(pattern), "correct the id")
			case !untested:
				c.differs("pending "+pattern, PendingFile, "no test", "tests for all of it", "take it off the list, which only shrinks")
			}
		}
	}
}
