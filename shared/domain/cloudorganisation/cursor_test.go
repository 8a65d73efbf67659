package cloudorganisation_test

import (
	"slices"
	"testing"

	"lamplighter.dev/shared/domain/cloudorganisation"
)

func TestCursor_GoesAroundOnce(t *testing.T) {
	ids := []string{"d", "b", "a", "c"}
	for name, tt := range map[string]struct {
		at   cloudorganisation.Cursor
		want []string
	}{
		"the first synchronization": {cloudorganisation.Cursor{}, []string{"a", "b", "c", "d"}},
		"the next run of it":        {cloudorganisation.Cursor{Last: "b"}, []string{"c", "d"}},
		"one that goes on after an unfinished one": {cloudorganisation.Cursor{From: "b"},
			[]string{"c", "d", "a", "b"}},
		"its next run": {cloudorganisation.Cursor{From: "b", Last: "d"},
			[]string{"a", "b"}},
		"its next run, behind the end of the ring": {cloudorganisation.Cursor{From: "b", Last: "a"},
			[]string{"b"}},
		"one that is around": {cloudorganisation.Cursor{From: "b", Last: "b"}, nil},
		"one whose last member has gone": {cloudorganisation.Cursor{From: "b", Last: "cc"},
			[]string{"d", "a", "b"}},
		"one whose first member has gone": {cloudorganisation.Cursor{From: "bb"},
			[]string{"c", "d", "a", "b"}},
		"one that began after the last member there was": {cloudorganisation.Cursor{From: "z"},
			[]string{"a", "b", "c", "d"}},
	} {
		if got := tt.at.Left(ids); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v; want %v", name, got, tt.want)
		}
	}
}
