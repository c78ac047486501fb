package main

import (
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// facts are what the figures depend on, a line each.
func facts(bin, dir, busy string, syncs float64, s settings) []string {
	return []string{
		"Date: " + time.Now().UTC().Format(time.DateOnly),
		fmt.Sprintf("Machine: %s, %d cores, %s/%s; the driver and the servers share it", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH),
		fmt.Sprintf("Disk: %s fsyncs of 4 KiB a second%s", thousands(int64(syncs)), inMemory(dir)),
		"Other work on the machine: " + busy,
		"Go: " + strings.TrimPrefix(runtime.Version(), "go"),
		"Peer: a2a-go " + peerVersion(bin),
		fmt.Sprintf("Figures: medians of %d rounds of %v, in turns", s.rounds, s.time),
	}
}

func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	_, rest, found := strings.Cut(string(data), "model name")
	if !found {
		return "unknown processor"
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strings.Join(strings.Fields(strings.TrimLeft(line, "\t :")), " ")
}

// loadAverage says how busy the machine was in the minute before.
func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	first, _, found := strings.Cut(string(data), " ")
	if err != nil || !found {
		return "unknown"
	}
	return "load average " + first + " at the start"
}

// inMemory warns of a directory that is not on a disk.
func inMemory(dir string) string {
	data, err := os.ReadFile("/proc/mounts")
	path, err2 := filepath.Abs(dir)
	if err != nil || err2 != nil {
		return ""
	}
	best, kind := "", ""
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) > 2 && len(fields[1]) >= len(best) && strings.HasPrefix(path+"/", strings.TrimSuffix(fields[1], "/")+"/") {
			best, kind = fields[1], fields[2]
		}
	}
	if kind == "tmpfs" || kind == "ramfs" {
		return " — **" + kind + " is memory and no disk: choose another directory with --dir**"
	}
	return ""
}

func peerVersion(bin string) string {
	info, err := buildinfo.ReadFile(filepath.Join(bin, peer))
	if err != nil {
		return "of unknown version"
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/a2aproject/a2a-go/v2" {
			return m.Version
		}
	}
	return "of unknown version"
}

// report prints everything as Markdown.
func report(w io.Writer, facts []string, rows []row, m memory) {
	for _, fact := range facts {
		fmt.Fprintln(w, "- "+fact)
	}
	var beside, called []row
	for _, r := range rows {
		if slices.Contains(r.load.servers, open) {
			called = append(called, r)
		} else {
			beside = append(beside, r)
		}
	}
	if len(beside) > 0 {
		reportLoads(w, beside)
	}
	if len(called) > 0 {
		reportCallers(w, called)
	}
	if m.subscriptions > 0 {
		reportMemory(w, m)
	}
}

func reportLoads(w io.Writer, rows []row) {
	fmt.Fprint(w, "\n| Load | Clients | Ours, per second | a2a-go | net/http | Ours to a2a-go | Ours to net/http | CPU of ours, each | a2a-go | net/http |\n")
	fmt.Fprint(w, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %d | %s %s | %s | %s | %s | %s | %s | %s | %s |\n",
			r.load.name, r.load.clients, r.rate(ours), r.load.unit, r.rate(peer), r.rate(floor),
			r.ratio(peer), r.ratio(floor), r.cpu(ours), r.cpu(peer), r.cpu(floor))
	}
}

// What a server that knows its callers is to reach of what an open one does.
const (
	aimKey = 0.85
	aimJWT = 0.75
)

func reportCallers(w io.Writer, rows []row) {
	fmt.Fprint(w, "\n| Load | Clients | Open, per second | API key | JWT | API key to open | Aim | JWT to open | Aim | CPU of open, each | API key | JWT |\n")
	fmt.Fprint(w, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %d | %s %s | %s | %s | %.2f× | %.2f× | %.2f× | %.2f× | %s | %s | %s |\n",
			r.load.name, r.load.clients, r.rate(open), r.load.unit, r.rate(key), r.rate(jwt),
			r.inTurns(key, open), aimKey, r.inTurns(jwt, open), aimJWT, r.cpu(open), r.cpu(key), r.cpu(jwt))
	}
}

func reportMemory(w io.Writer, m memory) {
	fmt.Fprint(w, "\n| Memory | Ours | a2a-go | net/http |\n|---|--:|--:|--:|\n")
	fmt.Fprintf(w, "| resident, asked nothing | %s | %s | %s |\n", mebibytes(m.idle[ours]), mebibytes(m.idle[peer]), mebibytes(m.idle[floor]))
	for _, over := range []struct {
		what string
		each int64
	}{{"plain HTTP", m.plain}, {"TLS", m.secure}} {
		fmt.Fprintf(w, "| for each of %d idle subscriptions over %s | %.1f KiB | not measured | not measured |\n", m.subscriptions, over.what, float64(over.each)/1024)
	}
	if m.subscriptions < 10_000 {
		fmt.Fprintf(w, "\nFor 10,000 subscriptions over plain HTTP that would be %s, extrapolated from %d.\n", mebibytes(m.idle[ours]+10_000*m.plain), m.subscriptions)
	}
}

const none = "n/a"

func (r row) rate(name string) string {
	got, measured := r.results[name]
	if !measured {
		return none
	}
	if got.rate < 100 {
		return fmt.Sprintf("%.1f", got.rate)
	}
	return thousands(int64(got.rate + 0.5))
}

func (r row) ratio(to string) string {
	got, measured := r.results[to]
	if !measured || got.rate == 0 {
		return none
	}
	return fmt.Sprintf("%.2f×", r.results[ours].rate/got.rate)
}

// inTurns is the median of the ratios of the rounds: what else the machine does
// meets both sides of a ratio, and differs from round to round.
func (r row) inTurns(name, to string) float64 {
	ratios := make([]float64, len(r.rates[name]))
	for i, rate := range r.rates[name] {
		ratios[i] = rate / r.rates[to][i]
	}
	return median(ratios)
}

func (r row) cpu(name string) string {
	got, measured := r.results[name]
	if !measured || got.cpu == 0 {
		return none
	}
	return fmt.Sprintf("%.1f µs", float64(got.cpu)/float64(time.Microsecond))
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// thousands writes a number with commas.
func thousands(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
