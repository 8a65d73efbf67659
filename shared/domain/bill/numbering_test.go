package bill_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"lamplighter.dev/shared/domain/bill"
)

// number gives numbers to texts, each in a row of its own.
func number(into *bill.Numbering[string], texts []string) []int32 {
	rows := make([]int32, len(texts))
	for i := range rows {
		rows[i] = int32(i)
	}
	into.Use(&bill.Column[string]{Words: texts, Numbers: rows})
	for i := range rows {
		rows[i] = into.At(i)
	}
	return rows
}

func newTextNumbering() *bill.Numbering[string] {
	return bill.NewNumbering(func(s string) string { return s })
}

func TestNumbering_ReturnsTextsOfAllLengths(t *testing.T) {
	var texts []string
	for i, length := range []int{0, 1, 1 << 10, 1<<10 + 1, 2 << 10, 3, 256 << 10, 256<<10 + 1, 1 << 20, 7, 200 << 10} {
		texts = append(texts, strings.Repeat(string(rune('a'+i)), length))
	}
	numbering := newTextNumbering()
	for i, n := range number(numbering, append(texts, texts...)) {
		text := texts[i%len(texts)]
		if int(n) != i%len(texts)+1 || numbering.Text(n) != text {
			t.Errorf("the text of %d bytes has the number %d, of a text of %d bytes", len(text), n,
				len(numbering.Text(n)))
		}
	}
	if numbering.Len() != len(texts) {
		t.Errorf("%d numbers of %d texts", numbering.Len(), len(texts))
	}
}

func TestNumbering_CopiesEachTextOnce(t *testing.T) {
	texts, bytes := make([]string, 100_000), 0
	for i := range texts {
		texts[i] = strings.Repeat("x", 200) + strconv.Itoa(i)
		bytes += len(texts[i])
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	number(newTextNumbering(), texts)
	runtime.ReadMemStats(&after)
	if taken := int(after.TotalAlloc - before.TotalAlloc); taken > 2*bytes {
		t.Errorf("%d bytes were allocated for texts of %d bytes", taken, bytes)
	}
}
