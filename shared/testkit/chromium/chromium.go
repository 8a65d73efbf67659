// Package chromium runs Chromium without a window beside a test, for what only a browser can show. It speaks the Chrome
// DevTools Protocol over a pipe.
package chromium

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"lamplighter.dev/shared/testkit/npmpeer"
)

// answerTime limits the wait for an answer of the browser, on real time.
const answerTime = 30 * time.Second

// programs are the names under which Chromium is installed.
var programs = [...]string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// longest is how long a browser may run.
const longest = 4 * time.Minute

// Tab is a page of a browser. Its methods fail the test when the browser does not do what they ask. One goroutine may
// use it.
type Tab struct {
	tb      testing.TB
	out     *os.File // to the browser
	in      *bufio.Reader
	answers *os.File // what in reads
	last    int
	session string
}

// Open starts a browser with an empty profile, and returns its page. The test is skipped, loudly, unless peers are
// wanted and Chromium is installed.
func Open(tb testing.TB) *Tab {
	tb.Helper()
	npmpeer.SkipUnlessWanted(tb)
	program := find(tb)
	toBrowser, out := pipe(tb)
	answers, fromBrowser := pipe(tb)
	// The context of a test ends before its cleanups: a killed browser leaves children that still write to the profile.
	ctx, kill := context.WithTimeout(context.WithoutCancel(tb.Context()), longest)
	cmd := exec.CommandContext(ctx, program, //nolint:gosec // one of programs
		"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir="+tb.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser} // the descriptors 3 and 4
	tb.Cleanup(kill)
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = out.Close() // the browser ends with its pipe
		_ = cmd.Wait()
	})
	_, _ = toBrowser.Close(), fromBrowser.Close()
	t := &Tab{tb: tb, out: out, in: bufio.NewReader(answers), answers: answers}
	t.attach()
	return t
}

func find(tb testing.TB) string {
	tb.Helper()
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	tb.Skip("SKIPPED: Chromium is not installed")
	return ""
}

func pipe(tb testing.TB) (r, w *os.File) {
	tb.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	return r, w
}

// attach opens a page and directs all later commands to it.
func (t *Tab) attach() {
	t.tb.Helper()
	var target struct{ TargetID string }
	t.Command("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	t.Command("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	t.session = attached.SessionID
}

// command is a message to the browser.
type command struct {
	ID      int    `json:"id"`
	Session string `json:"sessionId,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// reply is a message of the browser: the answer to a command, or an event, which has no ID.
type reply struct {
	ID     int
	Result json.RawMessage
	Error  *struct{ Message string }
}

// Command sends a command and decodes its result into out, unless that is nil. Events are dropped.
func (t *Tab) Command(method string, params, out any) {
	t.tb.Helper()
	t.last++
	b, err := json.Marshal(command{ID: t.last, Session: t.session, Method: method, Params: params})
	if err == nil {
		_, err = t.out.Write(append(b, 0))
	}
	if err != nil {
		t.tb.Fatalf("%s: %v", method, err)
	}
	result, err := t.await(t.last)
	if err == nil && out != nil {
		err = json.Unmarshal(result, out)
	}
	if err != nil {
		t.tb.Fatalf("%s: %v", method, err)
	}
}

// await reads messages until the answer to a command.
func (t *Tab) await(id int) (json.RawMessage, error) {
	if err := t.answers.SetReadDeadline(time.Now().Add(answerTime)); err != nil {
		return nil, err
	}
	for {
		b, err := t.in.ReadBytes(0)
		if err != nil {
			return nil, fmt.Errorf("no answer of the browser: %w", err)
		}
		var m reply
		if err = json.Unmarshal(b[:len(b)-1], &m); err != nil {
			return nil, err
		}
		if m.ID != id {
			continue
		}
		if m.Error != nil {
			return nil, errors.New(m.Error.Message)
		}
		return m.Result, nil
	}
}

// Visit loads an address, and waits until its document is there.
func (t *Tab) Visit(address string) {
	t.tb.Helper()
	var got struct{ ErrorText string }
	t.Command("Page.navigate", map[string]any{"url": address}, &got)
	if got.ErrorText != "" {
		t.tb.Fatalf("visit %s: %s", address, got.ErrorText)
	}
	if where := t.Evaluate(loaded); where != address {
		t.tb.Fatalf("visit %s: the page is %v", address, where)
	}
}

// loaded is a script that waits until the page is loaded, and returns its address.
const loaded = `new Promise(done => document.readyState === 'complete' ? done(location.href) :
	addEventListener('load', () => done(location.href)))`

// Evaluate runs a script in the page, waits for its promise, and returns its value. An exception is returned as
// Exception.
func (t *Tab) Evaluate(script string) any {
	t.tb.Helper()
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	t.Command("Runtime.evaluate", map[string]any{
		"expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true,
	}, &out)
	if e := out.ExceptionDetails; e != nil {
		return Exception(e.Text + " " + e.Exception.Description)
	}
	return out.Result.Value
}

// Exception is the text of an exception of a script.
type Exception string

// AddAuthenticator gives the browser a virtual authenticator (WebAuthn, section 11) that keeps passkeys and verifies
// its user, and returns its ID.
func (t *Tab) AddAuthenticator() string {
	t.tb.Helper()
	t.Command("WebAuthn.enable", map[string]any{}, nil)
	var out struct{ AuthenticatorID string }
	t.Command("WebAuthn.addVirtualAuthenticator", map[string]any{"options": map[string]any{
		"protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
		"isUserVerified": true, "automaticPresenceSimulation": true,
	}}, &out)
	return out.AuthenticatorID
}
