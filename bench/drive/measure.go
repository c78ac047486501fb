package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// load is something done to a server again and again.
type load struct {
	name    string
	clients int
	unit    string // what is counted
	per     int    // how many of them one operation is
	servers []string

	// client returns one operation of one client, bound to its connection. It
	// is called once for each client before anything is measured.
	client func(s *server, c *conn) (operation, error)

	// idle is for how long each operation waits on purpose; that time does not
	// count.
	idle time.Duration
}

// operation does one operation. One client does one after the other.
type operation func() error

// most bounds the operations of a client in one round.
const most = 1_000_000

// result is what one round of a load came to.
type result struct {
	rate float64       // units per second
	cpu  time.Duration // of the server, per unit
}

// measure runs a load against a server for a while.
func measure(ctx context.Context, l *load, s *server, d time.Duration) (result, error) {
	clients := make([]operation, l.clients)
	for i := range clients {
		c, err := dial(s.address)
		if err != nil {
			return result{}, err
		}
		defer c.Close()
		defer context.AfterFunc(ctx, func() { c.Close() })()
		if clients[i], err = l.client(s, c); err != nil {
			return result{}, err
		}
	}
	if _, err := repeat(ctx, clients, 0); err != nil { // once each, to warm up
		return result{}, err
	}
	cpu, began := s.cpu(), time.Now()
	done, err := repeat(ctx, clients, d)
	elapsed := time.Since(began) - time.Duration(done/l.clients)*l.idle
	cpu = s.cpu() - cpu
	if err != nil {
		return result{}, err
	}
	units := float64(done * l.per)
	return result{rate: units / elapsed.Seconds(), cpu: time.Duration(float64(cpu) / units)}, nil
}

// repeat has all clients work for a while, each at least once, and returns how
// many operations were done.
func repeat(ctx context.Context, clients []operation, d time.Duration) (int, error) {
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		done int
		errs error
		end  = time.Now().Add(d)
	)
	for _, op := range clients {
		wg.Go(func() {
			n, err := 0, error(nil)
			for n == 0 || n < most && time.Now().Before(end) {
				if err = op(); err != nil {
					break
				}
				n++
			}
			mu.Lock()
			defer mu.Unlock()
			done += n
			errs = errors.Join(errs, err)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return done, context.Cause(ctx)
	}
	return done, errs
}

// row is what all rounds of a load came to.
type row struct {
	load    *load
	results map[string]result    // by server: medians
	rates   map[string][]float64 // by server, of each round
}

// rounds runs a load against all servers in turns.
func (b *bench) rounds(ctx context.Context, l *load, servers map[string]*server) (row, error) {
	rates, cpus := make(map[string][]float64), make(map[string][]time.Duration)
	for round := range b.settings.rounds {
		for i := range l.servers {
			name := l.servers[(round+i)%len(l.servers)] // each begins a round in turn
			r, err := measure(ctx, l, servers[name], b.time)
			if err != nil {
				return row{}, fmt.Errorf("%s, %s: %w", l.name, name, err)
			}
			rates[name] = append(rates[name], r.rate)
			cpus[name] = append(cpus[name], r.cpu)
		}
	}
	out := row{load: l, results: make(map[string]result), rates: rates}
	for _, name := range l.servers {
		out.results[name] = result{rate: median(rates[name]), cpu: median(cpus[name])}
	}
	return out, nil
}

// median is the middle value, or the lower of the two middle ones.
func median[T float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
