package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/shared/testkit/race"
)

// login matches the printed login, with its password.
var login = regexp.MustCompile(`Login +` + regexp.QuoteMeta(local.DemoEmail) + ` / (\S+)`)

// logInDemo logs in with a password, and returns the status of the answer.
func (s *served) logInDemo(t *testing.T, password string) int {
	t.Helper()
	_, err := local.NewClient(s.address()).Login(t.Context(), local.DemoEmail, password, "")
	if refused, ok := errors.AsType[*local.StatusError](err); ok {
		return refused.Status
	}
	if err != nil {
		t.Fatal(err)
	}
	return http.StatusOK
}

func (s *served) wantLogin(t *testing.T, password string, status int) {
	t.Helper()
	if got := s.logInDemo(t, password); got != status {
		t.Errorf("a log-in with %q is answered by %d, want %d", password, got, status)
	}
}

func TestServe_MakesARandomDemoPasswordAndKeepsIt(t *testing.T) {
	race.SkipRacedBy(t, "cmd/lamplighter/e2e")
	t.Parallel()
	var passwords [2]string
	for i := range passwords {
		s := serveIn(t, filepath.Join(t.TempDir(), "new"))
		file := filepath.Join(s.dir, "demo-password")
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("the file of the password: %v, %v", info, err)
		}
		b, err := os.ReadFile(file) //nolint:gosec // made by the service of the test
		printed := login.FindStringSubmatch(s.printed())
		if err != nil || printed == nil || string(b) != printed[1]+"\n" || !strings.Contains(s.printed(), file) {
			t.Fatalf("the file has %q (%v), and the service printed\n%s", b, err, s.printed())
		}
		passwords[i] = printed[1]
		s.wantLogin(t, printed[1], http.StatusOK)
		s.wantLogin(t, "light-the-lamps-2026", http.StatusUnauthorized)
		s.shut(t)
		if i == 0 { // the same folder keeps its password
			again := serveIn(t, s.dir)
			again.wantLogin(t, passwords[0], http.StatusOK)
			again.shut(t)
		}
	}
	if passwords[0] == passwords[1] || len(passwords[0]) < 20 {
		t.Errorf("two folders have the passwords %q", passwords)
	}
}

// Somebody who writes a password of their own into the file gets commands that work, too.
func TestWelcome_QuotesTheDemoPassword(t *testing.T) {
	for _, password := range []string{"abcde-fghij-klmno", `it's "quoted" $HOME \n`, "<ümlaut> & `id`"} {
		var out bytes.Buffer
		made := local.Demo{Password: password}
		if err := welcome(&out, choices{demo: true}, "http://127.0.0.1:1", made, 0); err != nil {
			t.Fatal(err)
		}
		_, word, _ := strings.Cut(out.String(), "    -d ")
		word, _, _ = strings.Cut(word, " | sed")
		printed, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+word).Output() //nolint:gosec // ours
		var body struct{ Email, Password string }
		if err == nil {
			err = json.Unmarshal(printed, &body)
		}
		if err != nil || body.Email != local.DemoEmail || body.Password != password {
			t.Errorf("the shell makes %s of %s: %v", printed, word, err)
		}
	}
}

func TestServe_SetsTheDemoPasswordOfItsFile(t *testing.T) {
	race.SkipRacedBy(t, "cmd/lamplighter/e2e")
	t.Parallel()
	s := serveIn(t, t.TempDir())
	was := login.FindStringSubmatch(s.printed())[1]
	s.shut(t)
	const chosen = "a password of my own"
	if err := os.WriteFile(filepath.Join(s.dir, "demo-password"), []byte(chosen+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = serveIn(t, s.dir)
	s.wantLogin(t, chosen, http.StatusOK)
	s.wantLogin(t, was, http.StatusUnauthorized)
	s.shut(t)
}

func TestServe_AnswersOnlyToItsHosts(t *testing.T) {
	race.SkipRacedBy(t, "cmd/lamplighter/e2e")
	t.Parallel()
	args := []string{
		"serve", "-root", "../..", "-dir", t.TempDir(), "-addr", "127.0.0.1:0", "-demo=false", "-host", "lamps.example",
	}
	s := serveUntil(t, "  Mails   ", func(ctx context.Context, out io.Writer) error {
		return run(ctx, args, out, io.Discard)
	})
	for host, want := range map[string]int{
		"": http.StatusOK, "localhost": http.StatusOK, "lamps.example": http.StatusOK,
		"evil.example": http.StatusMisdirectedRequest,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.address()+"/healthz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want || res.Header.Get("X-Request-Id") == "" {
			t.Errorf("host %q: %d, %v; want %d", host, res.StatusCode, res.Header, want)
		}
	}
	s.shut(t)
}
