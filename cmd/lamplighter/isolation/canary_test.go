package isolation

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv/probe"
)

// canary is a run with known secrets. It keeps all output of the service.
type canary struct {
	*probe.Service
	t       *testing.T
	token   string            // of the session, as the service issued it
	secrets map[string]string // by their kinds
	answers []string
}

// TestCanary calls every operation that handles a secret, with correct and with wrong input. It then looks for the
// secrets in every answer except the one that issues them, in the log at level debug, and in every file except the
// mails.
func TestCanary(t *testing.T) {
	t.Parallel()
	c := &canary{Service: probe.Start(t), t: t, secrets: map[string]string{
		"the first password": "canary-first-password-81", "a wrong password": "canary-wrong-password-82",
		"the second password":    "canary-second-password-83",
		"a simulated credential": "canarysimulatedseed84", "its successor": "canarysimulatedseed85",
		"an AWS secret":  "canaryAWSsecretAccessKey86",
		"an AWS session": "canaryAWSsessionToken87", "a token of GitHub": "canarygithubtoken90",
		"an address of a webhook": "canarywebhookpath91",
		"a forged bearer":         "canarybearer88", "a forged refresh token": "canaryrefresh89",
	}}
	c.enrol("canary@example.com")
	c.sessions("canary@example.com")
	c.programs()
	c.clouds()
	c.services()
	c.record()
	c.look()
}

// send sends a request, keeps the answer unless issuing says that it may contain a secret, and returns it.
func (c *canary) send(issuing bool, method, target, body string, header ...string) *httptest.ResponseRecorder {
	c.t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if len(header) == 2 {
		r.Header.Set(header[0], header[1])
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	if w.Code >= http.StatusInternalServerError {
		c.t.Errorf("%s %s: %d %s", method, target, w.Code, w.Body)
	}
	if !issuing {
		c.answers = append(c.answers, fmt.Sprintf("%s %s: %d %v %s", method, r.URL.Path, w.Code, w.Header(), w.Body))
	}
	return w
}

// succeed is send for a request that must succeed.
func (c *canary) succeed(issuing bool, method, target, body string, header ...string) *httptest.ResponseRecorder {
	c.t.Helper()
	w := c.send(issuing, method, target, body, header...)
	if w.Code/100 != 2 {
		c.t.Fatalf("%s %s: %d %s", method, target, w.Code, w.Body)
	}
	return w
}

// enrol signs up, in every wrong way and the right one.
func (c *canary) enrol(email string) {
	c.t.Helper()
	first := c.secrets["the first password"]
	for _, body := range []string{
		`{"email":"x","password":"` + first + `"}`, `{"email":"` + email + `","password":["` + first + `"]}`,
		`{"email":"` + email + `","password":{"` + first + `":1}}`,
		`{"email":"` + email + `","password":"` + first + `"`,
		`{"email":"` + email + `","password":"` + first + `","password":"` + first + `"}`, `{"` + first + ` `,
		`{"email":"` + email + `","password":"` + strings.Repeat(first, 10) + `"}`, `"` + first + `"`,
		`{"email":"` + email + `","password":"` + first + "\x01" + `"}`,
	} {
		c.send(false, http.MethodPost, "/auth/signup", body)
		c.send(false, http.MethodPost, "/auth/login", body)
	}
	person := `{"email":"` + email + `","password":"` + first + `","name":"Canary"}`
	c.succeed(false, http.MethodPost, "/auth/signup", person, "Idempotency-Key", "sign-up")
	c.succeed(false, http.MethodPost, "/auth/signup", person, "Idempotency-Key", "sign-up")
	c.send(false, http.MethodPost, "/auth/login", person)
	c.code("the code of the address", email)
	c.succeed(false, http.MethodPatch, "/auth/otp/validate",
		`{"email":"`+email+`","otp":"`+c.secrets["the code of the address"]+`"}`)
	c.send(false, http.MethodPatch, "/auth/otp/validate",
		`{"email":"`+email+`","otp":"`+c.secrets["the code of the address"]+`"}`)
}

// code keeps the code of the newest mail, which must differ from those before.
func (c *canary) code(what, email string) {
	c.t.Helper()
	c.Eventually("another code", func() bool {
		code := c.WaitForCode(email)
		for _, known := range c.secrets {
			if code == known {
				return false
			}
		}
		c.secrets[what] = code
		return true
	})
}

// logIn logs in with a password, and keeps the tokens.
func (c *canary) logIn(what, email, password string) {
	c.t.Helper()
	w := c.succeed(true, http.MethodPost, "/auth/login", `{"email":"`+email+`","password":"`+password+`"}`,
		"Idempotency-Key", what)
	c.enter(what, w)
}

// enter keeps the tokens that an answer issues. Of the access token it keeps the signature, the part that makes it
// valid.
func (c *canary) enter(what string, w *httptest.ResponseRecorder) {
	c.t.Helper()
	c.token = idOf(c.t, w.Body.Bytes(), "accessToken")
	c.secrets["the access token of "+what] = c.token[strings.LastIndexByte(c.token, '.')+1:]
	c.secrets["the refresh token of "+what] = idOf(c.t, w.Body.Bytes(), "refreshToken")
	for _, cookie := range w.Result().Cookies() {
		c.secrets["the device of "+what] = cookie.Value
		c.send(false, http.MethodPost, "/auth/login", `{"email":"canary@example.com","password":"`+
			c.secrets["a wrong password"]+`"}`, "Cookie", cookie.Name+"="+cookie.Value)
	}
}

// sessions calls every operation about sessions and passwords.
func (c *canary) sessions(email string) {
	c.t.Helper()
	c.send(false, http.MethodPost, "/auth/login",
		`{"email":"`+email+`","password":"`+c.secrets["a wrong password"]+`"}`)
	c.logIn("a log-in", email, c.secrets["the first password"])
	c.send(false, http.MethodGet, "/organisations?password="+"x", "", "Authorization",
		"Bearer "+c.secrets["a forged bearer"])
	c.send(false, http.MethodGet, "/organisations", "", "Authorization",
		"Bearer "+c.token[:len(c.token)-43]+c.secrets["a forged bearer"])
	c.send(false, http.MethodPost, "/auth/refresh", `{"refreshToken":"`+c.secrets["a forged refresh token"]+`"}`)
	old := c.secrets["the refresh token of a log-in"]
	c.enter("a refresh", c.succeed(true, http.MethodPost, "/auth/refresh", `{"refreshToken":"`+old+`"}`))
	c.send(false, http.MethodPost, "/auth/refresh", `{"refreshToken":"`+old+`"}`)
	c.succeed(false, http.MethodPost, "/auth/password/forget", `{"email":"`+email+`"}`)
	c.code("the code of a reset", email)
	w := c.succeed(true, http.MethodPatch, "/auth/otp/validate",
		`{"email":"`+email+`","otp":"`+c.secrets["the code of a reset"]+`","purpose":"password_reset"}`)
	c.secrets["the ticket of a reset"] = idOf(c.t, w.Body.Bytes(), "resetToken")
	reset := `{"resetToken":"` + c.secrets["the ticket of a reset"] + `","password":"` +
		c.secrets["the second password"] + `"}`
	c.succeed(false, http.MethodPatch, "/auth/password/reset", reset)
	c.send(false, http.MethodPatch, "/auth/password/reset", reset)
	c.secrets["a made-up link"] = "lampt_CANARYLINK92CANARYLINK92"
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		w := c.send(true, method, "/auth/password/reset/"+c.secrets["a made-up link"], "password=x", "Content-Type",
			"application/x-www-form-urlencoded")
		c.answers = append(c.answers, fmt.Sprint(method, " a page of a link: ", w.Header(), w.Body))
	}
	c.token = ""
	c.logIn("a log-in after it", email, c.secrets["the second password"])
	org := idOf(c.t, c.succeed(false, http.MethodPost, "/organisations", `{"name":"Canary's cage"}`).Body.Bytes(), "id")
	c.enter("a change of organizations", c.succeed(true, http.MethodPost, "/auth/refresh",
		`{"refreshToken":"`+c.secrets["the refresh token of a log-in after it"]+`","tenantID":"`+org+`"}`))
}

// programs makes a personal access token and uses it in every way, also with other tokens in place of names.
func (c *canary) programs() {
	c.t.Helper()
	w := c.succeed(true, http.MethodPost, "/personal-access-tokens", `{"name":"Canary's program"}`, "Idempotency-Key",
		"program")
	secret, id := idOf(c.t, w.Body.Bytes(), "token"), idOf(c.t, w.Body.Bytes(), "id")
	c.secrets["a personal access token"] = secret
	session := c.token
	for _, c.token = range []string{secret, secret + "x", secret[:len(secret)-1]} {
		for _, path := range []string{"/personal-access-tokens", "/permissions", "/users/me"} {
			c.send(false, http.MethodGet, path, "")
		}
		c.send(false, http.MethodPost, "/personal-access-tokens", `{"name":"`+secret+`"}`)
		c.send(false, http.MethodPatch, "/users/me", `{"name":["`+secret+`"]}`)
	}
	c.token = session
	c.send(false, http.MethodPost, "/users",
		`{"email":"invited@example.com","password":"`+c.secrets["a wrong password"]+`"}`)
	c.succeed(false, http.MethodDelete, "/personal-access-tokens/"+id, "")
	c.send(false, http.MethodPost, "/auth/login", `{"provider":"google","token":"`+c.secrets["a forged bearer"]+`"}`)
	c.send(false, http.MethodGet,
		"/auth/google/callback?code="+c.secrets["a forged bearer"]+"&state="+c.secrets["a forged refresh token"], "")
	c.send(false, http.MethodPut, "/organisation/saml", `{"metadataXML":"`+c.secrets["a wrong password"]+`"}`)
}

// record reads the audit log of this run.
func (c *canary) record() {
	c.t.Helper()
	for _, path := range []string{
		"/audit-logs?limit=100", "/audit-logs/export", "/audit-logs/export?format=csv",
		"/audit-logs/verify",
	} {
		w := c.succeed(false, http.MethodGet, path, "")
		if strings.Contains(path, "export") && !strings.Contains(w.Body.String(), "createPersonalAccessToken") {
			c.t.Errorf("%s does not even tell of the token: this looks in the wrong place", path)
		}
	}
}

// clouds connects accounts, and lets clouds refuse them. One cloud repeats the request's session token in its answer.
func (c *canary) clouds() {
	c.t.Helper()
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w,
			"<ErrorResponse><Error><Code>InvalidClientTokenId</Code><Message>invalid: "+
				"%s</Message></Error></ErrorResponse>",
			r.Header.Get("X-Amz-Security-Token"))
	}))
	defer echo.Close()
	aws := `{"name":"AWS","provider":"aws","cloudAccountID":"111122223333","authMethod":"temporary_credentials",` +
		`"permissionLevel":"read_only",` +
		`"credentials":{"accessKeyID":"AKIACANARY","secretAccessKey":"` + c.secrets["an AWS secret"] +
		`","sessionToken":"` + c.secrets["an AWS session"] + `"},"endpointURL":"`
	if w := c.send(false, http.MethodPost, "/cloud-accounts", aws+echo.URL+`"}`); w.Code != http.StatusBadRequest ||
		!strings.Contains(w.Body.String(), "invalid:") {
		c.t.Errorf("a refused AWS account: %d %s", w.Code, w.Body)
	}
	c.send(false, http.MethodPost, "/cloud-accounts", aws+`ftp://`+`"}`)
	c.send(false, http.MethodPost, "/cloud-accounts", aws)
	seed := func(what, more string) string {
		return `"credentials":{"size":"20","transitionSeconds":"0.05","seed":"` + c.secrets[what] + `"` + more + `}`
	}
	sim := `{"name":"Simulated","provider":"simulated","cloudAccountID":"canary-1","authMethod":"simulated",` +
		`"permissionLevel":"read_write",`
	c.send(false, http.MethodPost, "/cloud-accounts", sim+seed("a simulated credential", `,"refuse":"true"`)+`}`)
	w := c.succeed(false, http.MethodPost, "/cloud-accounts", sim+seed("a simulated credential", "")+`}`,
		"Idempotency-Key", "connect")
	account := "/cloud-accounts/" + idOf(c.t, w.Body.Bytes(), "id")
	c.WaitSettled()
	c.succeed(false, http.MethodPut, account, "{"+seed("its successor", "")+"}")
	c.succeed(false, http.MethodPost, account+"/discover", "{}")
	c.WaitSettled()
	for _, path := range []string{
		account, account + "/permissions", account + "/onboarding", "/cloud-accounts",
		"/resources?limit=100", "/resources/export", "/state-history", "/actions",
	} {
		c.succeed(false, http.MethodGet, path, "")
	}
}

// services connects an integration and a webhook. Their server repeats each request in its answer.
func (c *canary) services() {
	c.t.Helper()
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprint(w, r.URL, r.Header)
	}))
	defer echo.Close()
	hook := c.succeed(true, http.MethodPost, "/webhooks",
		`{"name":"Canary's webhook","url":"`+echo.URL+"/"+c.secrets["an address of a webhook"]+`/tail"}`)
	c.secrets["the secret of a webhook"] = strings.TrimPrefix(idOf(c.t, hook.Body.Bytes(), "secret"), "whsec_")
	path := "/webhooks/" + idOf(c.t, hook.Body.Bytes(), "id")
	service := c.succeed(true, http.MethodPost, "/integrations",
		`{"name":"Canary's code","kind":"github","config":{"token":"`+c.secrets["a token of GitHub"]+`","baseURL":"`+
			echo.URL+`"}}`)
	c.secrets["the secret of what comes"] = strings.TrimPrefix(idOf(c.t, service.Body.Bytes(), "webhookSecret"),
		"whsec_")
	other := "/integrations/" + idOf(c.t, service.Body.Bytes(), "id")
	for _, request := range []string{
		"POST " + path + "/test", "GET " + path + "/deliveries", "GET /webhooks",
		"POST " + other + "/test", "GET " + other, "GET /integrations",
	} {
		method, target, _ := strings.Cut(request, " ")
		c.succeed(false, method, target, "")
	}
	c.send(false, http.MethodPost, "/integrations",
		`{"name":"x","kind":"github","config":{"token":"`+c.secrets["a token of GitHub"]+` ","baseURL":"x"}}`)
	c.send(false, http.MethodPost, "/webhooks",
		`{"name":"x","url":"ftp://x.example/`+c.secrets["an address of a webhook"]+`"}`)
}

// look searches all output of the service for every secret.
func (c *canary) look() {
	c.t.Helper()
	c.succeed(false, http.MethodPost, "/auth/logout",
		`{"refreshToken":"`+c.secrets["the refresh token of a change of organizations"]+`"}`)
	c.Stop()
	found := map[string]string{"the log": c.Log.String()}
	for i, answer := range c.answers {
		found[fmt.Sprintf("answer %d", i)] = answer
	}
	files := 0
	err := filepath.WalkDir(c.Setup.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) == "mails" {
			return err
		}
		b, err := os.ReadFile(path) //nolint:gosec // of the test's own folder
		found["file "+filepath.Base(path)] = string(b)
		files++
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	for what, sign := range map[string]string{"the log": "/auth/login", "file store.db": "Canary's cage"} {
		if !strings.Contains(found[what], sign) {
			c.t.Errorf("%s does not even hold %q: this looks in the wrong place", what, sign)
		}
	}
	if files < 4 {
		c.t.Errorf("%d files are fewer than store and keys", files)
	}
	for what, secret := range c.secrets {
		for where, text := range found {
			if i := spilt(secret, text); i >= 0 {
				c.t.Errorf("%s is in %s: %.500q", what, where, text[max(0, i-200):])
			}
		}
	}
}

// spilt returns the position of a secret in text, or -1. Six digits count as a code only if no digit is next to them.
func spilt(secret, text string) int {
	if len(secret) != 6 {
		return strings.Index(text, secret)
	}
	at := regexp.MustCompile(`(^|[^0-9A-Za-z.])` + secret + `($|[^0-9A-Za-z])`).FindStringIndex(text)
	if at == nil {
		return -1
	}
	return at[0]
}
