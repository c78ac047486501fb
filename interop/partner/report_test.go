package partner_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
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

// unmet are the directions and the known faults that no cell was run for.
func unmet() (missing []string) {
	outcomes.Lock()
	defer outcomes.Unlock()
	for _, direction := range directions {
		if !slices.ContainsFunc(outcomes.all, func(o outcome) bool { return o.direction == direction }) {
			missing = append(missing, direction)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(faults)) {
		if !slices.ContainsFunc(outcomes.all, func(o outcome) bool { return o.direction+"/"+o.cell == key }) {
			missing = append(missing, key)
		}
	}
	return missing
}

// partnerVersions are the partners with the versions that are pinned.
func partnerVersions() (string, error) {
	var all []string
	for _, pinned := range []struct{ name, file, version string }{
		{goSDK, "../go.mod", `(?m)a2aproject/a2a-go/v2 v(\S+)`},
		{python.name, "../python/requirements.txt", `(?m)^a2a-sdk(?:\[[\w,-]+\])?==(\S+)`},
		{javascript.name, "../javascript/package-lock.json", `"node_modules/@a2a-js/sdk": \{\s*"version": "([^"]+)"`},
	} {
		data, err := os.ReadFile(pinned.file)
		if err != nil {
			return "", err
		}
		found := regexp.MustCompile(pinned.version).FindSubmatch(data)
		if found == nil {
			return "", fmt.Errorf("%s pins no version of %s", pinned.file, pinned.name)
		}
		all = append(all, fmt.Sprintf("%s %s", pinned.name, found[1]))
	}
	return strings.Join(all, ", "), nil
}

// writeMatrix writes what became of all cells as a Markdown table with a row
// for each cell, and the partners' faults below it.
func writeMatrix(path string) error {
	outcomes.Lock()
	defer outcomes.Unlock()
	slices.SortStableFunc(outcomes.all, func(a, b outcome) int { return strings.Compare(a.direction, b.direction) })
	var columns, reasons []string
	cells := slices.Clone(clientCells)
	seen := map[[2]string]string{}
	for _, o := range outcomes.all {
		if !slices.Contains(columns, o.direction) {
			columns = append(columns, o.direction)
		}
		if !slices.Contains(cells, o.cell) {
			cells = append(cells, o.cell)
		}
		verdict := "ok"
		switch {
		case o.failed:
			verdict = "**FAILED**"
		case o.fault != "":
			reasons = append(reasons, fmt.Sprintf("%s, %s: %s", o.direction, o.cell, o.fault))
			verdict = fmt.Sprintf("fault %d", len(reasons))
		}
		seen[[2]string{o.direction, o.cell}] = verdict
	}
	var b strings.Builder
	versions, err := partnerVersions()
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, "Clients of the SDKs meet our server, our client meets their servers: %s; on %s.\n\n", versions, time.Now().UTC().Format(time.DateOnly))
	fmt.Fprintf(&b, "| Cell | %s |\n|---%s|\n", strings.Join(columns, " | "), strings.Repeat("|---", len(columns)))
	for _, cell := range cells {
		fmt.Fprintf(&b, "| %s", cell)
		for _, direction := range columns {
			fmt.Fprintf(&b, " | %s", seen[[2]string{direction, cell}])
		}
		b.WriteString(" |\n")
	}
	b.WriteString("\nAn empty place is a cell that this direction does not have. Faults of the partners:\n\n")
	for i, fault := range reasons {
		fmt.Fprintf(&b, "%d. %s\n", i+1, fault)
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
