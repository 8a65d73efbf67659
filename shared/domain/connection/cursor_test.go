package connection_test

import (
	"slices"
	"testing"

	"lamplighter.dev/shared/domain/connection"
)

func TestCursor_GoesAroundOnce(t *testing.T) {
	ids := []string{"d", "b", "a", "c"}
	for name, tt := range map[string]struct {
		at   connection.SyncCursor
		want []string
	}{
		"the first synchronization": {connection.SyncCursor{}, []string{"a", "b", "c", "d"}},
		"the next run of it":        {connection.SyncCursor{Last: "b"}, []string{"c", "d"}},
		"one that goes on after an unfinished one": {
			connection.SyncCursor{From: "b"},
			[]string{"c", "d", "a", "b"},
		},
		"its next run": {
			connection.SyncCursor{From: "b", Last: "d"},
			[]string{"a", "b"},
		},
		"its next run, behind the end of the ring": {
			connection.SyncCursor{From: "b", Last: "a"},
			[]string{"b"},
		},
		"one that is around": {connection.SyncCursor{From: "b", Last: "b"}, nil},
		"one whose last member has gone": {
			connection.SyncCursor{From: "b", Last: "cc"},
			[]string{"d", "a", "b"},
		},
		"one whose first member has gone": {
			connection.SyncCursor{From: "bb"},
			[]string{"c", "d", "a", "b"},
		},
		"one that began after the last member there was": {
			connection.SyncCursor{From: "z"},
			[]string{"a", "b", "c", "d"},
		},
	} {
		if got := tt.at.Left(ids); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v; want %v", name, got, tt.want)
		}
	}
}
