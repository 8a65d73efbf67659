package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
)

// The loop of the service announces the end of a token from the API once, in a mail with the token's name.
func TestAnEndingTokenIsAnnouncedByMail(t *testing.T) {
	t.Parallel()
	clock, dir := &testenv.Ahead{}, t.TempDir()
	e := testenv.Start(t, testenv.Setup{Clock: clock, Dir: dir})
	c := e.NewOwner("reminded@example.com")
	c.Call(http.MethodPost, "/personal-access-tokens", map[string]any{"name": "nightly report", "expiresInDays": 8},
		nil)
	c.Call(http.MethodPost, "/personal-access-tokens", map[string]any{"name": "short", "expiresInDays": 7}, nil)
	announced := func() int {
		files, err := filepath.Glob(filepath.Join(dir, "mails", "*"))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, f := range files {
			b, err := os.ReadFile(f) //nolint:gosec // of this test
			if err != nil {
				t.Fatal(err)
			}
			if text := string(b); strings.Contains(text, "token is about to end") {
				n++
				if !strings.Contains(text, "nightly report") || !strings.Contains(text, "To: <reminded@example.com>") {
					t.Errorf("the mail says\n%s", text)
				}
			}
		}
		return n
	}
	remind := func() {
		t.Helper()
		clock.Advance(24 * time.Hour)
		if err := e.Remind(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	remind()
	e.Eventually("a mail about the end", func() bool { return announced() == 1 })
	remind()
	if err := e.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := announced(); n != 1 {
		t.Errorf("%d mails", n)
	}
}
