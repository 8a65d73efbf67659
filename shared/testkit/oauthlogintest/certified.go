package oauthlogintest

import (
	_ "embed"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/testkit/npmpeer"
)

// The tested release of oidc-provider.
const certified = "oidc-provider@9.13.3"

//go:embed certified.mjs
var program string

// Certified is an oidc-provider in another process, with the people of OpenID. The OpenID Foundation has certified
// it.
type Certified struct{ issuer string }

// NewCertified starts a provider that ends with the test and redirects browsers to the address back. The test is
// skipped if peers are not requested or not available. The provider uses the machine's clock.
func NewCertified(tb testing.TB, back string) *Certified {
	tb.Helper()
	dir := npmpeer.InstallNode(tb, "oidc-provider", certified)
	port := npmpeer.FreePort(tb)
	cmd := exec.Command("node", "--no-warnings", //nolint:gosec,noctx // ends with the test
		"--input-type=module", "-", port, ClientID, Secret, back)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(program)
	npmpeer.StartPeer(tb, cmd, port)
	return &Certified{"http://127.0.0.1:" + port}
}

// Client returns the service's client at the provider.
func (c *Certified) Client() platform.Client {
	return platform.Client{ID: ClientID, Secret: Secret, Issuer: c.issuer}
}

// Visit returns the browser of a person who logs in and agrees, page by page.
func (c *Certified) Visit(tb testing.TB, address, person string) url.Values {
	tb.Helper()
	b := &browser{tb: tb, home: c.issuer}
	jar, err := cookiejar.New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	b.client = &http.Client{Jar: jar, CheckRedirect: b.follow}
	page := b.open(http.NewRequest(http.MethodGet, address, nil)) //nolint:noctx // ends with the provider
	for range 4 {
		if b.back != nil {
			return b.back
		}
		page = b.open(b.fill(page, person))
	}
	tb.Fatalf("the provider does not send the browser back: %.300s", page.text)
	return nil
}

// browser keeps cookies, and stops at a redirect that leaves home.
type browser struct {
	tb     testing.TB
	client *http.Client
	home   string
	back   url.Values
}

// page is a page in a browser, with its address.
type page struct {
	at   *url.URL
	text string
}

func (b *browser) follow(r *http.Request, _ []*http.Request) error {
	if strings.HasPrefix(r.URL.String(), b.home) {
		return nil
	}
	b.back = r.URL.Query()
	return http.ErrUseLastResponse
}

func (b *browser) open(r *http.Request, err error) page {
	b.tb.Helper()
	if err != nil {
		b.tb.Fatal(err)
	}
	resp, err := b.client.Do(r)
	if err != nil {
		b.tb.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it is read to its end
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.tb.Fatal(err)
	}
	return page{resp.Request.URL, string(text)}
}

var action = regexp.MustCompile(`action="([^"]+)"`)

// fill submits the form of a page: the log-in or the consent.
func (b *browser) fill(p page, person string) (*http.Request, error) {
	found := action.FindStringSubmatch(p.text)
	if found == nil {
		b.tb.Fatalf("no form at %s: %.300s", p.at, p.text)
	}
	to, err := p.at.Parse(strings.ReplaceAll(found[1], "&amp;", "&"))
	if err != nil {
		return nil, err
	}
	form := url.Values{"prompt": {"consent"}}
	if strings.Contains(p.text, `name="login"`) {
		form = url.Values{"prompt": {"login"}, "login": {person}, "password": {"any"}}
	}
	body := strings.NewReader(form.Encode())
	r, err := http.NewRequest(http.MethodPost, to.String(), body) //nolint:noctx // ends with the provider
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r, err
}
