package index

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
)

// namedRow is a row with its name in lower case, so that a comparison need not look for it.
type namedRow struct {
	name string
	row  int32
}

// sortByName sorts rows by name and uid, as the comparison of NameOrder does: in parts beside each other when they are
// many. It takes 24 bytes for each row until it returns.
func (st *State) sortByName(rows []int32) []int32 {
	named := make([]namedRow, len(rows))
	for i, n := range rows {
		named[i] = namedRow{st.textOf(st.cell(n)).lowerName, n}
	}
	compare := func(a, b namedRow) int {
		if c := cmp.Compare(a.name, b.name); c != 0 {
			return c
		}
		return cmp.Compare(st.Row(a.row).UID(), st.Row(b.row).UID())
	}
	parts := sortParts(named, compare)
	for i := range rows {
		rows[i] = takeLeast(parts, compare).row
	}
	return rows
}

// alone is how many rows are sorted by one goroutine.
const alone = 20_000

// sortParts sorts parts of rows beside each other, one for each processor.
func sortParts(rows []namedRow, compare func(a, b namedRow) int) [][]namedRow {
	count := min(runtime.GOMAXPROCS(0), len(rows)/alone+1)
	parts := slices.Collect(slices.Chunk(rows, len(rows)/count+1))
	var sorted sync.WaitGroup
	for _, part := range parts {
		sorted.Go(func() {
			if !slices.IsSortedFunc(part, compare) {
				slices.SortFunc(part, compare)
			}
		})
	}
	sorted.Wait()
	return parts
}

// takeLeast removes the least row from the beginnings of parts.
func takeLeast(parts [][]namedRow, compare func(a, b namedRow) int) namedRow {
	least := -1
	for i := range parts {
		if len(parts[i]) > 0 && (least < 0 || compare(parts[i][0], parts[least][0]) < 0) {
			least = i
		}
	}
	out := parts[least][0]
	parts[least] = parts[least][1:]
	return out
}
