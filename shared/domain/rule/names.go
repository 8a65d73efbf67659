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

// nearest returns a hint at the name that is most like a wrong one; "" if none is.
func nearest(name string, names []string) string {
	best, least := "", len(name)/2+1
	for _, n := range names {
		if d := distance(name, n); d < least {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return "; the nearest name is " + best
}

// distance returns how many characters must be added, removed or replaced to make one text of another.
func distance(a, b string) int {
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
	return row[len(b)]
}
