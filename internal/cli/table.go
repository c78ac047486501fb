package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
)

// printTable writes rows below a heading. Where there are none it says so, in
// the words given.
func printTable(io streams, heading []string, rows [][]string, none string) error {
	if len(rows) == 0 {
		fmt.Fprintln(io.err, none)
		return nil
	}
	w := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
	_, err := fmt.Fprintln(w, strings.Join(heading, "\t"))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cells[i] = line(cell, maxProse); cells[i] == "" {
				cells[i] = "-"
			}
		}
		_, bad := fmt.Fprintln(w, strings.Join(cells, "\t"))
		err = errors.Join(err, bad)
	}
	return errors.Join(err, w.Flush())
}

// agreed asks the person at the terminal, and takes nothing but a yes for one.
func agreed(ctx context.Context, io streams, question string) (bool, error) {
	fmt.Fprintf(io.err, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(io.in).ReadString('\n') // called off by the end of the process
		answer <- strings.ToLower(strings.TrimSpace(text))
	}()
	select {
	case text := <-answer:
		return text == "y" || text == "yes", nil
	case <-ctx.Done():
		fmt.Fprintln(io.err)
		return false, ctx.Err()
	}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// printNote tells a person something beside the result.
func printNote(io streams, words string) { fmt.Fprintln(io.err, line(words, maxProse)) }

// counted is a number of things: "1 problem", "2 problems".
func counted[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if word, ok := strings.CutSuffix(what, "ry"); ok {
		what = word + "rie"
	}
	return fmt.Sprintf("%d %ss", n, what)
}
