package auth

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// attack makes n wrong log-ins and n wrong codes for ada, from 200 places in turn, within the time.
func (h *fixture) attack(n int, within time.Duration) {
	h.Helper()
	for i := range n {
		ip := fmt.Sprintf("198.51.100.%d", i%200)
		h.Clock.Advance(within / time.Duration(n))
		if status := h.logInFrom(ip, ada, wrong); status != 401 && status != 403 {
			h.Fatalf("wrong password %d: %d", i, status)
		}
		status, body := h.callFrom(ip, "PATCH", "/auth/otp/validate", map[string]any{
			"email": ada, "otp": fmt.Sprintf("%06d", i), "purpose": []string{verification, passwordReset}[i%2],
		})
		if status != 401 && status != 403 {
			h.Fatalf("wrong code %d: %d %s", i, status, body)
		}
		if i%50 == 0 {
			h.callFrom(ip, "POST", "/auth/password/forget", map[string]any{"email": ada})
		}
	}
}

// 10,000 wrong log-ins and codes of strangers keep the owner out of nothing.
func TestStrangersDoNotLockTheOwnerOut(t *testing.T) {
	for name, of := range map[string]struct {
		tries  int
		within time.Duration
	}{
		"10,000 in an hour": {10_000, time.Hour}, "2,000 in a minute": {2_000, time.Minute},
		"2,000 in a day": {2_000, 24 * time.Hour}, "4,000 in a month": {4_000, 30 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t).quickly()
			h.register()
			laptop, program := h.browserAt(home), h.browserAt("192.0.2.77")
			if got := []int{laptop.enter(password), program.enter(password)}; got[0]+got[1] != 400 {
				t.Fatal(got)
			}
			h.attack(of.tries, of.within)
			laptop.ip = "203.0.113.5" // it travels
			program.cookies = nil     // it keeps none
			if got := laptop.enter(password); got != 200 {
				t.Errorf("from a known device: %d", got)
			}
			if program.cookies = map[string]*http.Cookie{}; of.within < sourceTTL {
				if got := program.enter(password); got != 200 {
					t.Errorf("from a known source: %d", got)
				}
			}
			h.entersFromAnUnknownDevice(of.within <= 24*time.Hour)
		})
	}
}

// entersFromAnUnknownDevice checks that the owner gets in within 15 minutes: with the password while the guesses of the
// year last, else with the link of a mail.
func (h *fixture) entersFromAnUnknownDevice(byPassword bool) {
	h.Helper()
	phone := h.browserAt("203.0.113.200")
	h.Clock.Advance(15 * time.Minute)
	if got := phone.enter(password); (got == 200) != byPassword {
		h.Errorf("from an unknown device with the password: %d", got)
	}
	before := len(h.Mails())
	tablet := h.browserAt("203.0.113.201")
	tablet.post("POST", "/auth/password/forget", map[string]any{"email": ada}).Want(200)
	if len(h.Mails()) == before {
		h.Log("strangers have asked for all mails of the hour; the owner takes the link of one of these")
	}
	tablet.send("POST", h.mailedLink(), formType, "password=seven+dim+candles").Want(200)
	if got := tablet.enter(fresh); got != 200 {
		h.Errorf("after the link of a mail: %d", got)
	}
}
