package partner_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// cell is one thing that two implementations do together. Its error says what
// did not work.
type cell struct {
	name string
	run  func(ctx context.Context) error
}

// faults are the cells that cannot pass, by direction and name, with what is
// wrong with the partner. One that passes fails the test: the list only shrinks.
var faults = map[string]string{
	goSDK + clientDirection + "/subscribe to an ended task": "a2a-go v2.4.0 reads the answer to a subscription as a stream without looking at its content type, so that a plain JSON error is a stream without events (specification 1.0.1, sections 9.4.2 and 9.5)",
	goSDK + serverDirection + "/subscribe to an ended task": "a2a-go v2.4.0 forgets that a task was executed once it has ended, and says task not found (specification 1.0.1, section 3.1.6, asks for UnsupportedOperationError)",
	goSDK + serverDirection + "/version refusal":            "a2a-go v2.4.0 does not look at A2A-Version (specification 1.0.1, section 3.6.2)",
}

// directions are all columns of the matrix.
var directions = []string{
	goSDK + clientDirection, goSDK + nginxDirection, goSDK + serverDirection,
	python.name + clientDirection, python.name + nginxDirection, python.name + serverDirection,
	javascript.name + clientDirection, javascript.name + nginxDirection, javascript.name + serverDirection,
}

const (
	goSDK           = "a2a-go"
	clientDirection = " client"
	nginxDirection  = " client through nginx"
	serverDirection = " server"
)

// runCells runs a direction of the matrix and prints its column.
func runCells(t *testing.T, direction string, cells []cell) {
	t.Helper()
	var column strings.Builder
	known := map[string]bool{}
	for _, c := range cells {
		known[direction+"/"+c.name] = true
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		err := c.run(ctx)
		cancel()
		reason, listed := faults[direction+"/"+c.name]
		verdict := "ok"
		result := outcome{direction: direction, cell: c.name, failed: err != nil && !listed || err == nil && listed}
		switch {
		case err != nil && listed:
			verdict, result.fault = "partner's fault: "+reason, reason
		case err != nil:
			verdict = "FAIL"
			t.Errorf("%s: %s: %v", direction, c.name, err)
		case listed:
			t.Errorf("%s: %s passes; take it off the list of faults", direction, c.name)
		}
		record(result)
		fmt.Fprintf(&column, "  %-32s %s\n", c.name, verdict)
	}
	for _, key := range slices.Sorted(maps.Keys(faults)) {
		if strings.HasPrefix(key, direction+"/") && !known[key] {
			t.Errorf("the list of faults names %q, which is no cell", key)
		}
	}
	t.Logf("%s\n%s", direction, column.String())
}

// The list of faults names directions that there are; their cells are looked at
// by [runCells].
func TestFaultsHaveADirection(t *testing.T) {
	for key, reason := range faults {
		if reason == "" || !slices.ContainsFunc(directions, func(d string) bool { return strings.HasPrefix(key, d+"/") }) {
			t.Errorf("the list of faults has %q, which is no direction and cell with a reason", key)
		}
	}
}

// poll calls try every few milliseconds until it is done or fails.
func poll(ctx context.Context, try func() (done bool, err error)) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if done, err := try(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
