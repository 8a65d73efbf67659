package memo

import (
	"errors"
	"strconv"
	"sync"
	"testing"
)

func atoi(text []byte) (int, error) { return strconv.Atoi(string(text)) }

// counting returns a memo of atoi, and the number of its calls.
func counting() (*Memo[int], *int) {
	n := 0
	return New(func(text []byte) (int, error) {
		n++
		return atoi(text)
	}), &n
}

// expect requires that m returns n for its text.
func expect(t *testing.T, m *Memo[int], n int) {
	t.Helper()
	if v, err := m.Of([]byte(strconv.Itoa(n))); v != n || err != nil {
		t.Errorf("%d became %d, %v", n, v, err)
	}
}

func TestATextIsWorkedOutOnce(t *testing.T) {
	m, worked := counting()
	for range 3 {
		expect(t, m, 42)
	}
	if *worked != 1 {
		t.Errorf("worked %d times", *worked)
	}
	expect(t, m, 43)
}

func TestBytesThatChangeAfterwardsDoNotChangeWhatIsRemembered(t *testing.T) {
	m, _ := counting()
	text := []byte("12")
	for _, want := range []int{12, 92} {
		if v, err := m.Of(text); v != want || err != nil {
			t.Errorf("%s: got %d, %v", text, v, err)
		}
		text[0] = '9'
	}
	expect(t, m, 12)
}

func TestAnErrorIsNotRemembered(t *testing.T) {
	fails := true
	m := New(func([]byte) (bool, error) {
		if fails {
			return false, errors.New("not now")
		}
		return true, nil
	})
	if _, err := m.Of([]byte("x")); err == nil {
		t.Error("no error")
	}
	fails = false
	if v, err := m.Of([]byte("x")); !v || err != nil {
		t.Error(v, err)
	}
}

func TestItIsBounded(t *testing.T) {
	m, _ := counting()
	for i := range 3 * maxEntries {
		expect(t, m, i)
		if len(m.m) > maxEntries {
			t.Fatalf("%d answers are held", len(m.m))
		}
	}
}

func TestManyMayAskAtOnce(t *testing.T) {
	m := New(atoi)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 2 * maxEntries {
				expect(t, m, i)
			}
		})
	}
	all.Wait()
}

func TestALookUpAllocatesNothing(t *testing.T) {
	m := New(atoi)
	text := []byte("123456789012345678")
	n := testing.AllocsPerRun(100, func() {
		if _, err := m.Of(text); err != nil {
			t.Error(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
