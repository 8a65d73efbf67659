package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/shared/testkit/chromium"
	"lamplighter.dev/shared/testkit/race"
)

// consoleInBrowser is the console of a running demo, in a tab of Chromium.
type consoleInBrowser struct {
	*testing.T

	tab  *chromium.Tab
	base string
}

// waitInPage is how long a page is asked for what a test waits for, in milliseconds, and waits is how often. The
// machine may be busy, and a page that reaches the limit of 100 requests a minute goes on by itself in the next minute.
const (
	waitInPage = 20_000
	waits      = 4
)

// until waits in the page until an expression is true.
func (c *consoleInBrowser) until(expression string) {
	c.Helper()
	for range waits {
		got := c.tab.Evaluate(fmt.Sprintf(`new Promise(done => {
			const end = Date.now() + %d;
			(function look() {
				let is = false;
				try { is = Boolean(%s); } catch {}
				is || Date.now() > end ? done(is) : setTimeout(look, 50);
			})();
		})`, waitInPage, expression))
		if got == true {
			return
		}
	}
	c.Fatalf("%s never became true; the page says: %.600v", expression, c.tab.Evaluate(`document.body.innerText`))
}

// open visits a path of the console, and waits until a selector matches.
func (c *consoleInBrowser) open(path, selector string) {
	c.Helper()
	c.tab.Visit(c.base + path)
	c.until(find(selector))
}

// find returns the expression for the first element that matches a selector.
func find(selector string) string { return "document.querySelector(" + quote(selector) + ")" }

// button returns the expression for the button whose text begins with a word.
func button(word string) string {
	return "[...document.querySelectorAll('button')].find(b => b.innerText.startsWith(" + quote(word) + "))"
}

// quote returns a text as a literal of JavaScript.
func quote(text string) string {
	b, _ := json.Marshal(text) // a string can always be encoded
	return string(b)
}

func (c *consoleInBrowser) want(what, expression string, want any) {
	c.Helper()
	if got := c.tab.Evaluate(expression); got != want {
		c.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// signIn fills in the form for the demo's user and sends it.
func (c *consoleInBrowser) signIn(password string) {
	c.Helper()
	c.until(find("input[name=email]"))
	c.tab.Evaluate(`(() => {
		const form = document.querySelector('.signin form');
		form.email.value = ` + quote(local.DemoEmail) + `;
		form.password.value = ` + quote(password) + `;
		form.requestSubmit();
	})()`)
}

// The console against the service with its demo, in one browser: each step uses the state that the one before left.
func TestConsole_InChromium(t *testing.T) {
	race.SkipRacedBy(t, "cmd/lamplighter/e2e")
	tab := chromium.Open(t)
	s := serveIn(t, filepath.Join(t.TempDir(), "console"))
	password := login.FindStringSubmatch(s.printed())[1]
	c := &consoleInBrowser{t, tab, "http://" + strings.TrimPrefix(s.address(), "http://")}
	c.watch()

	c.signInTheDemo(password)
	c.survivesReloads()
	c.confinesScripts()
	c.stopsAResource()
	c.keepsTheStateInTheAddress()
	c.opensEveryScreen()
	c.drillsIntoCosts()
	c.editsASchedule()
	c.signsOut()
	c.worksBelowAStage(password)
	c.want("reports of the Content-Security-Policy", `sessionStorage.getItem('violations') || ''`, "")
}

// watch counts violations of the Content-Security-Policy in each page that the tab opens.
func (c *consoleInBrowser) watch() {
	c.Helper()
	c.tab.Command("Page.enable", map[string]any{}, nil)
	c.tab.Command("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `
		addEventListener('securitypolicyviolation', (e) => {
			if (e.sample === 'Element innerHTML|<b>x</b>') return; // the one that a test provokes
			sessionStorage.setItem('violations', (sessionStorage.getItem('violations') || '') +
				e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sample + '\n');
		});`}, nil)
}

func (c *consoleInBrowser) signInTheDemo(password string) {
	c.Helper()
	c.open("/console", "input[name=email]")
	c.signIn(password + "x")
	c.until(find("[role=alert]"))
	c.want("focus on the first field", `document.activeElement.name`, "email")
	began := time.Now()
	c.signIn(password)
	c.until(find(".tiles"))
	c.Logf("from sign-in to the overview: %s", time.Since(began).Round(time.Millisecond))
	c.want("cookies that a script sees", `document.cookie`, "")
	c.want("tokens in Web Storage", `JSON.stringify(localStorage) + JSON.stringify(sessionStorage)`, "{}{}")
}

// survivesReloads reloads the page in quick succession: each load but the last has spent a refresh token without
// seeing the answer.
func (c *consoleInBrowser) survivesReloads() {
	c.Helper()
	for range 6 {
		c.tab.Visit(c.base + "/console")
	}
	c.until(find(".tiles"))
}

func (c *consoleInBrowser) confinesScripts() {
	c.Helper()
	c.want("writing HTML", `(() => {
		try { document.body.innerHTML = '<b>x</b>'; return 'written'; } catch (e) { return e.name; }
	})()`, "TypeError")
}

func (c *consoleInBrowser) stopsAResource() {
	c.Helper()
	c.open("/console/resources?status=running&type=aws-ec2&search=env%3Ddev", ".row:not(.ghost)")
	c.want("elements in the page", `document.querySelectorAll('*').length < 1000`, true)
	name := c.tab.Evaluate(`document.querySelector('.row .name a').innerText`)
	c.tab.Evaluate(`document.querySelector('.grid').focus()`)
	c.key("s")
	c.until(find("dialog .plan li"))
	c.want("the plan", `document.querySelector('dialog .plan b').innerText`, name)
	c.tab.Evaluate(button("Stop 1") + `.click()`)
	c.until(`[...document.querySelectorAll('.toast')].some(t => t.innerText.includes('1 resource stopped'))`)
	c.open("/console/activity", "tbody tr")
	c.until(`document.querySelector('tbody').innerText.includes(` + quote(fmt.Sprint(name)) + `)`)
}

// key presses a key.
func (c *consoleInBrowser) key(text string) {
	c.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		c.tab.Command("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": text, "text": text}, nil)
	}
}

func (c *consoleInBrowser) keepsTheStateInTheAddress() {
	c.Helper()
	c.open("/console/resources", ".row:not(.ghost)")
	c.tab.Evaluate(button("State") + `.click()`)
	c.until(find(".panel input[type=checkbox]"))
	c.tab.Evaluate(`[...document.querySelectorAll('.panel label')].
		find(l => l.innerText.startsWith('Stopped')).click()`)
	c.until(`location.search === '?status=stopped'`)
	c.until(`[...document.querySelectorAll('.row .lamp')].length > 0 &&
		[...document.querySelectorAll('.row .lamp')].every(l => l.classList.contains('stopped'))`)
	c.tab.Evaluate(`document.querySelector('.row .name a').click()`)
	c.until(find(".list"))
	c.want("focus after the page changed", `document.activeElement.tagName`, "H1")
	c.tab.Evaluate(`history.back()`)
	c.until(`location.search === '?status=stopped' && document.querySelector('.grid')`)
}

// opensEveryScreen follows each link of the navigation. A screen has a title and no error.
func (c *consoleInBrowser) opensEveryScreen() {
	c.Helper()
	const links = `[...document.querySelectorAll('.side .links a:not([target])')]`
	c.open("/console", ".tiles")
	c.want("screens in the navigation", links+`.length >= 14`, true)
	for i := range int(c.tab.Evaluate(links + `.length`).(float64)) {
		link := fmt.Sprintf("%s[%d]", links, i)
		c.tab.Evaluate(link + `.click()`)
		c.until(link + `.ariaCurrent === 'page' && document.querySelector('main h1') &&
			document.querySelector('main :is(.body, .grid, .empty)') && !document.querySelector('main .ghosts')`)
		c.want(fmt.Sprintf("errors of screen %d", i),
			`[...document.querySelectorAll('[role=alert]')].map(e => e.innerText).join()`, "")
		c.want(fmt.Sprintf("width of screen %d", i), `document.documentElement.scrollWidth <= innerWidth`, true)
	}
}

// drillsIntoCosts opens a service in the table of costs: it becomes a filter, and the chart is read by the keyboard.
func (c *consoleInBrowser) drillsIntoCosts() {
	c.Helper()
	c.open("/console/costs", "tbody .link")
	name := c.tab.Evaluate(`document.querySelector('tbody[role] .link').innerText`)
	c.tab.Evaluate(`document.querySelector('tbody[role] .link').click()`)
	c.until(`new URLSearchParams(location.search).get('name.service_name') === ` + quote(fmt.Sprint(name)))
	c.until(find(".chart svg") + ` && document.querySelector('.filters .on b')?.innerText === ` +
		quote(fmt.Sprint(name)))
	c.tab.Evaluate(`document.querySelector('.chart').focus()`)
	c.press("Home")
	c.until(`document.querySelector('.chart [aria-live]').innerText.includes('$')`)
}

// editsASchedule makes a schedule of the default hours. The evaluator says what it would do.
func (c *consoleInBrowser) editsASchedule() {
	c.Helper()
	c.open("/console/schedules/new", ".window")
	c.until(`[...document.querySelectorAll('.rows.spaced li')].length === 10`)
	c.tab.Evaluate(`(() => {
		const name = document.querySelector('.stack input');
		name.value = 'In the browser';
		name.dispatchEvent(new Event('input', { bubbles: true }));
	})()`)
	c.until(button("Save") + `?.disabled === false`)
	c.tab.Evaluate(button("Save") + `.click()`)
	c.until(`location.pathname.includes('/schedules/sch_')`)
	c.until(`document.querySelector('h1').innerText === 'In the browser'`)
	c.until(button("Attach a group"))
}

// press presses a key that writes nothing.
func (c *consoleInBrowser) press(key string) {
	c.Helper()
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		c.tab.Command("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key}, nil)
	}
}

func (c *consoleInBrowser) signsOut() {
	c.Helper()
	c.tab.Evaluate(`document.querySelector('.side > .popup > button').click()`)
	c.until(button("Sign out"))
	c.tab.Evaluate(button("Sign out") + `.click()`)
	c.until(find("input[name=email]"))
	c.open("/console/resources", "input[name=email]")
}

// worksBelowAStage opens the console where API Gateway serves it without a domain: below a prefix that the service
// does not know.
func (c *consoleInBrowser) worksBelowAStage(password string) {
	c.Helper()
	target, err := url.Parse(c.base)
	if err != nil {
		c.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	srv := httptest.NewServer(http.StripPrefix("/prod", proxy))
	c.Cleanup(srv.Close)
	below := &consoleInBrowser{c.T, c.tab, srv.URL + "/prod"}
	below.open("/console/resources?status=stopped", "input[name=email]")
	below.signIn(password)
	below.until(find(".row:not(.ghost)"))
	below.tab.Evaluate(`document.querySelector('.row .name a').click()`)
	below.until(find(".list"))
	below.want("the path of a resource", `location.pathname.startsWith('/prod/console/resources/res_')`, true)
}
