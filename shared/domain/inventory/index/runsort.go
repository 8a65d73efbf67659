package index

import "slices"

// manyRuns is the average number of rows per run from which merging is faster than sorting.
const manyRuns = 64

// sortRuns sorts rows that consist mostly of ordered runs, like chunks do, by merging the runs in pairs. It sorts rows
// without order directly.
func sortRuns(rows []int32, compare func(a, b int32) int) []int32 {
	runs := cutRuns(rows, compare)
	if len(runs)*manyRuns > len(rows) {
		slices.SortFunc(rows, compare)
		return rows
	}
	from, to := rows, make([]int32, 0, len(rows))
	for len(runs) > 1 {
		next := runs[:0:0]
		for pair := range slices.Chunk(runs, 2) {
			begin := len(to)
			to = mergeRuns(to, pair, compare)
			next = append(next, to[begin:len(to):len(to)])
		}
		runs, from, to = next, to, from[:0]
	}
	return from
}

// cutRuns splits rows where a row does not follow the one before.
func cutRuns(rows []int32, compare func(a, b int32) int) (runs [][]int32) {
	for from, to := 0, 1; to <= len(rows); to++ {
		if to == len(rows) || compare(rows[to-1], rows[to]) > 0 {
			runs, from = append(runs, rows[from:to]), to
		}
	}
	return runs
}

// mergeRuns appends one run, or two merged, to out.
func mergeRuns(out []int32, runs [][]int32, compare func(a, b int32) int) []int32 {
	a, b := runs[0], runs[len(runs)-1]
	if len(runs) == 1 {
		return append(out, a...)
	}
	for len(a) > 0 && len(b) > 0 {
		if compare(a[0], b[0]) <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
