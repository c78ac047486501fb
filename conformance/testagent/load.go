package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/legation/legation/agent"
)

// The prefixes of messages that ask for load, as in stream:1000:50: so many
// updates, after so many milliseconds.
const (
	streamLoad = "stream:"
	chunksLoad = "chunks:"
)

// What one message may ask for.
const (
	maxUpdates = 100_000
	maxPause   = 10 * time.Minute
)

// load puts out updates as fast as they are taken. What is no such message
// after all is echoed, and one that asks for too much is rejected.
func load(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	kind, n, pause, ok := parseLoad(firstText(turn.Message))
	if !ok {
		return echo(ctx, turn, out)
	}
	if n > maxUpdates || pause > maxPause {
		return agent.Rejected(fmt.Sprintf("At most %d updates after at most %d milliseconds.", maxUpdates, maxPause/time.Millisecond)), nil
	}
	if err := wait(ctx, pause); err != nil {
		return agent.Outcome{}, err
	}
	for i := range n {
		var err error
		if kind == streamLoad {
			err = out.Status(ctx, nil)
		} else {
			err = piece(ctx, out, strconv.Itoa(i+1)+" ", i == n-1)
		}
		if err != nil {
			return agent.Outcome{}, err
		}
	}
	return agent.Completed(), nil
}

// parseLoad reads KIND:N:D. Whatever follows after white space is padding.
func parseLoad(text string) (kind string, n int, pause time.Duration, ok bool) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return "", 0, 0, false
	}
	fields := strings.Split(words[0], ":")
	if len(fields) != 3 {
		return "", 0, 0, false
	}
	count, err1 := strconv.ParseUint(fields[1], 10, 31)
	millis, err2 := strconv.ParseUint(fields[2], 10, 31)
	return fields[0] + ":", int(count), time.Duration(millis) * time.Millisecond, err1 == nil && err2 == nil
}
