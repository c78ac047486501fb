// Command cover compares a coverage profile with a floor: every named package
// must have at least so many percent of its statements covered. Generated files
// (*_gen.go) do not count.
//
// It only reads the profile; go test writes it.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
)

const module = "github.com/legation/legation"

// count is how many statements of a package there are, and how many ran.
type count struct{ all, covered int }

func (c count) percent() float64 {
	if c.all == 0 {
		return 0
	}
	return 100 * float64(c.covered) / float64(c.all)
}

func main() {
	profile := flag.String("profile", "", "coverage profile written by go test")
	floor := flag.Float64("floor", 85, "least coverage of each package, in percent")
	flag.Parse()
	if err := run(os.Stdout, *profile, *floor, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "cover: error:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, profile string, floor float64, packages []string) error {
	file, err := os.Open(profile)
	if err != nil {
		return err
	}
	defer file.Close()
	counts, err := read(file)
	if err != nil {
		return fmt.Errorf("%s: %w", profile, err)
	}
	var low []string
	for _, name := range packages {
		c := counts[name]
		fmt.Fprintf(out, "coverage %-10s %5.1f %%  (%d of %d statements, at least %g %%)\n", name, c.percent(), c.covered, c.all, floor)
		if c.percent() < floor {
			low = append(low, name)
		}
	}
	if len(low) > 0 {
		return fmt.Errorf("too little of %s is covered", strings.Join(low, ", "))
	}
	return nil
}

// read sums a profile by package. A block that occurs more than once, because
// several test binaries ran it, counts once, as covered if any of them did.
func read(r io.Reader) (map[string]count, error) {
	type block struct {
		statements int
		covered    bool
	}
	blocks := make(map[string]block)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "mode:") {
			continue
		}
		// file.go:1.2,3.4 statements count
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("not a line of a coverage profile: %q", line)
		}
		statements, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, fmt.Errorf("not a line of a coverage profile: %q", line)
		}
		blocks[fields[0]] = block{statements, blocks[fields[0]].covered || fields[2] != "0"}
	}
	counts := make(map[string]count)
	for where, b := range blocks {
		file, _, _ := strings.Cut(where, ":")
		if strings.HasSuffix(file, "_gen.go") {
			continue
		}
		name := strings.TrimPrefix(path.Dir(file), module+"/")
		c := counts[name]
		c.all += b.statements
		if b.covered {
			c.covered += b.statements
		}
		counts[name] = c
	}
	return counts, lines.Err()
}
