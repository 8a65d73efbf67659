package id

import (
	"testing"
	"time"
)

func TestAnIDTellsItsKindAndWhenItWasMade(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, int(7*time.Millisecond), time.UTC)
	for _, kind := range []string{"ca", "act", "asgn"} {
		s := New(kind, at)
		if !IsValid(kind, s) || IsValid("usr", s) {
			t.Errorf("%q is not an id of kind %s alone", s, kind)
		}
		if got := TimeOf(s); !got.Equal(at) {
			t.Errorf("%s was made at %s, want %s", s, got, at)
		}
	}
}

func TestIDsSortByTheTimeTheyWereMade(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	floor, first, next := LowestAt("act", at), New("act", at), New("act", at.Add(time.Millisecond))
	if floor > first || first >= next || LowestAt("act", at.Add(time.Millisecond)) <= first {
		t.Errorf("%s, %s, %s are out of order", floor, first, next)
	}
}

func TestNoTwoIDsAreAlike(t *testing.T) {
	at, seen := time.Now(), map[string]bool{}
	for range 1000 {
		s := New("act", at)
		if seen[s] {
			t.Fatalf("%s twice", s)
		}
		seen[s] = true
	}
}

func BenchmarkNew(b *testing.B) {
	at := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		New("act", at)
	}
}
