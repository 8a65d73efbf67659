package sso

import (
	"encoding/base64"
	"html"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/npmpeer"
)

// samlp is another maker's identity provider, in a process of its own.
type samlp struct {
	t   testing.TB
	url string
}

func startSamlp(t testing.TB) string {
	t.Helper()
	modules := npmpeer.Node(t, "samlp", "samlp@8.0.0", "express@4.21.2")
	port := npmpeer.Port(t)
	cmd := exec.Command("node", filepath.Join(npmpeer.Root(t), "functions", "sso", "testdata", "samlp.mjs"))
	cmd.Env = append(cmd.Environ(), "PORT="+port, "MODULES="+modules, "PEM="+filepath.Join(npmpeer.Root(t), "functions", "sso", "testdata", "idp.pem"))
	npmpeer.Start(t, cmd, port)
	return "http://127.0.0.1:" + port
}

func (s samlp) get(address string) []byte {
	s.t.Helper()
	r, err := http.Get(address) //nolint:gosec,noctx // the peer's
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		s.t.Fatalf("%d, %v: %.500s", r.StatusCode, err, b)
	}
	return b
}

func (s samlp) metadata() []byte { return s.get(s.url + "/metadata") }

// field is the response in the form that a browser would send on.
var field = regexp.MustCompile(`name="SAMLResponse"\s+value="([^"]+)"`)

func (s samlp) answer(h *fixture, u *url.URL) []byte {
	h.Helper()
	m := field.FindSubmatch(s.get(u.String()))
	if m == nil {
		h.Fatal("the provider sends no response")
	}
	doc := apitest.Value(base64.StdEncoding.DecodeString(html.UnescapeString(string(m[1]))))(h)
	return doc
}

// check 25, at another maker's provider: sign-in works, and nothing else does.
func TestAttacksOnAResponseOfSamlp(t *testing.T) {
	url := startSamlp(t)
	for _, signed := range []string{"assertion", "response", "both"} {
		t.Run("signed: "+signed, func(t *testing.T) {
			h, s := newFixture(t).atMachineTime(), samlp{t, url + "/" + signed}
			o := h.found("owner@example.com")
			o.set(map[string]any{"metadataURL": s.url + "/metadata", "domains": []string{"example.com"}})
			o.prove()
			besieged(t, h, s)
		})
	}
}

func TestAResponseOfSamlpThatIsNotBelieved(t *testing.T) {
	at := startSamlp(t)
	h := newFixture(t).atMachineTime()
	o := h.found("owner@example.com")
	for name, tt := range map[string]struct {
		how, who string
		status   int
	}{
		"SHA-1":          {"sha1", ada, http.StatusUnauthorized},
		"another domain": {"assertion", "ada@other.test", http.StatusForbidden}, // check 26
		"one of theirs":  {"assertion", boss, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			h.TB = t
			s := samlp{t, at + "/" + tt.how}
			o.connect(s.metadata(), "example.com")
			u := h.begin(ada)
			u.RawQuery += "&who=" + url.QueryEscape(tt.who)
			h.finish(s.answer(h, u)).want(t, tt.status)
		})
	}
}
