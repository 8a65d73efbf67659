package main

import (
	"bufio"
	"strings"
	"unicode/utf8"
)

const (
	// tableRows is how many rows have the same widths. A longer table is printed in parts of this size.
	tableRows = 500
	// leastWidth is the width below which no column is cut.
	leastWidth = 8
	columnGap  = 2
)

// tableWriter prints aligned columns. In a terminal it cuts the widest columns, so that a row fits a line.
type tableWriter struct {
	out     *bufio.Writer
	columns []column
	width   int // of the terminal; 0 is none
	rows    [][]string
	headed  bool
}

func (w *tableWriter) write(r record) error {
	cells := make([]string, len(w.columns))
	for i, c := range w.columns {
		if cells[i] = cleanLine(r.text(c.path)); cells[i] == "" {
			cells[i] = "-"
		}
	}
	if w.rows = append(w.rows, cells); len(w.rows) >= tableRows {
		return w.flush()
	}
	return nil
}

func (w *tableWriter) end() error { return w.flush() }

// flush prints the collected rows. A table without rows has its heads, too.
func (w *tableWriter) flush() error {
	rows := w.rows
	w.rows = nil
	if !w.headed {
		w.headed = true
		heads := make([]string, len(w.columns))
		for i, c := range w.columns {
			heads[i] = strings.ToUpper(c.head)
		}
		rows = append([][]string{heads}, rows...)
	}
	widths := w.widths(rows)
	right := numeric(rows[min(1, len(rows)):], len(w.columns))
	for _, r := range rows {
		if _, err := w.out.WriteString(alignRow(r, widths, right) + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// widths returns the width of each column.
func (w *tableWriter) widths(rows [][]string) []int {
	widths := make([]int, len(w.columns))
	for _, r := range rows {
		for i, cell := range r {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	if w.width == 0 {
		return widths
	}
	for over := sumWidths(widths) - w.width; over > 0; over-- {
		widest := 0
		for i := range widths {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= leastWidth {
			break
		}
		widths[widest]--
	}
	return widths
}

func sumWidths(widths []int) int {
	sum := columnGap * (len(widths) - 1)
	for _, n := range widths {
		sum += n
	}
	return sum
}

// numeric reports of each column whether it holds only numbers, and one at least.
func numeric(rows [][]string, columns int) []bool {
	out := make([]bool, columns)
	for i := range out {
		some, all := false, true
		for _, r := range rows {
			isNumber := plainNumber.MatchString(r[i])
			some, all = some || isNumber, all && (isNumber || r[i] == "-")
		}
		out[i] = some && all
	}
	return out
}

// alignRow returns a line without trailing space. Columns of right are aligned to the right.
func alignRow(cells []string, widths []int, right []bool) string {
	var b strings.Builder
	for i, cell := range cells {
		if n := utf8.RuneCountInString(cell); n > widths[i] {
			cell = string([]rune(cell)[:widths[i]-1]) + "…"
		}
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if right[i] {
			cell, pad = pad+cell, ""
		}
		b.WriteString(cell + pad + strings.Repeat(" ", columnGap))
	}
	return strings.TrimRight(b.String(), " ")
}
