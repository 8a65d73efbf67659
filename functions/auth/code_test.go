package auth

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// runTogether runs f n times at once.
func runTogether(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() { <-start; f(i) })
	}
	close(start)
	wg.Wait()
}

// requestResetCode asks for a code that resets the password, a minute after the last one.
func (h *fixture) requestResetCode() string {
	h.Helper()
	h.Clock.Advance(codesPerMinute.Per)
	h.want(200, "POST", "/auth/password/forget", map[string]any{"email": ada})
	return h.mailedCode(mail.ResetPassword)
}

// otherCode returns a code that is not the right one.
func otherCode(code string, i int) string {
	var n int
	_, _ = fmt.Sscanf(code, "%d", &n)
	return fmt.Sprintf("%06d", (n+1+i)%1_000_000)
}

// check 15.
func TestFiftyWrongGuessesAtOnceHitNothingAndKillTheCode(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	code := h.requestResetCode()
	h.forgetClients()
	s := h.s
	var looks atomic.Int64
	runTogether(50, func(i int) {
		if _, _, err := s.spendCodeTry(withAuthPartitions(context.Background()), passwordReset, ada,
			otherCode(code, i)); err == nil {
			looks.Add(1)
		}
	})
	if looks.Load() != 0 {
		t.Fatalf("%d hits", looks.Load())
	}
	h.want(401, "PATCH", "/auth/otp/validate", map[string]any{"email": ada, "otp": code, "purpose": passwordReset})
}

// check 15.
func TestARightCodeWorksOnceEvenWhenUsedFiveTimesAtOnce(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	code := h.requestResetCode()
	var won atomic.Int64
	runTogether(5, func(int) {
		status, _, _ := h.call("PATCH", "/auth/otp/validate",
			map[string]any{"email": ada, "otp": code, "purpose": passwordReset})
		if status == http.StatusOK {
			won.Add(1)
		}
	})
	if won.Load() != 1 {
		t.Errorf("%d of 5 won", won.Load())
	}
}

// check 15.
func TestCodesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		email, purpose string
		digits         func(code string) string
		wait           time.Duration
		status         int
	}{
		"of another purpose":   {ada, verification, nil, 0, 401},
		"of another address":   {"eve@example.com", passwordReset, nil, 0, 401},
		"after ten minutes":    {ada, passwordReset, nil, 10*time.Minute + time.Second, 401},
		"wrong":                {ada, passwordReset, func(c string) string { return otherCode(c, 0) }, 0, 401},
		"of nine digits":       {ada, passwordReset, func(c string) string { return c + "000" }, 0, 400},
		"with a blank":         {ada, passwordReset, func(c string) string { return " " + c }, 0, 400},
		"in Arabic digits":     {ada, passwordReset, func(string) string { return "٠١٢٣٤٥" }, 0, 400},
		"for no known purpose": {ada, "world_domination", nil, 0, 400},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t).quickly()
			h.register()
			code := h.requestResetCode()
			h.Clock.Advance(c.wait)
			if c.digits != nil {
				code = c.digits(code)
			}
			h.want(c.status, "PATCH", "/auth/otp/validate",
				map[string]any{"email": c.email, "otp": code, "purpose": c.purpose})
		})
	}
}

func TestANewCodeReplacesTheOneBefore(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	old := h.requestResetCode()
	code := h.requestResetCode()
	if old == code {
		t.Skip("the same six digits twice: one time in a million")
	}
	h.want(401, "PATCH", "/auth/otp/validate", map[string]any{"email": ada, "otp": old, "purpose": passwordReset})
	h.want(200, "PATCH", "/auth/otp/validate", map[string]any{"email": ada, "otp": code, "purpose": passwordReset})
}

// check 18.
func TestSigningUpTwice(t *testing.T) {
	t.Run("a verified account is not touched and its owner is told", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		for _, spelling := range []string{ada, "ADA@example.com", "ａｄａ@example.com", " ada@EXAMPLE.com"} {
			h.Clock.Advance(codesPerMinute.Per)
			got := h.want(200, "POST", "/auth/signup",
				map[string]any{"email": spelling, "password": "evil grey password", "name": "Eve"})
			if user := got["user"].(map[string]any); user["email"] != ada || user["emailVerified"] != false {
				t.Errorf("%q: %v", spelling, user)
			}
			h.lastMail(mail.AccountExists)
		}
		h.logIn()
	})
	t.Run("an account that nobody verified for a day gives way, with its password", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.want(200, "POST", "/auth/signup", map[string]any{"email": ada, "password": "evil grey password"})
		h.Clock.Advance(contestWindow)
		mine := h.want(200, "POST", "/auth/signup", map[string]any{"email": ada, "password": password})
		h.want(200, "PATCH", "/auth/otp/validate",
			map[string]any{"email": ada, "otp": h.mailedCode(mail.VerifyAddress)})
		h.want(401, "POST", "/auth/login", map[string]any{"email": ada, "password": "evil grey password"})
		if in := h.logIn(); in["user"].(map[string]any)["id"] != mine["user"].(map[string]any)["id"] {
			t.Errorf("logged in as %v, signed up as %v", in["user"], mine["user"])
		}
	})
	for who, order := range map[string][2]string{
		"before": {"evil grey password", password},
		"after":  {password, "evil grey password"},
	} {
		t.Run("somebody who signs up "+who+
			" the owner of the address gets no password into the account", func(t *testing.T) {
			h := newFixture(t).quickly()
			h.want(200, "POST", "/auth/signup", map[string]any{"email": ada, "password": order[0]})
			first := h.mailedCode(mail.VerifyAddress)
			h.Clock.Advance(codesPerMinute.Per)
			h.want(200, "POST", "/auth/signup", map[string]any{"email": ada, "password": order[1]})
			code := h.mailedCode(mail.VerifyContested)
			if code != first {
				h.want(401, "PATCH", "/auth/otp/validate", map[string]any{"email": ada, "otp": first})
			}
			h.want(200, "PATCH", "/auth/otp/validate", map[string]any{"email": ada, "otp": code})
			for _, p := range order {
				h.want(401, "POST", "/auth/login", map[string]any{"email": ada, "password": p})
			}
			h.want(200, "POST", "/auth/password/forget", map[string]any{"email": ada})
			h.want(200, "PATCH", "/auth/password/reset",
				map[string]any{"email": ada, "otp": h.mailedCode(mail.ResetPassword), "password": password})
			h.logIn()
		})
	}
	t.Run("again with the same password is one's own", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.want(200, "POST", "/auth/signup", map[string]any{"email": ada, "password": password})
		h.Clock.Advance(codesPerMinute.Per)
		h.want(200, "POST", "/auth/signup", map[string]any{"email": ada, "password": password})
		h.want(200, "PATCH", "/auth/otp/validate",
			map[string]any{"email": ada, "otp": h.mailedCode(mail.VerifyAddress)})
		h.logIn()
	})
	t.Run("above the limit of codes the password stays that of the last code", func(t *testing.T) {
		h := newFixture(t).quickly()
		for range codesPerHour.Max {
			h.Clock.Advance(codesPerMinute.Per)
			h.want(200, "POST", "/auth/signup", map[string]any{"email": ada, "password": password})
		}
		h.Clock.Advance(codesPerMinute.Per)
		h.want(200, "POST", "/auth/signup", map[string]any{"email": ada, "password": "evil grey password"})
		h.want(200, "PATCH", "/auth/otp/validate",
			map[string]any{"email": ada, "otp": h.mailedCode(mail.VerifyAddress)})
		h.want(401, "POST", "/auth/login", map[string]any{"email": ada, "password": "evil grey password"})
		h.logIn()
	})
	t.Run("at once by many makes one account", func(t *testing.T) {
		h := newFixture(t).quickly()
		runTogether(8, func(i int) {
			h.call("POST", "/auth/signup", map[string]any{"email": ada, "password": fmt.Sprint(password, i)})
		})
		h.want(200, "PATCH", "/auth/otp/validate",
			map[string]any{"email": ada, "otp": h.mailedCode(mail.VerifyAddress)})
		right := 0
		for i := range 8 {
			if status, _, _ := h.call("POST", "/auth/login",
				map[string]any{"email": ada, "password": fmt.Sprint(password, i)}); status == 200 {
				right++
			}
		}
		if right != 1 {
			t.Errorf("%d passwords open the account", right)
		}
	})
}

// check 20.
func TestFieldsThatNobodyAskedForAreIgnored(t *testing.T) {
	h := newFixture(t).quickly()
	h.want(200, "POST", "/auth/signup", map[string]any{
		"email": ada, "password": password, "verified": true, "emailVerified": true, "id": "usr_mine", "epoch": 7,
		"role":  "owner",
		"orgId": "org_1", "isAdmin": true, "createdAt": "2000-01-01T00:00:00Z", "status": "active",
		"ownerId": "usr_mine", "disabled": false,
	})
	h.want(403, "POST", "/auth/login", map[string]any{"email": ada, "password": password})
	h.want(200, "PATCH", "/auth/otp/validate",
		map[string]any{"email": ada, "otp": h.mailedCode(mail.VerifyAddress), "user": "usr_mine", "purposes": "all"})
	s := h.sessionOf(h.want(200, "POST", "/auth/login", map[string]any{
		"email": ada, "password": password, "org": "org_1", "orgId": "org_1", "sso": "org_1", "role": "owner",
		"user": "usr_mine", "epoch": 7,
	}))
	u, err := table.Read[identity.User](withAuthPartitions(context.Background()), h.Table, identity.UserKey(s.User))
	if err != nil || u.ID == "usr_mine" || u.Epoch != 0 || s.Org != "" || s.SSO != "" ||
		!u.Created.Equal(apitest.Start) {
		t.Errorf("%+v, %+v, %v", u, s, err)
	}
}

// check 17.
func TestResettingThePassword(t *testing.T) {
	ticketOf := func(h *fixture) map[string]any {
		got := h.want(200, "PATCH", "/auth/otp/validate",
			map[string]any{"email": ada, "otp": h.requestResetCode(), "purpose": passwordReset})
		return map[string]any{"resetToken": got["resetToken"], "password": fresh}
	}
	for name, how := range map[string]func(h *fixture) map[string]any{
		"with a ticket": ticketOf,
		"with the code": func(h *fixture) map[string]any {
			return map[string]any{"email": ada, "otp": h.requestResetCode(), "password": fresh}
		},
	} {
		t.Run(name+" ends every session", func(t *testing.T) {
			h := newFixture(t).quickly()
			h.register()
			in := h.logIn()
			body := how(h)
			h.want(200, "PATCH", "/auth/password/reset", body)
			h.lastMail(mail.PasswordChanged)
			h.want(401, "POST", "/auth/refresh", map[string]any{"refreshToken": in["refreshToken"]})
			h.want(401, "POST", "/auth/login", map[string]any{"email": ada, "password": password})
			h.want(200, "POST", "/auth/login", map[string]any{"email": ada, "password": fresh})
			h.want(401, "PATCH", "/auth/password/reset", body)
			ctx := table.Within(context.Background(), identity.UserPrefix)
			u, err := table.Read[identity.User](ctx, h.Table, identity.UserKey(h.sessionOf(in).User))
			if err != nil || u.Epoch != 1 {
				t.Errorf("epoch %d, %v: it counts the ends of sessions", u.Epoch, err)
			}
		})
	}
	t.Run("a ticket ends after ten minutes", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		body := ticketOf(h)
		h.Clock.Advance(ticketTTL + time.Second)
		h.want(401, "PATCH", "/auth/password/reset", body)
	})
	t.Run("a ticket ends with the password that it was to replace", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		stolen := ticketOf(h)
		h.Clock.Advance(time.Minute)
		h.want(200, "PATCH", "/auth/password/reset", ticketOf(h))
		stolen["password"] = "evil grey password"
		h.want(401, "PATCH", "/auth/password/reset", stolen)
		h.want(200, "POST", "/auth/login", map[string]any{"email": ada, "password": fresh})
	})
	t.Run("what one was given opens nobody else's account", func(t *testing.T) { // check 17
		const eve = "eve@example.com"
		h := newFixture(t)
		h.register()
		apitest.Value(CreateVerifiedUser(t.Context(), h.Platform, eve, password, "Eve"))(t)
		byCode := map[string]any{"email": eve, "otp": h.requestResetCode(), "password": fresh}
		h.want(401, "PATCH", "/auth/password/reset", byCode)
		byTicket := ticketOf(h)
		byTicket["email"] = eve
		h.want(401, "PATCH", "/auth/password/reset", byTicket)
		h.want(200, "POST", "/auth/login", map[string]any{"email": eve, "password": password})
		byTicket["email"] = "ADA@example.com" // her own, which it does not need
		h.want(200, "PATCH", "/auth/password/reset", byTicket)
		h.want(200, "POST", "/auth/login", map[string]any{"email": ada, "password": fresh})
	})
	t.Run("a bad password does not use the ticket up", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		body := ticketOf(h)
		h.want(400, "PATCH", "/auth/password/reset", map[string]any{"resetToken": body["resetToken"], "password": ada})
		h.want(200, "PATCH", "/auth/password/reset", body)
	})
	t.Run("without ticket and code", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.want(400, "PATCH", "/auth/password/reset", map[string]any{"password": fresh})
		h.want(400, "PATCH", "/auth/password/reset", map[string]any{"email": ada, "password": fresh})
		h.want(401, "PATCH", "/auth/password/reset", map[string]any{"resetToken": "lampt_made_up", "password": fresh})
	})
}
