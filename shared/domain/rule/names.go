package rule

// factNames lists the names of the facts of a type.
func factNames(kind string) []string {
	var out []string
	for _, f := range FactsOf(kind) {
		if f.Origin != OfChange {
			out = append(out, f.Name)
		}
	}
	return out
}

// metricNames lists the names of the metrics of a type.
func metricNames(kind string) []string {
	var out []string
	for _, m := range MetricsOf(kind) {
		out = append(out, m.Name)
	}
	return out
}

// Nearest returns a hint at the known name that differs from a wrong one in the fewest letters: "; the nearest name is
// state". It returns "" if all differ in more than half of them.
func Nearest(name string, known []string) string {
	best, least := "", max(len(name)/2, 2)+1
	for _, k := range known {
		if d := distance(name, k, least); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return "; the nearest name is " + best
}

// distance returns how many bytes must be added, removed or replaced to make one text of another, or limit if there are
// at least as many.
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
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}
