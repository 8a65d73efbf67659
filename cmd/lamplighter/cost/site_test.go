package cost

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/functions/auth"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/foundation/clock"
)

const (
	root     = "../../.."
	email    = "cost@example.com"
	password = "a-password-of-the-measurement"
)

// site is the whole service with one organization in it, measured while it works. It runs in a synctest bubble, so a
// wait of a minute takes no real time.
type site struct {
	*testing.T
	*local.Service
	*Ledger
	dir     string
	org     string
	token   string
	refresh string
	cloud   cloud.Provider
	calls   map[string]int // of clouds, so far
	bulks   int            // bulk actions, so far
	lumped  string         // the account that stands for others; "" without one
}

// patient is the simulated cloud with the polling delays of AWS. The simulated kinds are usually looked at sooner.
type patient struct{ pricedCloud }

// pricedCloud is a cloud with prices.
type pricedCloud interface {
	cloud.Provider
	cloud.LocalPricer
}

func (p patient) Kinds() []cloud.Kind {
	out := p.pricedCloud.Kinds()
	for i := range out {
		k, _ := cloud.KindOf(out[i].Type)
		out[i].Usual = k.Usual
	}
	return out
}

func open(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, Ledger: NewLedger(), dir: t.TempDir(), calls: map[string]int{}}
	service, err := local.Open(local.Options{
		Root: root, Dir: s.dir, NoSync: true, Clock: clock.System{}, BaseURL: "https://lamplighter.test",
		Version: "cost",
		Log:     platform.JSONLog(s.Ledger), Sender: discardMails{}, Observer: s.Ledger,
	})
	s.must(err)
	s.Service, s.cloud = service, service.Providers[simulated.Name]
	priced, ok := s.cloud.(pricedCloud)
	if !ok {
		t.Fatal("the simulated cloud has no prices")
	}
	s.Providers[simulated.Name] = patient{priced}
	return s
}

// beginOrganization makes the organization.
func (s *site) beginOrganization() {
	s.Helper()
	_, err := auth.CreateVerifiedUser(s.Context(), s.Platform, email, password, "Cost")
	s.must(err)
	s.logIn("")
	var org struct{ ID string }
	s.ask(http.MethodPost, "/organisations", map[string]string{"name": "Cost"}, &org)
	s.org = org.ID
	s.logIn(s.org)
}

// discardMails is a mail sender that accepts every mail and drops it.
type discardMails struct{}

func (discardMails) Send(context.Context, mail.Message) error { return nil }

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// ask sends a request that must succeed.
func (s *site) ask(method, path string, in, out any) {
	s.Helper()
	var body strings.Builder
	if in != nil {
		s.must(json.NewEncoder(&body).Encode(in))
	}
	r := httptest.NewRequestWithContext(s.Context(), method, path, strings.NewReader(body.String()))
	r.Header.Set("Content-Type", "application/json")
	if s.token != "" && !strings.HasPrefix(path, "/auth/") {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code/100 != 2 {
		s.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	if out != nil {
		s.must(json.Unmarshal(w.Body.Bytes(), &struct {
			Data any `json:"data"`
		}{out}))
	}
}

type session struct{ AccessToken, RefreshToken string }

func (s *site) logIn(org string) {
	s.Helper()
	var out session
	in := map[string]string{"email": email, "password": password, "provider": "email"}
	if org != "" {
		in["tenantID"] = org
	}
	s.ask(http.MethodPost, "/auth/login", in, &out)
	s.token, s.refresh = out.AccessToken, out.RefreshToken
}

// everywhere is a cloud in 16 regions with all six kinds; lumped is one with the bills of this month and the last;
// together is a cloud of instances in one region.
var (
	everywhere = map[string]string{"regions": "16"}
	lumped     = map[string]string{"regions": "16", "billedMonths": "2"}
	together   = map[string]string{"regions": "1", "kinds": "aws-ec2"}
)

// connect connects an account with size resources, and waits for its discovery.
func (s *site) connect(number string, size int, where map[string]string) (id string) {
	s.Helper()
	var account struct{ ID string }
	settings := map[string]string{
		"size": strconv.Itoa(size), "transitionSeconds": "45", "stopped": "0",
		"callMillis": strconv.Itoa(perCloudMs),
	}
	maps.Copy(settings, where)
	s.ask(http.MethodPost, "/cloud-accounts", map[string]any{
		"provider": simulated.Name, "authMethod": simulated.AuthMethod, "cloudAccountID": number,
		"name":            "Cloud " + number,
		"permissionLevel": "read_write", "credentials": settings,
	}, &account)
	s.must(s.AwaitIdle(s.Context()))
	return account.ID
}

// sample returns the usage since the last call, including the calls to the account's cloud.
func (s *site) sample(account string) Sample {
	out, n := s.Take(), 0
	for _, calls := range simulated.CallsByMethod(s.cloud, account) {
		n += calls
	}
	out.CloudCalls, s.calls[account] = n-s.calls[account], n
	return out
}
