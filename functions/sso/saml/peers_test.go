package saml

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
	"time"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/npmpeer"
	"lamplighter.dev/shared/testkit/samltest"
)

// samlp is another maker's identity provider, in a process of its own.
type samlp struct {
	t   testing.TB
	url string
}

func startSamlp(t testing.TB) string {
	t.Helper()
	modules := npmpeer.InstallNode(t, "samlp", "samlp@8.0.0", "express@4.21.2")
	port := npmpeer.FreePort(t)
	cmd := exec.Command("node",
		filepath.Join(npmpeer.ModuleRoot(t), "shared", "testkit", "samltest", "testdata", "samlp.mjs"))
	cmd.Env = append(cmd.Environ(), "PORT="+port, "MODULES="+modules,
		"PEM="+filepath.Join(npmpeer.ModuleRoot(t), "shared", "testkit", "samltest", "testdata", "idp.pem"))
	npmpeer.StartPeer(t, cmd, port)
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

func (s samlp) answer(address string) []byte {
	s.t.Helper()
	m := field.FindSubmatch(s.get(address))
	if m == nil {
		s.t.Fatal("the provider sends no response")
	}
	doc, err := base64.StdEncoding.DecodeString(html.UnescapeString(string(m[1])))
	if err != nil {
		s.t.Fatal(err)
	}
	return doc
}

// check 25, at another maker's provider: sign-in works, and nothing else does.
func TestAttacksOnAResponseOfSamlp(t *testing.T) {
	url := startSamlp(t)
	for _, signed := range []string{"assertion", "response", "both"} {
		t.Run("signed: "+signed, func(t *testing.T) {
			s := samlp{t, url + "/" + signed}
			p := parsed(t, s.metadata(), time.Now())
			attack(t, s.answer(begin(t, p)), Expected{p, us, "_begun", time.Now()})
		})
	}
}

func TestAResponseOfSamlpThatIsNotBelieved(t *testing.T) {
	at := startSamlp(t)
	for name, tt := range map[string]struct {
		signed, who string
		refused     bool
	}{
		"SHA-1":          {"sha1", samltest.Ada, true},
		"another domain": {"assertion", "ada@other.test", false}, // check 26: whose it is, is the operation's to judge
		"one of theirs":  {"assertion", samltest.Boss, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := samlp{t, at + "/" + tt.signed}
			p := parsed(t, s.metadata(), time.Now())
			doc := s.answer(begin(t, p) + "&who=" + url.QueryEscape(tt.who))
			want := Expected{p, us, "_begun", time.Now()}
			if tt.refused {
				refused(t, doc, want, fault.Unauthenticated)
			} else if who := believed(t, doc, want); who.Email != tt.who {
				t.Errorf("signed in %+v", who)
			}
		})
	}
}
