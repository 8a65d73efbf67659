package auth

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// callFrom makes a request that comes from an address.
func (h *fixture) callFrom(ip, method, path string, body map[string]any) (int, string) {
	h.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(apitest.JSON(body)))
	r.Header.Set("Content-Type", "application/json")
	r.RemoteAddr = ip
	a := h.Serve(identity.Caller{}, r)
	return a.Status, a.Body
}

func (h *fixture) logInFrom(ip, email, password string) int {
	h.Helper()
	status, _ := h.callFrom(ip, "POST", "/auth/login", map[string]any{"email": email, "password": password})
	return status
}

const (
	home  = "192.0.2.1"
	cafe  = "198.51.100.7"
	wrong = "nine tall candles"
)

// check 16.
func TestFloodsOfCodes(t *testing.T) {
	flood := func(h *fixture, n int, email func(i int) string, from func(i int) string) (mails int, answers []string) {
		before := len(h.Mails())
		for i := range n {
			status, body := h.callFrom(from(i), "POST", "/auth/password/forget", map[string]any{"email": email(i)})
			answers = append(answers, fmt.Sprint(status, body))
		}
		return len(h.Mails()) - before, answers
	}
	to := func(email string) func(int) string { return func(int) string { return email } }
	t.Run("one code a minute is mailed to an address that one place asks for", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		n, answers := flood(h, 8, to(ada), to(cafe))
		if n != 1 || len(slices.Compact(answers)) != 1 || answers[0][:3] != "200" {
			t.Errorf("%d mails, answers %q", n, answers)
		}
		if n, _ = flood(h, 8, to(ada), to(home)); n != 1 {
			t.Errorf("%d mails when another place asks", n)
		}
		h.Clock.Advance(time.Minute)
		if n, _ = flood(h, 8, to(ada), to(cafe)); n != 1 {
			t.Errorf("%d mails a minute later", n)
		}
	})
	t.Run("ten an hour, from however many places they are asked for", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		n, answers := flood(h, 30, to(ada), func(i int) string { return fmt.Sprint("198.51.100.", i) })
		if n != 10 || len(slices.Compact(answers)) != 1 || answers[0][:3] != "200" {
			t.Errorf("%d mails, answers %q", n, answers)
		}
		if n, _ = flood(h, 1, to(ada), to(home)); n != 1 {
			t.Errorf("%d mails when the owner asks", n)
		}
	})
	t.Run("five codes an hour", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		mails, last := 0, ""
		for range 8 {
			h.Clock.Advance(time.Minute)
			n, answers := flood(h, 1, to(ada), to(home))
			if mails += n; last != "" && answers[0] != last {
				t.Errorf("answers differ: %q, %q", last, answers[0])
			}
			last = answers[0]
		}
		if mails != 5 {
			t.Errorf("%d mails", mails)
		}
		h.want(200, "PATCH", "/auth/otp/validate",
			map[string]any{"email": ada, "otp": h.mailedCode(mail.ResetPassword), "purpose": passwordReset})
		h.Clock.Advance(time.Hour)
		if n, _ := flood(h, 1, to(ada), to(home)); n != 1 {
			t.Errorf("%d mails an hour later", n)
		}
	})
	t.Run("twenty an hour from one place, for known and unknown addresses alike", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		unknown := func(i int) string { return fmt.Sprintf("nobody%d@example.com", i) }
		if n, _ := flood(h, 20, unknown, to(home)); n != 0 {
			t.Errorf("%d mails to nobody", n)
		}
		n, answers := flood(h, 1, to(ada), to(home))
		if _, elsewhere := flood(h, 1, unknown, to(cafe)); n != 0 || elsewhere[0] != answers[0] {
			t.Errorf("%d mails, answers %q, %q", n, answers, elsewhere)
		}
		if n, _ = flood(h, 1, to(ada), to(cafe)); n != 1 {
			t.Errorf("%d mails when asked from elsewhere", n)
		}
	})
	t.Run("of many at once one is mailed", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		before := len(h.Mails())
		runTogether(20, func(int) {
			h.callFrom(cafe, "POST", "/auth/password/forget", map[string]any{"email": ada})
		})
		if n := len(h.Mails()) - before; n != 1 {
			t.Errorf("%d mails", n)
		}
	})
}

func TestTooManyFailedLogIns(t *testing.T) {
	fail := func(t *testing.T, h *fixture, n int, ip func(i int) string, email func(i int) string) {
		t.Helper()
		for i := range n {
			if status := h.logInFrom(ip(i), email(i), wrong); status != 401 {
				t.Fatalf("try %d: %d", i+1, status)
			}
		}
	}
	same := func(s string) func(int) string { return func(int) string { return s } }
	t.Run("of one address delay even the right password of a stranger, before it is looked at", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		h.forgetClients()
		fail(t, h, 10, same(home), same(ada))
		status, body := h.callFrom(home, "POST", "/auth/login", map[string]any{"email": ada, "password": password})
		want := `{"error":{"message":"too many attempts: wait a minute and try again, or ask for a link that sets a ` +
			`new password with POST /auth/password/forget"}}`
		if status != 403 || body != want+"\n" && body != want {
			t.Errorf("%d %s", status, body)
		}
		h.Clock.Advance(time.Minute)
		if status := h.logInFrom(home, ada, password); status != 200 {
			t.Errorf("a minute later: %d", status)
		}
	})
	t.Run("look the same whether or not there is an account", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		var answers [2][]string
		for who, email := range []string{ada, "nobody@example.com"} {
			for range 12 {
				status, body := h.callFrom(home, "POST", "/auth/login",
					map[string]any{"email": email, "password": wrong})
				answers[who] = append(answers[who], fmt.Sprint(status, body))
			}
		}
		if !slices.Equal(answers[0], answers[1]) {
			t.Errorf("known %q\nunknown %q", answers[0], answers[1])
		}
	})
	t.Run("of many addresses at one place stop that place", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		fail(t, h, 100, same(home), func(i int) string { return fmt.Sprintf("nobody%d@example.com", i) })
		if status := h.logInFrom(home, ada, password); status != 403 {
			t.Errorf("the next: %d", status)
		}
		if status := h.logInFrom(cafe, ada, password); status != 200 {
			t.Errorf("from elsewhere: %d", status)
		}
	})
	t.Run("of one address at many places delay strangers by 14 minutes at most", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		for range 24 * 60 { // each minute of a day another place
			h.Clock.Advance(time.Minute)
			h.logInFrom(fmt.Sprintf("198.51.100.%d", h.Clock.Now().Minute()), ada, wrong)
		}
		h.Clock.Advance(14 * time.Minute)
		if status := h.logInFrom("203.0.113.9", ada, password); status != 200 {
			t.Errorf("14 minutes later: %d", status)
		}
	})
	t.Run("of one network of IPv6 are of one place", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		unknown := func(i int) string { return fmt.Sprintf("nobody%d@example.com", i) }
		fail(t, h, 100, func(i int) string { return fmt.Sprintf("[2001:db8:0:1::%x]:40%d", i+1, i) }, unknown)
		if status := h.logInFrom("[2001:db8:0:1:ffff::1]:80", ada, password); status != 403 {
			t.Errorf("another address of it: %d", status)
		}
		if status := h.logInFrom("[2001:db8:0:2::1]:80", ada, password); status != 200 {
			t.Errorf("the network beside it: %d", status)
		}
	})
	t.Run("are not those that succeed, and success forgives none", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		for range 30 {
			if status := h.logInFrom(home, ada, password); status != 200 {
				t.Fatal(status)
			}
		}
		fail(t, h, 9, same(home), same(ada))
		if status := h.logInFrom(home, ada, password); status != 200 {
			t.Errorf("after nine failures: %d", status)
		}
		fail(t, h, 1, same(home), same(ada))
		if status := h.logInFrom(home, ada, password); status != 403 {
			t.Errorf("after ten: %d", status)
		}
	})
	t.Run("at once get no more tries than one after the other", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		var tried atomic.Int64
		runTogether(30, func(int) {
			if h.logInFrom(home, ada, wrong) == 401 {
				tried.Add(1)
			}
		})
		if tried.Load() != 10 {
			t.Errorf("%d of 30 were tried", tried.Load())
		}
	})
}

// The password is not hashed if no tries are left, because hashing is expensive.
func TestNothingIsHashedForWhoIsTurnedAway(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	s := h.s
	in := &logInInput{}
	in.Body.Email, in.Body.Password = ada, wrong
	for range passwordGuesses[stranger].Free {
		if _, err := s.logIn(t.Context(), in); !fault.Is(err, fault.Unauthenticated) {
			t.Fatal(err)
		}
	}
	s.passwords.slots = nil // a hash would now wait for ever
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := s.logIn(ctx, in); !fault.Is(err, fault.Denied) {
		t.Errorf("got %v", err)
	}
}

func TestTwentySignUpsAnHourFromOnePlace(t *testing.T) {
	h := newFixture(t).quickly()
	signUp := func(ip string, i int) int {
		status, _ := h.callFrom(ip, "POST", "/auth/signup",
			map[string]any{"email": fmt.Sprintf("new%d@example.com", i), "password": password})
		return status
	}
	for i := range 20 {
		if status := signUp(home, i); status != 200 {
			t.Fatalf("sign-up %d: %d", i+1, status)
		}
	}
	if got := []int{signUp(home, 20), signUp(cafe, 20)}; !slices.Equal(got, []int{403, 200}) {
		t.Errorf("the next from there and from elsewhere: %d", got)
	}
	h.Clock.Advance(time.Hour)
	if status := signUp(home, 21); status != 200 {
		t.Errorf("an hour later: %d", status)
	}
}

func TestTriesOfCodesAndRefreshTokensFromOnePlaceEnd(t *testing.T) {
	for name, c := range map[string]struct {
		n            int64
		method, path string
		body         map[string]any
	}{
		"codes": {
			codeTriesPerSource.Max, "PATCH", "/auth/otp/validate",
			map[string]any{"email": ada, "otp": "000000"},
		},
		"tickets": {
			codeTriesPerSource.Max, "PATCH", "/auth/password/reset",
			map[string]any{"resetToken": "lampt_made_up", "password": password},
		},
		"tokens": {refreshesPerSource.Max, "POST", "/auth/refresh", map[string]any{"refreshToken": "lampr_made_up"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t).quickly()
			for range c.n {
				if status, body := h.callFrom(home, c.method, c.path, c.body); status != 401 {
					t.Fatal(status, body)
				}
			}
			for ip, want := range map[string]int{home: 403, cafe: 401} {
				if status, body := h.callFrom(ip, c.method, c.path, c.body); status != want {
					t.Errorf("the next from %s: %d %s", ip, status, body)
				}
			}
		})
	}
}

// A counter that is down must not keep everybody out.
func TestLogInsGoOnWhileTheCountersAreDown(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	h.Table = table.NewFaultyStore(h.Table, h.Clock, table.Injection{Harm: table.FailBefore, PK: "LIMIT#"})
	if status := h.logInFrom(home, ada, password); status != http.StatusOK {
		t.Errorf("right password: %d", status)
	}
	if status := h.logInFrom(home, ada, wrong); status != http.StatusUnauthorized {
		t.Errorf("wrong password: %d", status)
	}
}
