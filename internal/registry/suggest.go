package registry

import (
	"slices"
	"strings"
)

// nearest returns the candidate that was probably meant, or nothing.
func nearest(given string, candidates []string) string {
	const tooLong = 64
	best, distance := "", 1+max(1, len(given)/3)
	for _, c := range candidates {
		if len(given) > tooLong || len(c) > tooLong {
			continue
		}
		if d := edits(strings.ToLower(given), strings.ToLower(c)); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// edits is how many characters have to be put in, taken out, replaced or swapped
// with their neighbour.
func edits(a, b string) int {
	previous := make([]int, len(b)+1)
	current := make([]int, len(b)+1)
	before := make([]int, len(b)+1)
	for j := range current {
		current[j] = j
	}
	for i := range len(a) {
		before, previous, current = previous, current, before
		current[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			current[j+1] = min(previous[j+1]+1, current[j]+1, previous[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				current[j+1] = min(current[j+1], before[j-1]+1)
			}
		}
	}
	return current[len(b)]
}

// list writes choices for people.
func list(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	const most = 12
	if len(values) > most {
		values = append(slices.Clone(values[:most]), "…")
	}
	return strings.Join(values, ", ")
}
