package rest_test

import (
	"fmt"
	"slices"
	"testing"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

type number struct {
	N   int    `json:"n"`
	Pad string `json:"pad,omitempty"`
}

// newShelf returns a store with a partition of n numbers, from 1.
func newShelf(t *testing.T, n int, pad string) table.Store {
	t.Helper()
	s := tabletest.New(t)
	ws := make([]table.Write, n)
	for i := range ws {
		it, err := table.NewItem(table.Key{PK: "P", SK: fmt.Sprintf("%06d", i+1)}, number{i + 1, pad})
		if err != nil {
			t.Fatal(err)
		}
		ws[i] = table.Put(it)
	}
	// 3 MB are more than a partition accepts in a second
	if err := table.NewPatientStore(s).BatchWrite(t.Context(), ws...); err != nil {
		t.Fatal(err)
	}
	return s
}

func numbers(items []number) (out []int) {
	for _, it := range items {
		out = append(out, it.N)
	}
	return out
}

func TestPages(t *testing.T) {
	s := newShelf(t, 25, "")
	odd := func(n number) bool { return n.N%2 == 1 }
	for name, c := range map[string]struct {
		page, limit int
		counted     []int
		filtered    []int // of the 13 odd ones
		trips       int
	}{
		"the first":       {1, 4, []int{25, 24, 23, 22}, []int{25, 23, 21, 19}, 1},
		"the second":      {2, 4, []int{21, 20, 19, 18}, []int{17, 15, 13, 11}, 1},
		"the last":        {7, 4, []int{1}, nil, 1},
		"behind the last": {8, 4, nil, nil, 0},
		"all at once": {
			1, 100,
			[]int{25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1},
			[]int{25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1},
			1,
		},
		"the last of the odd": {4, 4, []int{13, 12, 11, 10}, []int{1}, 1},
	} {
		r := rest.Reading[number]{Store: s, Page: rest.Page{Page: c.page, Limit: c.limit}}
		ctx, meter := table.WithMeter(t.Context())
		got, err := r.Counted(ctx, table.Query{PK: "P", Reverse: true}, 25)
		if err != nil || got.Total != 25 || got.Page != c.page || !slices.Equal(numbers(got.Items), c.counted) ||
			meter.Usage().RoundTrips != c.trips {
			t.Errorf("%s: %v of %d in %d round trips, %v", name, numbers(got.Items), got.Total,
				meter.Usage().RoundTrips, err)
		}
		got, err = r.Filtered(t.Context(), table.Query{PK: "P", Reverse: true}, odd)
		if err != nil || got.Total != 13 || !slices.Equal(numbers(got.Items), c.filtered) {
			t.Errorf("%s of the odd: %v of %d, %v", name, numbers(got.Items), got.Total, err)
		}
	}
}

func TestAFilterLooksAtSoMany(t *testing.T) {
	s := newShelf(t, rest.Looked+1500, "")
	r := rest.Reading[number]{Store: s, Page: rest.Page{Page: 1, Limit: 5}}
	got, err := r.Filtered(t.Context(), table.Query{PK: "P"}, func(number) bool { return true })
	if err != nil || got.Total != rest.Looked {
		t.Errorf("%d were looked at, %v", got.Total, err)
	}
}

func TestAPageThatTheStoreGivesInParts(t *testing.T) {
	s := newShelf(t, 100, fmt.Sprintf("%030000d", 0)) // 3 MB, and the store reads one megabyte at a time
	r := rest.Reading[number]{Store: s, Page: rest.Page{Page: 1, Limit: 100}}
	ctx, meter := table.WithMeter(t.Context())
	got, err := r.Counted(ctx, table.Query{PK: "P"}, 100)
	if err != nil || len(got.Items) != 100 || got.Items[99].N != 100 || meter.Usage().RoundTrips < 3 {
		t.Errorf("%d in %d round trips, %v", len(got.Items), meter.Usage().RoundTrips, err)
	}
}

func TestReading_OfAStoreThatIsDownFails(t *testing.T) {
	down := table.NewFaultyStore(tabletest.New(t), clock.System{}, table.Injection{Harm: table.FailBefore})
	r := rest.Reading[number]{Store: down, Page: rest.Page{Page: 1, Limit: 5}}
	if _, err := r.Counted(t.Context(), table.Query{PK: "P"}, 7); err == nil {
		t.Error("a store that is down is read")
	}
	if _, err := r.Filtered(t.Context(), table.Query{PK: "P"}, nil); err == nil {
		t.Error("a store that is down is searched")
	}
}
