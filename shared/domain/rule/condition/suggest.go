package condition

import (
	"fmt"

	"lamplighter.dev/shared/foundation/fault"
)

// maxShown is the number of characters of a foreign value that an error shows.
const maxShown = 60

// show returns a foreign text for an error, cut to a readable length.
func show(text string) string { return fault.CleanText(text, maxShown) }

// suggest returns "; the nearest name is x" for the known name that differs from a name in the fewest letters, or ""
// if all differ in more than half of them.
func suggest(name string, known []string) string {
	best, least := "", max(len(name)/2, 2)+1
	for _, k := range known {
		if d := distance(name, k, least); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; the nearest name is %q", best)
}

// distance returns the number of bytes to insert, delete or replace to turn a into b, or limit if there are at least
// as many.
func distance(a, b string, limit int) int {
	if max(len(a)-len(b), len(b)-len(a)) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return min(row[len(b)], limit)
}
