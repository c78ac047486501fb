package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

// evidence is what a run of the public kit left behind.
type evidence struct {
	Date     string `json:"date"`
	Revision string `json:"revision"` // of the tree that was tried
	Modified bool   `json:"modified"` // that tree had changes besides
	Kit      struct {
		Repository string `json:"repository"`
		Branch     string `json:"branch"`
		Commit     string `json:"commit"`
	} `json:"kit"`
	Sets []struct {
		Set string `json:"set"`
		Outcome
		Failures []struct {
			Requirement string `json:"requirement"`
			Reason      string `json:"reason"`
		} `json:"failures"`
	} `json:"sets"`
}

const (
	kitSource = "conformance/tck/kit.go"
	nextKit   = "run make tck on the claimed revision and look at what failed, or correct the claim"
)

// evidence compares the claimed outcome of the kit with what was recorded, and
// the claimed kit with the one that is run.
func (c *checker) evidence() {
	c.begin("evidence of the conformance kit")
	kit := c.claim.Kit
	run := stringConstants(c.parse(kitSource))
	c.same("kit repository", kitSource, kit.Repository, run["kitRepository"], nextKit)
	c.same("kit branch", kitSource, kit.Branch, run["kitBranch"], nextKit)
	c.same("kit revision", kitSource, kit.Revision, run["kitCommit"], nextKit)
	data, there := c.tree.files[kit.Evidence]
	if !there {
		c.differs("kit", kit.Evidence, "evidence", "no such file", "run make tck on the claimed revision")
		return
	}
	var e evidence
	if err := json.Unmarshal(data, &e); err != nil {
		c.differs("kit", kit.Evidence, "evidence", "a file that cannot be read", nextKit)
		return
	}
	c.same("kit repository", kit.Evidence, kit.Repository, e.Kit.Repository, nextKit)
	c.same("kit branch", kit.Evidence, kit.Branch, e.Kit.Branch, nextKit)
	c.same("kit revision", kit.Evidence, kit.Revision, e.Kit.Commit, nextKit)
	if !dated(e.Date) {
		c.differs("kit", kit.Evidence, "a date", orNothing(e.Date), nextKit)
	}
	c.same("kit", kit.Evidence, "a run of a committed tree", ran(e), "commit what changed, then run make tck")
	c.outcomes(e)
}

// ran says in words what was tried.
func ran(e evidence) string {
	switch {
	case e.Modified:
		return "one of a tree with changes"
	case !revisionOfHead.MatchString(e.Revision):
		return "one of no revision"
	}
	return "a run of a committed tree"
}

// outcomes compares how the sets ended, and which tests failed.
func (c *checker) outcomes(e evidence) {
	kit := c.claim.Kit
	sets, failed := make(map[string]bool), make(map[string]bool)
	for _, set := range e.Sets {
		sets[set.Set] = true
		c.same("kit outcome, set "+bounded(set.Set), kit.Evidence, kit.Outcome[set.Set].String(), set.String(), nextKit)
		c.same("kit sum, set "+bounded(set.Set), kit.Evidence, strconv.Itoa(set.Executed), strconv.Itoa(set.Passed+len(set.Failures)), nextKit)
		for _, failure := range set.Failures {
			failed[failure.Requirement] = true
			c.counted(1)
			i := slices.IndexFunc(kit.KnownFaults, func(known Fault) bool { return known.ID == failure.Requirement })
			if i < 0 {
				c.differs("kit fault, set "+bounded(set.Set), kit.Evidence, "a pass", "a failure of "+bounded(failure.Requirement), nextKit)
			} else if claimed, found := kit.KnownFaults[i].Reason, failure.Reason; claimed != found {
				claimed, found = around(claimed, found)
				c.differs("reason of "+bounded(failure.Requirement)+", set "+bounded(set.Set), kit.Evidence, claimed, found, "give one reason, in one wording, in both places")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kit.Outcome)) {
		if !sets[name] {
			c.differs("kit outcome, set "+name, kit.Evidence, kit.Outcome[name].String(), "no such set", nextKit)
		}
	}
	for _, fault := range kit.KnownFaults {
		c.counted(1)
		if !failed[fault.ID] {
			c.differs("kit fault", kit.Evidence, "a failure of "+fault.ID, "none", "take it off the list, which only shrinks")
		}
	}
}

// String says the outcome in words.
func (o Outcome) String() string {
	return fmt.Sprintf("%d executed, %d passed, %d failed, %d skipped", o.Executed, o.Passed, o.Failed, o.Skipped)
}

func dated(text string) bool {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}
