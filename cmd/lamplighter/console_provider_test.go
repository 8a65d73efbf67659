package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/chromium"
	"lamplighter.dev/shared/testkit/oauthlogintest"
	"lamplighter.dev/shared/testkit/race"
)

// A person signs in to the console at a provider of another site, in a real browser with its rules for cookies.
func TestConsole_SignInAtAProviderInChromium(t *testing.T) {
	race.SkipRacedBy(t, "cmd/lamplighter/e2e")
	tab := chromium.Open(t)
	provider := oauthlogintest.NewOpenID(t, clock.System{})
	provider.URL = strings.Replace(provider.URL, "127.0.0.1", "localhost", 1) // another site than the service's
	provider.Edit(func(claims map[string]any) {
		claims["email"], claims["email_verified"], claims["hd"] = local.DemoEmail, true, "lamplighter.example"
	})
	t.Setenv("LAMPLIGHTER_GOOGLE_CLIENT_ID", oauthlogintest.ClientID)
	t.Setenv("LAMPLIGHTER_GOOGLE_CLIENT_SECRET", oauthlogintest.Secret)
	t.Setenv("LAMPLIGHTER_GOOGLE_ISSUER", provider.URL)
	s := serveIn(t, filepath.Join(t.TempDir(), "provider"))
	c := &consoleInBrowser{t, tab, "http://" + strings.TrimPrefix(s.address(), "http://")}
	c.watch()
	c.tab.Command("Network.enable", map[string]any{}, nil)
	c.tab.Command("Network.setExtraHTTPHeaders", map[string]any{"headers": map[string]string{"X-Person": "demo"}}, nil)
	c.open("/console", "input[name=email]")
	c.until(button("Continue with Google"))
	before := len(c.history())
	c.tab.Evaluate(button("Continue with Google") + `.click()`)
	for end := time.Now().Add(waitInPage * time.Millisecond); len(c.history()) == before; {
		time.Sleep(100 * time.Millisecond)
		if time.Now().After(end) {
			t.Fatalf("the browser never came back: %v", c.tab.Evaluate(`document.body.innerText`))
		}
	}
	c.until(find(".tiles"))
	c.want("the address", `location.href`, c.base+"/console/")
	for _, address := range c.history() {
		if strings.Contains(address, "code=") || strings.Contains(address, "state=") {
			t.Errorf("the history has %s", address)
		}
	}
	c.want("cookies that a script sees", `document.cookie`, "")
	c.want("tokens in Web Storage", `JSON.stringify(localStorage) + JSON.stringify(sessionStorage)`, "{}{}")
	if provider.Calls("/token") != 1 {
		t.Errorf("the code was sent %d times", provider.Calls("/token"))
	}
	c.open("/console/resources", ".row:not(.ghost)") // the cookie keeps the person signed in
	c.keepsTheThemeWithTheAccount()
}

// history returns the addresses of the pages that the tab has shown.
func (c *consoleInBrowser) history() (out []string) {
	c.Helper()
	var got struct{ Entries []struct{ URL string } }
	c.tab.Command("Page.getNavigationHistory", map[string]any{}, &got)
	for _, e := range got.Entries {
		out = append(out, e.URL)
	}
	return out
}

// keepsTheThemeWithTheAccount chooses a theme, and opens the console as on a device that knows nothing of it.
func (c *consoleInBrowser) keepsTheThemeWithTheAccount() {
	c.Helper()
	c.tab.Evaluate(`document.querySelector('.side > .popup > button').click()`)
	c.until(button("Dark theme"))
	c.tab.Evaluate(button("Dark theme") + `.click()`)
	c.until(`performance.getEntriesByName(location.origin + '/users/me').length > 1`)
	c.tab.Evaluate(`localStorage.clear()`)
	c.open("/console", ".tiles")
	c.until(`document.documentElement.dataset.theme === 'dark'`)
}
