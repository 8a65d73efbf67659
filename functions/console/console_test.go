package console_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions/console"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

// api is the address of the API in these tests. It has the prefix of a stage, which requests to the function do not
// have.
const api = "https://api.example.com/prod"

func newConsole() http.Handler {
	p := &platform.Platform{Settings: platform.Settings{BaseURL: api}}
	h, _ := rest.Mount(p, console.Operations(p))
	return h
}

func get(h http.Handler, at, accept string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, at, nil)
	r.Header.Set("Accept", accept)
	h.ServeHTTP(w, r)
	return w
}

// address matches what a page or a module loads.
var address = regexp.MustCompile(`(?:href="|src="|from "|import\(")([^"]+)"`)

// crawl returns the answers to all requests of a browser that opens the page at the path, by their paths.
func crawl(t *testing.T, h http.Handler, from string) map[string]*httptest.ResponseRecorder {
	t.Helper()
	seen, queue := map[string]*httptest.ResponseRecorder{}, []string{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if seen[at] != nil {
			continue
		}
		w := get(h, at, "*/*")
		seen[at] = w
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", at, w.Code, w.Body)
		}
		if at != from && path.Ext(at) != ".js" {
			continue
		}
		for _, m := range address.FindAllStringSubmatch(w.Body.String(), -1) {
			queue = append(queue, resolve(t, at, m[1]))
		}
	}
	return seen
}

// resolve returns the path that ref means on the page or in the module at base.
func resolve(t *testing.T, base, ref string) string {
	t.Helper()
	b, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	u, err := b.Parse(ref)
	if err != nil || u.Host != "" || strings.HasPrefix(ref, "/") {
		t.Fatalf("%s loads %q: only relative addresses of this origin work below a stage's prefix (%v)", base, ref, err)
	}
	return u.Path
}

func TestPage_LoadsEveryFileFromEachAddress(t *testing.T) {
	h := newConsole()
	for _, at := range []string{"/console", "/console/", "/console/resources", "/console/resources/res_1"} {
		got := crawl(t, h, at)
		if got[at].Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %v", at, got[at].Header())
		}
		delete(got, at)
		for name, w := range got {
			if w.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
				t.Errorf("%s: %v", name, w.Header())
			}
		}
		for _, file := range embedded(t) {
			if path.Ext(file) == ".txt" || file == "index.html" {
				continue
			}
			if !slices.ContainsFunc(keys(got), func(p string) bool { return strings.HasSuffix(p, "/"+file) }) {
				t.Errorf("%s: nothing loads the file %s", at, file)
			}
		}
	}
}

func keys(m map[string]*httptest.ResponseRecorder) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}

// embedded returns the files below static.
func embedded(t *testing.T) (out []string) {
	t.Helper()
	for _, pattern := range []string{"static/*.*", "static/*/*"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 && pattern == "static/*.*" {
			t.Fatalf("no files: %v", err)
		}
		for _, f := range found {
			out = append(out, strings.TrimPrefix(f, "static/"))
		}
	}
	return out
}

func TestFiles_ConfineTheBrowser(t *testing.T) {
	for at, w := range crawl(t, newConsole(), "/console") {
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "same-origin",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", at, name, got, want)
			}
		}
		policy := w.Header().Get("Content-Security-Policy")
		for _, directive := range []string{
			"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'",
			"form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
			"trusted-types 'none'",
		} {
			if !slices.Contains(strings.Split(policy, "; "), directive) {
				t.Errorf("%s: the policy has no %s: %s", at, directive, policy)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %s", at, policy)
		}
	}
}

// inline matches scripts, styles and handlers within a page, and markup that is written into a page as text.
var inline = regexp.MustCompile(`<script>|<style|\son[a-z]+="|\sstyle="|dangerouslySetInnerHTML|\beval\(|new Function`)

// foreign matches addresses of other origins, apart from names of XML namespaces.
var foreign = regexp.MustCompile(`https?://[^"'\s]+`)

func TestFiles_HaveNothingInlineAndNothingForeign(t *testing.T) {
	for _, name := range embedded(t) {
		if name == "vendor.js" || path.Ext(name) == ".txt" {
			continue
		}
		b, err := os.ReadFile(filepath.Join("static", name))
		if err != nil {
			t.Fatal(err)
		}
		if found := inline.Find(b); found != nil {
			t.Errorf("%s has %q: the Content-Security-Policy refuses it", name, found)
		}
		for _, u := range foreign.FindAllString(string(b), -1) {
			if u != "http://www.w3.org/2000/svg" {
				t.Errorf("%s names another origin: %s", name, u)
			}
		}
	}
}

func TestFiles_OfAnotherVersionAreNotFound(t *testing.T) {
	h := newConsole()
	for _, at := range []string{
		"/console/v/0000000000000000/lamp.svg", "/console/v/0000000000000000/screens/overview.js",
		"/console/v", "/console/v/", "/console/v/0000000000000000", "/console/v/0000000000000000/",
		"/console/v/../lamp.svg", "/console/v/0000000000000000/..%2findex.html",
	} {
		if w := get(h, at, "*/*"); w.Code != http.StatusNotFound || strings.Contains(w.Header().Get("Cache-Control"),
			"immutable") {
			t.Errorf("%s: %d %v", at, w.Code, w.Header())
		}
	}
}

func TestStart_LeadsABrowserToTheConsole(t *testing.T) {
	h := newConsole()
	w := get(h, "/", "text/html,application/xhtml+xml,*/*;q=0.8")
	if w.Code != http.StatusFound || w.Header().Get("Location") != "/prod/console" {
		t.Errorf("browser: %d %v", w.Code, w.Header())
	}
	w = get(h, "/", "*/*")
	for _, link := range []string{"/console", "/docs", "/openapi.json", "/healthz"} {
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"`+api+link+`"`) {
			t.Errorf("program: %d %s, want %s", w.Code, w.Body, link)
		}
	}
	if w.Header().Get("Vary") != "Accept" {
		t.Errorf("a cache would mix both answers: %v", w.Header())
	}
}

// firstLoadLimit is how many bytes the files that every visit needs may have in transit.
const firstLoadLimit = 80 << 10

func TestPage_FirstLoadIsSmall(t *testing.T) {
	total := 0
	for at, w := range crawl(t, newConsole(), "/console") {
		if !strings.Contains(at, "/screens/") {
			total += packed(t, w.Body.Bytes())
		} else if n := packed(t, w.Body.Bytes()); n > 8<<10 {
			t.Errorf("%s has %d bytes with gzip; a screen has at most 8 KB", at, n)
		}
	}
	if total > firstLoadLimit {
		t.Errorf("the first load has %d bytes with gzip, want at most %d", total, firstLoadLimit)
	}
	t.Logf("first load: %d bytes with gzip", total)
}

func packed(t *testing.T, b []byte) int {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}
