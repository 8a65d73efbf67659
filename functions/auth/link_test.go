package auth

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

const (
	fresh    = "seven dim candles"
	formType = "application/x-www-form-urlencoded"
)

// requestLink asks for a mail that resets the password of ada, from the address, and returns the path of its link.
func (h *fixture) requestLink(ip string) string {
	h.Helper()
	before := len(h.Mails())
	h.callFrom(ip, "POST", "/auth/password/forget", map[string]any{"email": ada})
	if len(h.Mails()) != before+1 {
		h.Fatal("no mail was sent")
	}
	h.lastMail(mail.ResetPassword)
	return h.mailedLink()
}

// submit sends the form of the page with the password.
func (h *fixture) submit(path, password string) apitest.Answer {
	h.Helper()
	return h.browserAt(cafe).send("POST", path, formType, url.Values{"password": {password}}.Encode())
}

func TestLink_SetsAPasswordOnce(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	in := h.logIn()
	path := h.requestLink(home)
	token := path[len(linkPath):]
	if !strings.HasPrefix(path, linkPath+ticketMark) || len(token) < len(ticketMark)+26 { // of 5 bits each
		t.Errorf("link %s", path)
	}
	for range 3 { // looking changes nothing
		page := h.browserAt(cafe).send("GET", path, "", "").Want(200, `<form method="post">`, `type="password"`)
		if strings.Contains(page.Body, "<script") || strings.Contains(page.Body, token) ||
			strings.Contains(page.Body, ada) ||
			page.Header.Get("Cache-Control") != "no-store" || page.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("page %v %s", page.Header, page.Body)
		}
	}
	for bad, why := range map[string]string{"short": "5 characters", ada: "too easy to guess", "": "0 characters"} {
		h.submit(path, bad).Want(400, why, "<form")
	}
	h.browserAt(cafe).send("POST", path, formType, "word=x").Want(400, "not complete")
	h.submit(path, fresh).Want(200, "Log in with the new password")
	h.lastMail(mail.PasswordChanged)
	h.submit(path, "another dim candle").Want(404, "This link does not work")
	h.browserAt(cafe).send("GET", path, "", "").Want(404)
	h.want(401, "POST", "/auth/refresh", map[string]any{"refreshToken": in["refreshToken"]})
	h.want(401, "POST", "/auth/login", map[string]any{"email": ada, "password": password})
	h.want(200, "POST", "/auth/login", map[string]any{"email": ada, "password": fresh})
}

func TestLink_IsAcceptedAsResetToken(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	body := map[string]any{"resetToken": h.requestLink(home)[len(linkPath):], "password": fresh}
	h.want(200, "PATCH", "/auth/password/reset", body)
	h.want(200, "POST", "/auth/login", map[string]any{"email": ada, "password": fresh})
	h.want(401, "PATCH", "/auth/password/reset", body)
}

func TestLink_OutlivesWhatStrangersDo(t *testing.T) {
	for name, do := range map[string]func(h *fixture){
		"wrong codes": func(h *fixture) { h.attack(100, time.Minute) },
		"newer codes": func(h *fixture) {
			for range 5 {
				h.Clock.Advance(time.Minute)
				h.callFrom(cafe, "POST", "/auth/password/forget", map[string]any{"email": ada})
			}
		},
		"a sign-up with the address": func(h *fixture) {
			h.callFrom(cafe, "POST", "/auth/signup", map[string]any{"email": ada, "password": "evil grey password"})
		},
		"almost two hours": func(h *fixture) { h.Clock.Advance(linkTTL - time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t).quickly()
			h.register()
			path := h.requestLink(home)
			do(h)
			h.submit(path, fresh).Want(200)
		})
	}
}

func TestLink_Ends(t *testing.T) {
	for name, do := range map[string]func(h *fixture, path string) string{
		"after two hours": func(h *fixture, path string) string { h.Clock.Advance(linkTTL); return path },
		"when misspelt":   func(_ *fixture, path string) string { return path[:len(path)-1] + "1" },
		"when made up":    func(*fixture, string) string { return linkPath + "lampt_AAAAAAAAAAAAAAAAAAAAAAAAAA" },
		"with the password": func(h *fixture, path string) string {
			h.submit(h.requestLink(cafe), fresh).Want(200)
			return path
		},
		"with the account": func(h *fixture, path string) string {
			u := apitest.Value(h.s.accounts.Find(h.Context(), ada))(h)
			h.Write(table.Delete(identity.UserKey(u.ID)))
			return path
		},
		"while the account is disabled": func(h *fixture, path string) string {
			u := apitest.Value(h.s.accounts.Find(h.Context(), ada))(h)
			h.Change(identity.UserKey(u.ID), table.Set("disabled", true))
			return path
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t).quickly()
			h.register()
			path := do(h, h.requestLink(home))
			h.browserAt(cafe).send("GET", path, "", "").Want(404, "This link does not work")
			h.submit(path, "another dim candle").Want(404)
			h.want(401, "PATCH", "/auth/password/reset",
				map[string]any{"resetToken": path[len(linkPath):], "password": "another dim candle"})
		})
	}
}

// A change of the password ends the links of before, and neither those of after nor what devices are known.
func TestLink_AndAChangeOfThePassword(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	b := h.browserAt(home)
	tokens := apitest.Data[map[string]any](b.post("POST", "/auth/login",
		map[string]any{"email": ada, "password": password}))
	before := h.requestLink(cafe)
	status, body, _ := h.callAs(h.callerOf(tokens), "POST", "/auth/password/change",
		map[string]any{"currentPassword": password, "password": fresh})
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	h.submit(before, "another dim candle").Want(404)
	h.exhaust()
	b.ip = "203.0.113.5"
	if got := b.enter(fresh); got != http.StatusOK {
		t.Errorf("the known device: %d", got)
	}
	h.Clock.Advance(time.Minute)
	h.submit(h.requestLink(cafe), "another dim candle").Want(200)
}

// Whoever reads the mail of a sign-up owns the address: the link replaces the password, which somebody else may have
// chosen.
func TestLink_OfASignUpVerifiesTheAddressAndReplacesThePassword(t *testing.T) {
	h := newFixture(t).quickly()
	h.want(200, "POST", "/auth/signup", map[string]any{"email": ada, "password": "evil grey password"})
	h.lastMail(mail.VerifyAddress)
	h.submit(h.mailedLink(), fresh).Want(200)
	h.want(401, "POST", "/auth/login", map[string]any{"email": ada, "password": "evil grey password"})
	h.want(200, "POST", "/auth/login", map[string]any{"email": ada, "password": fresh})
}

// A mail about an address without an account is not sent; its link would open nothing.
func TestLink_OfNoAccountOpensNothing(t *testing.T) {
	h := newFixture(t).quickly()
	put, address, err := h.s.newLink(codeOrder{purpose: passwordReset, address: "nobody@example.com"})
	h.Must(err)
	h.Write(put)
	h.submit(strings.TrimPrefix(address, h.Settings.BaseURL), fresh).Want(404)
}

func TestLink_GuessesOfOnePlaceEnd(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	path := h.requestLink(home)
	for range codeTriesPerSource.Max {
		h.browserAt(cafe).send("GET", linkPath+"lampt_made_up", "", "").Want(404)
	}
	h.browserAt(cafe).send("GET", path, "", "").Want(403, "Too many requests")
	h.submit(path, fresh).Want(403)
	h.browserAt(home).send("GET", path, "", "").Want(200)
}

func TestLink_IsNotOnRecord(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	path := h.requestLink(home)
	h.submit(path, "short").Want(400)
	h.submit(path, fresh).Want(200)
	apitest.LinkAudit(t, h.Platform, audit.SystemPlaces()...)
	rows := 0
	for _, at := range audit.SystemPlaces() {
		for _, it := range apitest.Value(h.Table.Query(h.Anywhere(), table.Query{PK: at.PK, Limit: 1000}))(t).Items {
			if strings.Contains(string(it.Data), "setPasswordByPage") {
				rows++
			}
			if strings.Contains(string(it.Data), path[len(linkPath):]) || strings.Contains(string(it.Data), fresh) {
				t.Errorf("on record: %s", it.Data)
			}
		}
	}
	if rows != 2 {
		t.Errorf("%d rows", rows)
	}
}

// wrongCodes makes wrong guesses at the code of ada, from places in turn, which kill it for strangers.
func (h *fixture) wrongCodes(code string, n int) {
	h.Helper()
	for i := range n {
		status, body := h.callFrom(cafe, "PATCH", "/auth/otp/validate",
			map[string]any{"email": ada, "otp": otherCode(code, i), "purpose": passwordReset})
		if status != http.StatusUnauthorized {
			h.Fatalf("wrong code %d: %d %s", i, status, body)
		}
	}
}

func TestCodes_StrangersDoNotUseUpTheTriesOfKnownClients(t *testing.T) {
	for name, forget := range map[string]func(*browser){
		"a known device at another place": func(b *browser) { b.ip = "203.0.113.5" },
		"a known source without a cookie": func(b *browser) { b.cookies = map[string]*http.Cookie{} },
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t).quickly()
			h.register()
			b := h.browserAt(home)
			if got := b.enter(password); got != 200 {
				t.Fatal(got)
			}
			h.wrongCodes(h.requestResetCode(), 5)
			forget(b)
			b.post("POST", "/auth/password/forget", map[string]any{"email": ada}).Want(200)
			code := h.mailedCode(mail.ResetPassword)
			h.wrongCodes(code, 20)
			h.want(401, "PATCH", "/auth/otp/validate",
				map[string]any{"email": "eve@example.com", "otp": code, "purpose": passwordReset})
			status, _ := h.callFrom(cafe, "PATCH", "/auth/otp/validate",
				map[string]any{"email": ada, "otp": code, "purpose": passwordReset})
			if status != 401 {
				t.Errorf("a stranger with the right code after five wrong ones: %d", status)
			}
			b.post("PATCH", "/auth/otp/validate", map[string]any{"email": ada, "otp": code, "purpose": passwordReset}).
				Want(200)
		})
	}
}

func TestCodes_OfStrangersEnd(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	tries := func() (made int) { // guesses of the strangers' record
		for range 6 {
			h.Clock.Advance(time.Hour) // the limits of codes
			h.callFrom(cafe, "POST", "/auth/password/forget", map[string]any{"email": ada})
			m := h.lastMail(mail.ResetPassword)
			if m.Data["code"] == "" {
				return made
			}
			h.wrongCodes(m.Data["code"], 5)
			made += 5
		}
		return made
	}
	limit := codeGuesses[stranger]
	for _, want := range []int{limit.PerDay, limit.PerYear - limit.PerDay, 0} {
		h.Clock.Advance(h.Clock.Now().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(h.Clock.Now()))
		if got := tries(); got != want {
			t.Errorf("%d guesses, want %d", got, want)
		}
	}
	m := h.lastMail(mail.ResetPassword)
	h.submit(strings.TrimPrefix(m.Data["link"], h.Settings.BaseURL), fresh).Want(200)
	h.Clock.Advance(366 * 24 * time.Hour)
	if got := tries(); got != limit.PerDay {
		t.Errorf("a year later %d guesses", got)
	}
}

// A person who signs up is kept out neither by the codes that strangers have guessed at before, nor by those that they
// guess at meanwhile.
func TestCodes_OfASignUpMayBeGuessedAtByStrangers(t *testing.T) {
	h := newFixture(t).quickly()
	for range 3 {
		h.Clock.Advance(time.Minute)
		h.callFrom(cafe, "POST", "/auth/signup", map[string]any{"email": ada, "password": "evil grey password"})
		for i := range 5 {
			h.callFrom(cafe, "PATCH", "/auth/otp/validate",
				map[string]any{"email": ada, "otp": otherCode(h.Mails()[len(h.Mails())-1].Data["code"], i)})
		}
	}
	h.Clock.Advance(time.Minute)
	h.want(200, "POST", "/auth/signup", map[string]any{"email": ada, "password": password})
	m := h.Mails()[len(h.Mails())-1]
	if m.Data["code"] != "" {
		t.Errorf("a code that nobody can use: %v", m.Data)
	}
	h.submit(h.mailedLink(), fresh).Want(200)
	h.want(200, "POST", "/auth/login", map[string]any{"email": ada, "password": fresh})
}

// TestOddsOfGuessing computes the probability of docs/security.md from the limits, and finds its figures there.
func TestOddsOfGuessing(t *testing.T) {
	codes := float64(codeGuesses[stranger].PerYear+codeGuesses[knownSource].PerYear) / possibleCodes
	const bits = 24 // of a password: see docs/security.md
	ofOnePassword := float64(passwordGuesses[knownSource].PerYear) / math.Exp2(bits)
	passwords := float64(passwordGuesses[stranger].PerYear)/math.Exp2(bits) + ofOnePassword
	t.Logf("codes %.3g, passwords %.3g, after each reset %.3g", codes, passwords, ofOnePassword)
	if total := codes + passwords + 5*ofOnePassword; total > 1e-4 {
		t.Errorf("%g a year, with five resets of the password", total)
	}
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	withResets := codes + passwords + 5*ofOnePassword
	for _, figure := range []string{
		fmt.Sprintf("| codes, by strangers | %d, of both purposes together |", codeGuesses[stranger].PerYear),
		fmt.Sprintf("| codes, from the owner's own sources | %d |", codeGuesses[knownSource].PerYear),
		fmt.Sprintf("| the password, by strangers | %d |", passwordGuesses[stranger].PerYear),
		fmt.Sprintf("| the password, from the owner's own sources | %d, and", passwordGuesses[knownSource].PerYear),
		fmt.Sprintf("| **together** | | | **%.1f × 10⁻⁵** |", 1e5*(codes+passwords)),
		fmt.Sprintf("five resets of the password in the year (%.1f × 10⁻⁵)", 1e5*withResets),
	} {
		if !strings.Contains(string(page), figure) {
			t.Errorf("docs/security.md does not say %q", figure)
		}
	}
}

// A day of guesses without a pause has as many as docs/security.md says, from each standing.
func TestGuessesOfADay(t *testing.T) {
	const page = 116
	h := newFixture(t)
	for of, b := range passwordGuesses {
		b.PerYear = 1000
		begin, made := h.Clock.Now().Truncate(24*time.Hour), 0
		for at := begin; at.Before(begin.Add(24 * time.Hour)); at = at.Add(10 * time.Second) {
			_, wait, err := b.Take(t.Context(), h.Table, at, "ada")
			if h.Must(err); wait == 0 {
				made++
			}
		}
		if made > page {
			t.Errorf("standing %d: %d, the page says %d", of, made, page)
		}
	}
	for of, b := range codeGuesses {
		if b.PerDay <= 0 || b.PerDay > b.PerYear {
			t.Errorf("standing %d: %d a day", of, b.PerDay)
		}
	}
}
