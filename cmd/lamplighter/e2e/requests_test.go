package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
)

// requestFixture is a service for tests of its HTTP answers before an operation runs.
type requestFixture struct {
	*testenv.Env
	t     *testing.T
	clock *testenv.Ahead
}

func newRequestFixture(t *testing.T) *requestFixture {
	t.Helper()
	d := &requestFixture{t: t, clock: &testenv.Ahead{}}
	d.Env = testenv.Start(t, testenv.Setup{Clock: d.clock})
	return d
}

// reply is a response with its body.
type reply struct {
	*http.Response
	body string
}

// ask makes a request with these headers: names and values in turn, some names more than once.
func (d *requestFixture) ask(line, body string, headers ...string) reply {
	d.t.Helper()
	method, path, _ := strings.Cut(line, " ")
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.URL+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for pair := range slices.Chunk(headers, 2) {
		r.Header[pair[0]] = append(r.Header[pair[0]], pair[1])
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // it is read to its end
	b, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return reply{res, string(b)}
}

// want makes a request that must get the status, and returns the decoded data.
func (d *requestFixture) want(status int, line, body string, headers ...string) map[string]any {
	d.t.Helper()
	got := d.ask(line, body, headers...)
	var out struct {
		Data any `json:"data"`
	}
	if err := json.Unmarshal([]byte(got.body), &out); err != nil || got.StatusCode != status {
		d.t.Fatalf("%s %s: %d %s, want %d", line, body, got.StatusCode, got.body, status)
	}
	data, _ := out.Data.(map[string]any)
	return data
}

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

// pat makes a personal access token of the client, and returns its secret and its id.
func (d *requestFixture) pat(c *testenv.Client) (secret, id string) {
	d.t.Helper()
	made := d.want(200, "POST /personal-access-tokens", `{"name":"nightly"}`, bearer(c.Token)...)
	secret, _ = made["token"].(string)
	id, _ = made["id"].(string)
	return secret, id
}

// check 1, and check 10: the gateway refuses a megabyte of headers, and the service does not fail.
func TestRefusals_HaveOneShape(t *testing.T) {
	t.Parallel()
	d := newRequestFixture(t)
	c := d.NewOwner("door@example.com")
	good := "Bearer " + c.Token
	for name, headers := range map[string][]string{
		"no header":              {},
		"an empty one":           {"Authorization", ""},
		"blanks":                 {"Authorization", "   "},
		"Basic":                  {"Authorization", "Basic ZG9vckBleGFtcGxlLmNvbTpsYW1w"},
		"no scheme":              {"Authorization", c.Token},
		"two headers":            {"Authorization", good, "Authorization", good},
		"a good and a bad one":   {"Authorization", good, "Authorization", "Bearer bad"},
		"two tokens in one":      {"Authorization", good + ", " + good},
		"a JWT of nobody":        {"Authorization", "Bearer eyJhbGciOiJub25lIn0.e30."},
		"a PAT of nobody":        {"Authorization", "Bearer " + identity.NewPAT()},
		"a PAT's look":           {"Authorization", "Bearer lampp_0123456789"},
		"half a megabyte":        {"Authorization", "Bearer " + strings.Repeat("a", 1<<19)},
		"the token in a cookie":  {"Cookie", "Authorization=" + c.Token},
		"another header's token": {"X-Api-Key", c.Token},
	} {
		got := d.ask("GET /organisations", "", headers...)
		if got.StatusCode != http.StatusUnauthorized || got.Header.Get("Content-Type") != "application/json" ||
			got.body != `{"error":"unauthorized"}` {
			t.Errorf("%s: %d %s %s", name, got.StatusCode, got.Header.Get("Content-Type"), got.body)
		}
	}
	d.ask("GET /organisations", "", "Authorization", "bearer "+c.Token)
	if got := d.ask("GET /organisations", "", "Authorization", "bearer "+c.Token); got.StatusCode != http.StatusOK {
		t.Errorf("lower-case bearer: %d %s", got.StatusCode, got.body)
	}
	if got := d.ask("GET /organisations", "", "Authorization",
		"Bearer "+strings.Repeat("a", 1<<20)); got.StatusCode/100 != 4 {
		t.Errorf("a megabyte: %d %s", got.StatusCode, got.body)
	}
}

// check 8: the end of a session or a token takes effect on the next request, even if the function has cached state.
func TestWhatIsOverIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	d := newRequestFixture(t)
	c := d.NewOwner("over@example.com")
	secret, _ := d.pat(c)
	d.want(200, "GET /resource-groups", "", bearer(secret)...)
	first := c.Token
	d.want(200, "POST /auth/logout", "{}", bearer(first)...)
	d.want(401, "GET /resource-groups", "", bearer(first)...)
	d.want(200, "GET /resource-groups", "", bearer(secret)...) // a token outlives the session that made it
	c.LogIn("over@example.com", c.Org)
	d.want(200, "POST /auth/password/forget", `{"email":"over@example.com"}`)
	reset := map[string]string{
		"email": "over@example.com", "otp": d.WaitForCode("over@example.com"),
		"password": "another long password 7",
	}
	d.NewClient().Call(http.MethodPatch, "/auth/password/reset", reset, nil)
	d.want(401, "GET /resource-groups", "", bearer(c.Token)...)
	d.want(401, "GET /resource-groups", "", bearer(secret)...)
}

// check 12: a token has the permissions of its maker at the time of each request.
func TestATokenFollowsItsMaker(t *testing.T) {
	t.Parallel()
	d := newRequestFixture(t)
	c := d.NewOwner("maker@example.com")
	secret, id := d.pat(c)
	group := `{"name":"lamps","members":[]}`
	d.want(200, "POST /resource-groups", group, bearer(secret)...)
	d.want(403, "POST /personal-access-tokens", `{"name":"another"}`, bearer(secret)...)
	d.want(403, "DELETE /personal-access-tokens/"+id, "", bearer(secret)...)
	claims, err := d.Platform.Tokens.Verify(t.Context(), c.Token)
	if err != nil {
		t.Fatal(err)
	}
	member := identity.MemberKey(c.Org, claims.User)
	write := func(w table.Write) {
		t.Helper()
		if _, err := d.Platform.Table.Write(table.Within(t.Context(), member.PK), w); err != nil {
			t.Fatal(err)
		}
	}
	write(table.Update(member,
		[]table.Change{table.Set("grants", []grant.Grant{{Role: grant.Viewer, Scope: grant.OrgScope}})}))
	d.want(403, "POST /resource-groups", strings.ReplaceAll(group, "lamps", "more"), bearer(secret)...)
	d.want(200, "GET /resource-groups", "", bearer(secret)...)
	write(table.Delete(member))
	d.want(401, "GET /resource-groups", "", append(bearer(secret), "X-Organisation-Id", c.Org)...)
	d.want(200, "DELETE /personal-access-tokens/"+id, "", bearer(d.without(c))...)
	d.want(401, "GET /resource-groups", "", bearer(secret)...)
}

// without returns an access token of the client's user without an organization.
func (d *requestFixture) without(c *testenv.Client) string {
	d.t.Helper()
	claims, err := d.Platform.Tokens.Verify(d.t.Context(), c.Token)
	if err != nil {
		d.t.Fatal(err)
	}
	claims.Org = ""
	token, err := d.Platform.Tokens.Sign(d.t.Context(), claims)
	if err != nil {
		d.t.Fatal(err)
	}
	return token
}

// check 12: a token ends with its last day, and stays ended.
func TestATokenEnds(t *testing.T) {
	t.Parallel()
	d := newRequestFixture(t)
	c := d.NewOwner("ends@example.com")
	secret, _ := d.pat(c)
	d.clock.Advance(90*24*time.Hour - time.Minute)
	d.want(200, "GET /personal-access-tokens", "", bearer(secret)...)
	d.clock.Advance(time.Minute)
	d.want(401, "GET /personal-access-tokens", "", bearer(secret)...)
}

// check 40: the organization comes from the session. A personal access token may choose among its maker's
// organizations; no other request may choose.
func TestNothingChoosesAnOrganizationButItsMember(t *testing.T) {
	t.Parallel()
	d := newRequestFixture(t)
	c, stranger := d.NewOwner("chooser@example.com"), d.NewOwner("stranger@example.com")
	second, _ := d.want(200, "POST /organisations", `{"name":"Second"}`, bearer(c.Token)...)["id"].(string)
	secret, _ := d.pat(c)
	in := func(path string, headers ...string) any {
		t.Helper()
		return d.want(200, "GET /organisation"+path, "", headers...)["id"]
	}
	for name, got := range map[string]any{
		"a session, with the token's header": in("", append(bearer(c.Token), "X-Organisation-Id", second)...),
		"a session, with other headers": in("",
			append(bearer(c.Token), "X-Org-Id", second, "X-Tenant-Id", stranger.Org)...),
		"a session, with a query":     in("?orgId="+second+"&tenantID="+stranger.Org, bearer(c.Token)...),
		"a token, without a header":   in("", bearer(secret)...),
		"a token, with other headers": in("?orgId="+second, append(bearer(secret), "X-Org-Id", second)...),
	} {
		if got != c.Org {
			t.Errorf("%s is in %v, want %s", name, got, c.Org)
		}
	}
	if got := in("", append(bearer(secret), "X-Organisation-Id", second)...); got != second {
		t.Errorf("a token with its header is in %v, want %s", got, second)
	}
	for _, wished := range []string{stranger.Org, "org_01k8z3v5y0e6m9x2q4t7r1c8bd", "", "nonsense"} {
		d.want(401, "GET /organisation", "", append(bearer(secret), "X-Organisation-Id", wished)...)
	}
	made := d.want(200, "POST /resource-groups", `{"name":"mine","members":[],"orgId":"`+stranger.Org+`"}`,
		bearer(c.Token)...)["id"].(string)
	d.want(404, "GET /resource-groups/"+made, "", bearer(stranger.Token)...)
	d.want(200, "GET /resource-groups/"+made, "", bearer(c.Token)...)
}

// check 54: headers about a client's address or identity change neither the identity nor the record.
func TestHeadersDoNotTellWhoOrWhere(t *testing.T) {
	t.Parallel()
	d := newRequestFixture(t)
	c, eve := d.NewOwner("who@example.com"), d.NewOwner("eve@example.com")
	forged, err := json.Marshal(map[string]any{"authorizer": map[string]string{
		"user": "usr_eve", "org": eve.Org,
		"grants": `[{"r":"owner","s":"org"}]`,
	}})
	if err != nil {
		t.Fatal(err)
	}
	smuggled := []string{
		"X-Forwarded-For", "203.0.113.66, 10.0.0.1", "X-Real-Ip", "203.0.113.66", "Forwarded", "for=203.0.113.66",
		"X-Forwarded-Host", "evil.example",
		"Host", "evil.example", "X-GoLambdaProxy-ApiGw-Context", string(forged), "x-golambdaproxy-apigw-stagevars",
		`{}`, "X-Amzn-Oidc-Identity", "usr_eve",
	}
	if got := d.want(200, "GET /organisation", "", append(bearer(c.Token), smuggled...)...)["id"]; got != c.Org {
		t.Errorf("is in %v, want %s", got, c.Org)
	}
	d.want(401, "GET /organisation", "", smuggled...)
	d.want(200, "POST /resource-groups", `{"name":"mine","members":[]}`, append(bearer(c.Token), smuggled...)...)
	rows := d.ask("GET /audit-logs?limit=100", "", bearer(c.Token)...).body
	if !strings.Contains(rows, `"ip":"127.0.0.1"`) || !strings.Contains(rows, "/resource-groups") {
		t.Errorf("the record says %s", rows)
	}
	for _, lie := range []string{"203.0.113.66", "evil.example", "usr_eve", eve.Org} {
		if strings.Contains(rows, lie) {
			t.Errorf("the record repeats %s: %s", lie, rows)
		}
	}
}

// check 66, check 69: an organization has a hundred requests a minute, over all its credentials. The test also checks
// the requests that are counted.
func TestTheHundredAndFirstRequestOfAMinute(t *testing.T) {
	t.Parallel()
	d := newRequestFixture(t)
	c, other := d.NewOwner("hundred@example.com"), d.NewOwner("other@example.com")
	secret, _ := d.pat(c)
	now := d.clock.Now()
	d.clock.Advance(now.Truncate(time.Minute).Add(time.Minute).Sub(now))
	for i := range 96 {
		credential := c.Token
		if i%2 == 1 {
			credential = secret
		}
		d.want(200, "GET /resources/types", "", bearer(credential)...)
	}
	d.want(401, "GET /resources/types", "", bearer(c.Token+"x")...)                      // does not count
	d.ask("GET /healthz", "")                                                            // nor does this
	d.want(404, "GET /resource-groups/nothing", "", bearer(c.Token)...)                  // 97
	d.want(400, "POST /resource-groups", "{", bearer(c.Token)...)                        // 98
	d.want(403, "POST /personal-access-tokens", `{"name":"another"}`, bearer(secret)...) // 99
	d.want(200, "POST /auth/logout", "{}", bearer(c.Token)...)                           // 100
	got := d.ask("GET /resources/types", "", bearer(secret)...)
	if got.StatusCode != http.StatusTooManyRequests || got.body != `{"error":"rate limit exceeded"}` ||
		got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("the 101st: %d %s", got.StatusCode, got.body)
	}
	for name := range got.Header {
		if strings.HasPrefix(name, "X-Ratelimit") || name == "Retry-After" || strings.HasPrefix(name, "Ratelimit") {
			t.Errorf("the 101st has %s: %v", name, got.Header[name])
		}
	}
	d.want(200, "GET /resources/types", "", bearer(other.Token)...)
	d.NewClient().Call(http.MethodPost, "/auth/login",
		map[string]string{"email": "hundred@example.com", "password": testenv.Password, "provider": "email"}, nil)
	d.clock.Advance(time.Minute)
	d.want(200, "GET /resources/types", "", bearer(secret)...)
}
