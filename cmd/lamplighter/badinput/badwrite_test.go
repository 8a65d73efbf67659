package badinput

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func (b *bad) methods(t *testing.T) {
	group := "/resource-groups/" + b.e["groupID"]
	for _, header := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "_method"} {
		b.ask(t, http.MethodGet, group+"?_method=DELETE", "", header, http.MethodDelete)
		b.ask(t, http.MethodPost, group, "_method=DELETE", header, http.MethodDelete)
	}
	for _, method := range []string{
		"get", "delete", "Delete", "DELETE ", http.MethodTrace, http.MethodConnect,
		"PROPFIND", "X", "QUERY",
	} {
		if w := b.ask(t, method, group, ""); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%q: %d %.200s", method, w.Code, w.Body)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPatch, http.MethodOptions} {
		w := b.ask(t, method, group, "{}")
		if w.Code != http.StatusMethodNotAllowed || w.Body.String() != `{"error":"method not allowed"}` ||
			w.Header().Get("Allow") == "" {
			t.Errorf("%s: %d %v %.200s", method, w.Code, w.Header(), w.Body)
		}
	}
	if w := b.ask(t, http.MethodHead, group, ""); w.Code != http.StatusOK || w.Body.Len() > 0 {
		t.Errorf("HEAD: %d %.200s", w.Code, w.Body)
	}
	if w := b.ask(t, http.MethodGet, group, ""); w.Code != http.StatusOK {
		t.Errorf("the group is gone: %d %.200s", w.Code, w.Body)
	}
}

func (b *bad) tooLarge(t *testing.T) {
	page := func(w *httptest.ResponseRecorder, status int) {
		t.Helper()
		if w.Code != status || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") ||
			!strings.Contains(w.Body.String(), "<html>") {
			t.Errorf("got %d %v %.200s, want a page of %d", w.Code, w.Header(), w.Body, status)
		}
	}
	full := `{"name":"` + strings.Repeat("a", 1<<20-11) + `"}`
	page(b.ask(t, http.MethodPost, "/organisations", full+" "), http.StatusRequestEntityTooLarge)
	page(b.ask(t, http.MethodPost, "/organisations", strings.Repeat("[", 5<<20)), http.StatusRequestEntityTooLarge)
	if w := b.ask(t, http.MethodPost, "/organisations", full); w.Code != http.StatusBadRequest {
		t.Errorf("a body of just one MiB: %d %.200s", w.Code, w.Body)
	}
	page(b.ask(t, http.MethodGet, "/resources/"+strings.Repeat("a", 9<<10), ""), http.StatusRequestURITooLong)
	page(b.ask(t, http.MethodGet, "/nowhere?"+strings.Repeat("a", 10<<10), ""), http.StatusRequestURITooLong)
}

// forged is members that clients may not set.
const forged = `"id":"grp_00000000000000000000000000","orgId":"org_00000000000000000000000000","organisationID":"x",` +
	`"role":"owner","roles":["owner"],` +
	`"isAdmin":true,"createdAt":"2001-01-01T00:00:00Z","updatedAt":"2001-01-01T00:00:00Z","createdBy":"usr_forged",` +
	`"ownerId":"usr_forged","status":"connected",` +
	`"emailVerified":true,"verified":true,"resourceCount":4711,"memberCount":4711,"jobID":"job_forged","sealed":"x",` +
	`"changedBy":"manual:god","reason":"forged",` +
	`"epoch":9,"expires":"2001-01-01T00:00:00Z","pk":"ORG#x","__proto__":{"role":"owner"}`

func (b *bad) massAssignment(t *testing.T) {
	account := "/cloud-accounts/" + b.e["accountID"]
	group := "/resource-groups/" + b.e["groupID"]
	for _, c := range [][3]string{
		{http.MethodPost, "/organisations", `{"name":"Forged",` + forged + `}`},
		{
			http.MethodPost, "/auth/signup",
			`{"email":"forged@example.com","password":"correct horse battery 43",` + forged + `}`,
		},
		{http.MethodPost, "/resource-groups", `{"name":"Forged",` + forged + `}`},
		{http.MethodPut, group, `{"description":"x",` + forged + `}`},
		{http.MethodPut, account, `{"name":"Forged",` + forged + `}`},
		{
			http.MethodPost, "/cloud-accounts",
			`{"name":"Forged 2","provider":"simulated","cloudAccountID":"forged","authMethod":"simulated",` +
				`"permissionLevel":"read_write","credentials":{"size":"1"},` + forged + `}`,
		},
		{http.MethodGet, group + "?orgId=org_0&role=owner", ""},
	} {
		w := b.ask(t, c[0], c[1], c[2], "X-Org-Id", "org_00000000000000000000000000", "X-Role", "owner", "X-User-Id",
			"usr_forged")
		if w.Code != http.StatusOK {
			t.Errorf("%s %s: %d %.300s", c[0], c[1], w.Code, w.Body)
		}
		for _, taken := range []string{
			"0000000000", "2001-01-01", ":4711", "usr_forged", "job_forged",
			`"emailVerified":true`, `"cloudAccountID":"999"`, "owner", "god",
		} {
			if strings.Contains(w.Body.String(), taken) {
				t.Errorf("%s %s takes %s over: %.500s", c[0], c[1], taken, w.Body)
			}
		}
	}
	for _, fixed := range []string{`"provider":"aws"`, `"cloudAccountID":"999"`} { // the client is told that they stay
		if w := b.ask(t, http.MethodPut, account, `{"name":"Forged 3",`+fixed+`}`); w.Code != http.StatusBadRequest {
			t.Errorf("PUT %s with %s: %d %.300s", account, fixed, w.Code, w.Body)
		}
		if w := b.ask(t, http.MethodGet, account, ""); strings.Contains(w.Body.String(), fixed) ||
			strings.Contains(w.Body.String(), "Forged 3") {
			t.Errorf("PUT %s takes %s over: %.500s", account, fixed, w.Body)
		}
	}
	b.WaitSettled()
	login := `{"email":"forged@example.com","password":"correct horse battery 43"}`
	if w := b.ask(t, http.MethodPost, "/auth/login", login); w.Code != http.StatusForbidden {
		t.Errorf("who forged emailVerified logs in: %d %.300s", w.Code, w.Body)
	}
}

// smuggling sends headers from which some adapters, proxies or frameworks read the caller or the address.
func (b *bad) smuggling(t *testing.T) {
	want := b.ask(t, http.MethodGet, "/organisations", "").Body.String()
	stranger := b.NewCaller(t, b.NewOwner("stranger@example.com"))
	for _, header := range []string{
		"X-Golambdaproxy-ApiGw-Context", "X-GoLambdaProxy-ApiGw-StageVars", "X-Forwarded-User", "X-Amzn-Principal-Id",
		"X-Amzn-Oidc-Data", "X-Organisation-Id", "X-Org-Id", "X-Tenant-Id",
	} {
		for _, value := range []string{
			b.Claims.Org, b.Claims.User,
			`{"authorizer":{"principalId":"` + b.Claims.User + `","user":"` + b.Claims.User + `","org":"` +
				b.Claims.Org + `"}}`,
		} {
			w := stranger.Ask(t, http.MethodGet, "/cloud-accounts?orgId="+b.Claims.Org, "", header, value)
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"total":0`) {
				t.Errorf("%s: %s: %d %.300s", header, value, w.Code, w.Body)
			}
			if w = stranger.Ask(t, http.MethodGet, "/cloud-accounts/"+b.e["accountID"], "", header,
				value); w.Code != http.StatusNotFound {
				t.Errorf("%s: %s: %d %.300s", header, value, w.Code, w.Body)
			}
		}
	}
	for _, header := range [][]string{
		{"Host", "evil.example"},
		{"X-Forwarded-Host", "evil.example"},
		{"X-Forwarded-For", "1.2.3.4, 5.6.7.8"},
		{"X-Original-URL", "/healthz"},
		{"X-Rewrite-URL", "/healthz"},
	} {
		if w := b.ask(t, http.MethodGet, "/organisations", "", header...); w.Body.String() != want {
			t.Errorf("%v: %d %.300s, want %s", header, w.Code, w.Body, want)
		}
	}
	if w := b.ask(t, http.MethodGet, "/organisations", "", "X-Request-Id",
		"a\"b<script>"); strings.Contains(w.Header().Get("X-Request-Id"), "script") {
		t.Errorf("a forged name is taken over: %v", w.Header())
	}
}

// strangeNames are names that every operation refuses.
var strangeNames = map[string]string{
	"nothing": "", "a space": " ", "spaces of several kinds": " \u00a0\u2003\u3000", "a NUL": "a\x00b",
	"a line break": "a\nb", "a carriage return": "a\rb",
	"an escape": "a\x1b[31mb", "a delete": "a\x7fb", "a C1 control": "a\u0085b", "a line separator": "a\u2028b",
	"a right-to-left override": "a\u202eb", "nothing that is seen": "\u200b",
	"129 characters": strings.Repeat("a", 129), "129 characters of four bytes": strings.Repeat("\U0001F600", 129),
	"64 KiB": strings.Repeat("a", 1<<16),
}

func (b *bad) strangeNames(t *testing.T) {
	for title, name := range strangeNames {
		for _, at := range [][3]string{
			{http.MethodPost, "/organisations", `{"name":%}`},
			{http.MethodPost, "/resource-groups", `{"name":%}`},
			{http.MethodPut, "/resource-groups/" + b.e["groupID"], `{"name":%}`},
			{http.MethodPut, "/cloud-accounts/" + b.e["accountID"], `{"name":%}`},
			{
				http.MethodPost, "/cloud-accounts",
				`{"name":%,"provider":"simulated","cloudAccountID":"named","authMethod":"simulated",` +
					`"permissionLevel":"read_only","credentials":{"size":"1"}}`,
			},
		} {
			quoted, err := json.Marshal(name)
			if err != nil {
				t.Fatal(err)
			}
			if w := b.ask(t, at[0], at[1],
				strings.Replace(at[2], "%", string(quoted), 1)); w.Code != http.StatusBadRequest {
				t.Errorf("%s %s: a name of %s: %d %.200s", at[0], at[1], title, w.Code, w.Body)
			}
		}
	}
}

func (b *bad) formulas(t *testing.T) {
	for i, name := range []string{`=HYPERLINK("http://evil.example","x")`, "+1", "-1", "@SUM(A1)", `a","=1+1`} {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		if w := b.ask(t, http.MethodPut, "/cloud-accounts/"+b.e["accountID"],
			`{"name":`+string(quoted)+`}`); w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
		w := b.ask(t, http.MethodGet, "/resources/export?cloud_account_id="+b.e["accountID"], "")
		rows, err := csv.NewReader(w.Body).ReadAll()
		if err != nil || len(rows) < 10 {
			t.Fatalf("export: %d rows, %v", len(rows), err)
		}
		column := slices.Index(rows[0], "cloudAccountName")
		want := "'" + name
		if i == 4 {
			want = name // begins with a letter: it stays one cell
		}
		if got := rows[1][column]; got != want {
			t.Errorf("%s is exported as %s", name, got)
		}
	}
}

// named checks the error answers that come from the gateway, not from a function.
func (b *bad) named(t *testing.T) {
	plain := &http.Client{}
	for _, c := range []struct {
		method, path, credential string
		want                     int
	}{
		{http.MethodGet, "/resources", "", http.StatusUnauthorized},
		{http.MethodGet, "/resources", "Bearer x", http.StatusUnauthorized},
		{http.MethodGet, "/resources", "Basic eDp5", http.StatusUnauthorized},
		{http.MethodGet, "/resources", "Bearer " + strings.Repeat("a", 100_000), http.StatusUnauthorized},
		{http.MethodGet, "/nowhere", "", http.StatusNotFound},
		{http.MethodGet, "//resources", "", http.StatusNotFound},
		{"PROPFIND", "/resources", "", http.StatusMethodNotAllowed},
		{http.MethodGet, "/" + strings.Repeat("a", 9<<10), "", http.StatusRequestURITooLong},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, b.URL+c.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", c.credential)
		res, err := plain.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close() //nolint:errcheck // not read
		if res.StatusCode != c.want || res.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s %.40s: %d %v, want %d", c.method, c.path, res.StatusCode, res.Header, c.want)
		}
	}
	b.limited(t)
}

// limited sends requests until the minute's limit is reached.
func (b *bad) limited(t *testing.T) {
	t.Helper()
	other := b.NewOwner("limited@example.com")
	for range 120 {
		res, err := other.Send(t.Context(), http.MethodGet, "/resources/types", nil)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close() //nolint:errcheck // not read
		if res.StatusCode != http.StatusTooManyRequests {
			continue
		}
		if res.Header.Get("X-Request-Id") == "" || res.Header.Get("Retry-After") != "" {
			t.Errorf("429: %v", res.Header)
		}
		return
	}
	t.Error("120 requests in a minute pass")
}
