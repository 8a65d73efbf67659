package billfile_test

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/testkit/seed"
)

// TestNumbering_AgreesWithTexts checks that rows of different blocks have the same number if their texts are equal.
func TestNumbering_AgreesWithTexts(t *testing.T) {
	r := seed.Random(t)
	numbering := bill.NewNumbering(func(s string) string { return s })
	found := map[string]int32{}
	for range 4 {
		file := randomParquet(t, r, manyRows, randomWordRow)
		columns := []string{"ResourceId"}
		_, err := billfile.ReadBlocks(t.Context(), columns, "f", inMemory(file), func(b *bill.Block) error {
			c := b.Texts["ResourceId"]
			numbering.Use(c)
			for row := range b.Rows {
				text, n := strings.Clone(c.At(row)), numbering.At(row)
				if was, ok := found[text]; ok && was != n || numbering.Text(n) != text {
					t.Fatalf("%q has the number %d, after %d, of %q", text, n, was, numbering.Text(n))
				}
				found[text] = n
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if numbering.Len() != len(found) || len(found) < 2 {
		t.Errorf("%d numbers of %d texts", numbering.Len(), len(found))
	}
}

// TestBlock_Keep leaves rows out of all columns, and does not change the blocks that follow.
func TestBlock_Keep(t *testing.T) {
	file := randomParquet(t, seed.Random(t), manyRows, randomWordRow)
	charges, _, err := readAll(cloud.FOCUSForm, "f", file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	totals, err := billfile.ReadBlocks(t.Context(), bill.Columns(), "f", inMemory(file), func(b *bill.Block) error {
		var odd []int32
		for row := 1; row < b.Rows; row += 2 {
			odd = append(odd, int32(row))
		}
		whole := describeRows(b)
		b.Keep(odd)
		kept := describeRows(b)
		for i, row := range odd {
			if kept[i] != whole[row] {
				t.Fatalf("row %d: %s, want %s", row, kept[i], whole[row])
			}
		}
		got = append(got, whole...)
		return nil
	})
	if err != nil || len(got) != len(charges) || totals.Rows != int64(len(charges)) {
		t.Errorf("%d rows, %d counted, of %d: %v", len(got), totals.Rows, len(charges), err)
	}
}
