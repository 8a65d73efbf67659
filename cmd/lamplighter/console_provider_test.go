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
	c.tab.Evaluate(button("Continue with Google") + `.click()`)
	// A browser that is between two pages answers no command, so the test waits until the last page has begun.
	for settled, end := 0, time.Now().Add(waitInPage*time.Millisecond); settled < 4; {
		time.Sleep(500 * time.Millisecond)
		if settled += provider.Calls("/token"); settled == 0 && time.Now().After(end) {
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
	password := login.FindStringSubmatch(s.printed())[1]
	c.keepsTypedInputWhenTheSessionEnds(password)
	c.tellsWhyASignInFailed(password)
	c.emptiesAllTabs(password)
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

// keepsTypedInputWhenTheSessionEnds ends all sessions of the user while the page has an unsent word. The sign-in
// appears over the page, and the word stays.
func (c *consoleInBrowser) keepsTypedInputWhenTheSessionEnds(password string) {
	c.Helper()
	c.open("/console/resources", ".row:not(.ghost)")
	c.tab.Evaluate(`(() => {
		const i = document.createElement('input');
		i.id = 'unsent';
		i.value = 'typed before';
		document.querySelector('main').append(i);
	})()`)
	c.endSessions(password)
	c.tab.Evaluate(`(() => {
		const i = document.querySelector('.filters > input');
		i.value = 'web';
		i.dispatchEvent(new Event('input', { bubbles: true }));
	})()`)
	c.until(find("dialog.signin[open] input[name=password]"))
	c.want("the page below", `document.querySelector('#unsent').value`, "typed before")
	c.tab.Evaluate(`document.querySelector('dialog.signin').close()`)
	c.until(find("dialog.signin[open]"))
	c.tab.Evaluate(`document.querySelector('dialog.signin form').email.value = ''`)
	c.signIn(password)
	c.until(`!document.querySelector('dialog.signin') && document.querySelector('.filters > input')`)
	c.want("the typed word", `document.querySelector('.filters > input').value`, "web")
	c.until(`location.search.includes('search=web')`)
	c.want("the unsent word", `document.querySelector('#unsent').value`, "typed before")
}

// endSessions ends all sessions of the demo's user but one of its own, as a person does from another device.
func (c *consoleInBrowser) endSessions(password string) {
	c.Helper()
	c.tab.Evaluate(`(async () => {
		const json = { 'Content-Type': 'application/json' };
		const body = JSON.stringify({ email: ` + quote(local.DemoEmail) + `, password: ` + quote(password) + ` });
		const login = await fetch('/auth/login', { method: 'POST', headers: json, body, credentials: 'omit' });
		const headers = { Authorization: 'Bearer ' + (await login.json()).data.accessToken };
		const all = (await (await fetch('/auth/sessions', { headers, credentials: 'omit' })).json()).data;
		for (const s of all.items || all)
			if (!s.current) await fetch('/auth/sessions/' + s.id, { method: 'DELETE', headers, credentials: 'omit' });
	})()`)
}

// tellsWhyASignInFailed opens the address to which a failed callback leads.
func (c *consoleInBrowser) tellsWhyASignInFailed(password string) {
	c.Helper()
	c.tab.Evaluate(`document.querySelector('.side > .popup > button').click()`)
	c.until(button("Sign out"))
	c.tab.Evaluate(button("Sign out") + `.click()`)
	c.until(find("input[name=email]"))
	arrive := func(problem string) { // the page removes the word from its address
		c.tab.Command("Page.navigate", map[string]any{"url": c.base + "/console/?signin=" + problem}, nil)
		c.until(find("[role=alert]"))
	}
	arrive("expired")
	c.want("the reason", `document.querySelector('[role=alert]').innerText.split(',')[0]`,
		"The sign-in took too long")
	c.want("the address", `location.pathname + location.search`, "/console")
	arrive("%3Cb%3Ecall+0800%3C%2Fb%3E")
	c.want("a stranger's text", `document.body.innerText.includes('0800')`, false)
	c.until(button("Continue with single"))
	c.want("what is offered", `[...document.querySelectorAll('.ways button')].map(b => b.innerText).join()`,
		"Continue with Google,Continue with single sign-on")
	c.tab.Evaluate(`document.querySelector('[name=email]').value = 'ada@unknown.example'`)
	c.tab.Evaluate(button("Continue with single") + `.click()`)
	c.until(`document.querySelector('[role=alert]').innerText.includes('no single sign-on for unknown.example')`)
	c.signIn(password)
	c.until(find(".tiles"))
}

// emptiesAllTabs logs out in another tab: by the channel between tabs, and in a browser without it.
func (c *consoleInBrowser) emptiesAllTabs(password string) {
	c.Helper()
	c.tab.Evaluate(`new BroadcastChannel('lamplighter').postMessage('signed out')`)
	c.until(find(".signin input[name=email]"))
	c.want("data in the page", `document.querySelector('.tiles')`, nil)
	var added struct {
		Identifier string `json:"identifier"`
	}
	c.tab.Command("Page.addScriptToEvaluateOnNewDocument", map[string]any{
		"source": `delete self.BroadcastChannel`,
	}, &added)
	c.open("/console", ".tiles")
	c.want("the channel", `typeof BroadcastChannel`, "undefined")
	c.tab.Evaluate(`dispatchEvent(new StorageEvent('storage', { key: 'lamplighter.news', newValue: 'signed out' }))`)
	c.until(find(".signin input[name=email]"))
	c.signIn(password)
	c.until(find(".tiles"))
	c.want("what it leaves in the storage", `JSON.stringify(localStorage)`, "{}")
	c.tab.Command("Page.removeScriptToEvaluateOnNewDocument", map[string]any{"identifier": added.Identifier}, nil)
	c.open("/console", ".tiles")
}
