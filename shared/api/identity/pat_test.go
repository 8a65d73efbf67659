package identity

import (
	"bytes"
	"crypto/rand"
	"hash/crc32"
	"math"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

func TestAPersonalAccessTokenIsSpelledSoThatScannersKnowIt(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		secret := NewPAT()
		hash, err := ParsePAT(secret)
		if err != nil || len(secret) != 42 || !strings.HasPrefix(secret, "lampp_") || len(hash) != 43 ||
			strings.Contains(hash, secret[6:]) {
			t.Fatalf("%q, hash %q, %v", secret, hash, err)
		}
		if seen[secret] || seen[hash] {
			t.Fatalf("%q came twice", secret)
		}
		seen[secret], seen[hash] = true, true
	}
}

// The test computes the checksum in another way, so that a scanner can be written from the description alone.
func TestTheChecksumIsCRC32InBase62(t *testing.T) {
	for _, s := range []string{
		"lampp_000000000000000000000000000000", "lampp_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
		NewPAT()[:36],
	} {
		value := uint64(0)
		for _, c := range []byte(appendChecksum(s))[36:] {
			value = value*62 + uint64(strings.IndexByte(base62, c)) //nolint:gosec // never negative
		}
		if want := uint64(crc32.ChecksumIEEE([]byte(s))); value != want {
			t.Errorf("%s has the checksum %d, want %d", s, value, want)
		}
	}
}

// check 12: a text that cannot be a token is refused without a read of the store.
func TestCredentialsThatAreNoPersonalAccessToken(t *testing.T) {
	good := NewPAT()
	other := "A"
	if good[10] == 'A' {
		other = "B"
	}
	for name, s := range map[string]string{
		"empty":               "",
		"the mark alone":      "lampp_",
		"another mark":        "ghp_" + good[6:],
		"a mark in capitals":  "LAMPP_" + good[6:],
		"a letter exchanged":  good[:10] + other + good[11:],
		"two letters swapped": swapNeighbours(good),
		"a letter short":      good[:41],
		"a letter more":       good + "0",
		"a blank at the end":  good[:41] + " ",
		"a newline after it":  good + "\n",
		"a hyphen in it":      appendChecksum(good[:35] + "-"),
		"letters of Unicode":  appendChecksum(good[:34] + "é"),
		"no checksum":         good[:36] + "000000",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParsePAT(s); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%q: %v", s, err)
			}
		})
	}
}

// swapNeighbours swaps the first two neighbours that differ.
func swapNeighbours(s string) string {
	b := []byte(s)
	for i := 6; i+1 < len(b); i++ {
		if b[i] != b[i+1] {
			b[i], b[i+1] = b[i+1], b[i]
			return string(b)
		}
	}
	return ""
}

func TestNoLetterComesMoreOftenThanOthers(t *testing.T) {
	t.Run("bytes that would favour some are drawn again", func(t *testing.T) {
		drawn := bytes.NewReader([]byte{248, 255, 250, 0, 61, 62, 247, 249})
		if got := randomLetters(4, drawn.Read); got != "0z0z" {
			t.Errorf("drew %q", got)
		}
	})
	t.Run("in 310,000 letters", func(t *testing.T) {
		const n, each = 310_000, 310_000 / 62
		var count [256]int
		for _, c := range []byte(randomLetters(n, rand.Read)) {
			count[c]++
		}
		squares := 0.0
		for _, c := range []byte(base62) {
			squares += math.Pow(float64(count[c]-each), 2) / each
		}
		// chi-squared with 61 degrees: exceeded in one of 10⁸ runs; with a plain modulo it is about 1,700
		if squares > 150 {
			t.Errorf("chi-squared is %.0f", squares)
		}
	})
}

func TestWhenATokenIsOver(t *testing.T) {
	at := time.Date(2026, 3, 10, 9, 30, 0, 0, time.UTC)
	token := PAT{User: "usr_1", Epoch: 3, Created: at.Add(-time.Hour), Expires: at.Add(time.Hour)}
	user := User{ID: "usr_1", Epoch: 3}
	for name, c := range map[string]struct {
		user User
		now  time.Time
		want bool
	}{
		"before its end":         {user, at, true},
		"at its end":             {user, at.Add(time.Hour), false},
		"of another user":        {User{ID: "usr_2", Epoch: 3}, at, false},
		"of nobody":              {User{}, at, false},
		"of a disabled user":     {User{ID: "usr_1", Epoch: 3, Disabled: true}, at, false},
		"older than a reset":     {User{ID: "usr_1", Epoch: 4}, at, false},
		"newer than its user is": {User{ID: "usr_1", Epoch: 2}, at, false},
	} {
		if got := token.Live(c.user, c.now, time.Time{}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for restored, want := range map[time.Duration]bool{-2 * time.Hour: true, -time.Hour: true, -time.Minute: false} {
		if got := token.Live(user, at, at.Add(restored)); got != want {
			t.Errorf("in a store restored at %v: %v", restored, got)
		}
	}
}

func TestWhenTheEndOfATokenIsAnnounced(t *testing.T) {
	made := time.Date(2026, 3, 10, 23, 59, 59, 0, time.UTC)
	for days, want := range map[int]string{1: "", 7: "", 8: "2026-03-11", 90: "2026-06-01", 365: "2027-03-03"} {
		got := PAT{Created: made, Expires: made.AddDate(0, 0, days)}.Due()
		if got != want {
			t.Errorf("%d days: %q, want %q", days, got, want)
		}
	}
}

func FuzzPAT(f *testing.F) {
	good := appendChecksum("lampp_0123456789ABCDEFGHIJKLMNOPQRST")
	for _, s := range []string{good, "", "lampp_", good + "\n", strings.ToLower(good), good[:41], "Bearer " + good} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		hash, err := ParsePAT(s)
		if err != nil {
			if hash != "" || !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%q: %q, %v", s, hash, err)
			}
			return
		}
		if len(s) != patLength || s != appendChecksum(s[:36]) || strings.Trim(s[6:], base62) != "" {
			t.Errorf("accepted %q", s)
		}
	})
}
