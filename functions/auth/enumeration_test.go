package auth

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
)

// normalizeAnswer returns an answer without the parts that differ between requests.
func normalizeAnswer(status int, body []byte, header http.Header) string {
	header.Del("X-Request-Id")
	lines := []string{strconv.Itoa(status), string(body)}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		lines = append(lines, fmt.Sprint(name, header[name]))
	}
	return fmt.Sprint(lines)
}

// pairs are requests about an address that is known, and the same about one that is not.
var pairs = map[string]struct {
	method, path string
	body         func(email string) map[string]any
	status       int
}{
	"log-in with a wrong password": {"POST", "/auth/login", func(e string) map[string]any {
		return map[string]any{"email": e, "password": wrong}
	}, 401},
	"code that resets": {"POST", "/auth/password/forget", func(e string) map[string]any {
		return map[string]any{"email": e}
	}, 200},
	"code that verifies": {"POST", "/auth/email/verify", func(e string) map[string]any {
		return map[string]any{"email": e}
	}, 200},
	"code that is wrong": {"PATCH", "/auth/otp/validate", func(e string) map[string]any {
		return map[string]any{"email": e, "otp": "000000"}
	}, 401},
	"reset by a wrong code": {"PATCH", "/auth/password/reset", func(e string) map[string]any {
		return map[string]any{"email": e, "otp": "000000", "password": password}
	}, 401},
}

// check 13, 14: status, body and headers.
func TestKnownAndUnknownAddressesGetTheSame(t *testing.T) {
	for name, p := range pairs {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.register()
			h.Clock.Advance(time.Minute)
			status, body, header := h.call(p.method, p.path, p.body(ada))
			known := normalizeAnswer(status, body, header)
			unknown := normalizeAnswer(h.call(p.method, p.path, p.body("nobody@example.com")))
			if known != unknown || status != p.status {
				t.Errorf("known:   %s\nunknown: %s", known, unknown)
			}
			for _, m := range h.Mails() {
				if m.To != ada {
					t.Errorf("a mail to %s", m.To)
				}
			}
		})
	}
}

// spent is the cost of a request: store round trips, written rows, and hashed passwords.
type spent struct {
	trips  int
	writes float64
	hashes int
}

func measureCost(t *testing.T, s *service, f func(ctx context.Context) error) spent {
	t.Helper()
	ctx, m := table.WithMeter(context.Background())
	hashes, hash := 0, s.passwords.idKey
	s.passwords.idKey = func(password, salt []byte, passes, memory uint32, lanes uint8, size uint32) []byte {
		if hashes++; memory != memoryKiB || passes != 2 {
			t.Errorf("hashed with %d KiB and %d passes", memory, passes)
		}
		return hash(password, salt, passes, memory, lanes, size)
	}
	defer func() { s.passwords.idKey = hash }()
	_ = f(ctx) // refused or not: the answers are compared elsewhere
	u := m.Usage()
	return spent{u.RoundTrips, u.WriteUnits, hashes}
}

// check 13, 14: the same work, so that the time tells no more than the answer. Clocks are compared by hand, below.
func TestKnownAndUnknownAddressesCostTheSame(t *testing.T) {
	for name, c := range map[string]struct {
		try    func(s *service, email string) func(context.Context) error
		hashes int
	}{
		"log-in with a wrong password": {func(s *service, email string) func(context.Context) error {
			return func(ctx context.Context) error {
				in := &logInInput{}
				in.Body.Email, in.Body.Password = email, wrong
				_, err := s.logIn(ctx, in)
				return err
			}
		}, 1},
		"code that resets": {func(s *service, email string) func(context.Context) error {
			return func(ctx context.Context) error { return s.mailCode(ctx, passwordReset, email, mail.ResetPassword) }
		}, 0},
		"code that verifies": {func(s *service, email string) func(context.Context) error {
			return func(ctx context.Context) error { return s.mailCode(ctx, verification, email, mail.VerifyAddress) }
		}, 0},
		"sign-up": {func(s *service, email string) func(context.Context) error {
			return func(ctx context.Context) error {
				in := &signUpInput{}
				in.Body.Email, in.Body.Password = email, password
				_, err := s.signUp(ctx, in)
				return err
			}
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.register()
			h.Clock.Advance(time.Minute)
			s := newService(h.Platform)
			known, unknown := measureCost(t, s, c.try(s, ada)), measureCost(t, s, c.try(s, "nobody@example.com"))
			// the account itself is written; who reads the answer's time must hash first, which is longer
			if name == "sign-up" {
				known.writes, unknown.writes = 0, 0
			}
			if known != unknown || known.hashes != c.hashes || known.trips == 0 {
				t.Errorf("known %+v, unknown %+v", known, unknown)
			}
		})
	}
}

// check 13, 14: the medians themselves, on an otherwise idle machine. It is not part of the normal tests, because
// another program that uses the processor for a moment changes the result.
func TestKnownAndUnknownAddressesTakeAsLong(t *testing.T) {
	if os.Getenv("LAMPLIGHTER_TIMING") != "1" {
		t.Skip("SKIPPED: set LAMPLIGHTER_TIMING=1 on a quiet machine to compare times")
	}
	const tries = 200
	for name, p := range pairs {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.register()
			h.forgetClients()
			h.logInFrom(cafe, ada, password) // who asks from elsewhere is a stranger, and has 200 guesses a year
			times := [2][]time.Duration{}
			for i := range tries {
				h.Clock.Advance(time.Hour) // a window of its own, so that each try does the whole work
				for turn := range 2 {
					who := (i + turn) % 2 // in turn: the first one opens the windows of the source
					began := time.Now()
					if status, b, _ := h.call(p.method, p.path,
						p.body([]string{ada, "nobody@example.com"}[who])); status != p.status {
						t.Fatalf("%d %s", status, b)
					}
					times[who] = append(times[who], time.Since(began))
				}
			}
			known, unknown := medianOf(times[0]), medianOf(times[1])
			t.Logf("%s: known %s, unknown %s, ratio %.3f", name, known, unknown, float64(known)/float64(unknown))
			if ratio := float64(known) / float64(unknown); ratio < 0.9 || ratio > 1.1 {
				t.Errorf("known %s, unknown %s", known, unknown)
			}
		})
	}
}

func medianOf(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
