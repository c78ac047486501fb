package partner_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// outcome is what became of one cell.
type outcome struct {
	direction, cell string
	failed          bool
	fault           string // the partner's, if it is one that is known
}

// outcomes are those of all cells so far.
var outcomes struct {
	sync.Mutex
	all []outcome
}

func record(o outcome) {
	outcomes.Lock()
	defer outcomes.Unlock()
	outcomes.all = append(outcomes.all, o)
}

// writeMatrix writes what became of all cells as a Markdown table with a row
// for each cell, and the partners' faults below it.
func writeMatrix(path string) error {
	outcomes.Lock()
	defer outcomes.Unlock()
	slices.SortStableFunc(outcomes.all, func(a, b outcome) int { return strings.Compare(a.direction, b.direction) })
	var directions, faults []string
	cells := slices.Clone(clientCells)
	seen := map[[2]string]string{}
	for _, o := range outcomes.all {
		if !slices.Contains(directions, o.direction) {
			directions = append(directions, o.direction)
		}
		if !slices.Contains(cells, o.cell) {
			cells = append(cells, o.cell)
		}
		verdict := "ok"
		switch {
		case o.failed:
			verdict = "**FAILED**"
		case o.fault != "":
			faults = append(faults, fmt.Sprintf("%s, %s: %s", o.direction, o.cell, o.fault))
			verdict = fmt.Sprintf("fault %d", len(faults))
		}
		seen[[2]string{o.direction, o.cell}] = verdict
	}
	var b strings.Builder
	b.WriteString("Clients of the SDKs meet our server, our client meets their servers.\n\n")
	fmt.Fprintf(&b, "| Cell | %s |\n|---%s|\n", strings.Join(directions, " | "), strings.Repeat("|---", len(directions)))
	for _, cell := range cells {
		fmt.Fprintf(&b, "| %s", cell)
		for _, direction := range directions {
			fmt.Fprintf(&b, " | %s", seen[[2]string{direction, cell}])
		}
		b.WriteString(" |\n")
	}
	b.WriteString("\nAn empty place is a cell that this direction does not have. Faults of the partners:\n\n")
	for i, fault := range faults {
		fmt.Fprintf(&b, "%d. %s\n", i+1, fault)
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
