package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc, the same on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// cpu is the processor time that a server has used. It is known on Linux only;
// elsewhere it stays zero.
func (s *server) cpu() time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	// The name of the program, in parentheses, may hold spaces (proc_pid_stat(5)).
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	if err != nil || err2 != nil {
		return 0
	}
	return time.Duration(user+system) * tick
}

// resident is how much memory a server holds, in bytes; zero where that is not
// known.
func (s *server) resident() int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return 0
	}
	kilobytes, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}

// syncsPerSecond is how often the disk takes 4 KiB for good in a second, one
// after the other. The file it writes is left in dir.
func syncsPerSecond(dir string, d time.Duration) (float64, error) {
	file, err := os.Create(filepath.Join(dir, "syncs"))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	page := make([]byte, 4096)
	count, began := 0, time.Now()
	for ; time.Since(began) < d && count < 1_000_000; count++ {
		if _, err := file.Write(page); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
	}
	return float64(count) / time.Since(began).Seconds(), nil
}
