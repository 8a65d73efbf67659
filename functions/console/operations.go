// Package console serves the web console: one page, and the modules, styles and pictures that it loads. All of it is
// public. The page has no data; it gets data from the API as the user who signs in to it.
package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"lamplighter.dev/shared/api/htmlpage"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
)

// Path is the path of the console below the address of the API.
const Path = "/console"

// contentPolicy lets the page run only its own files and send requests only to its own origin. Trusted Types without a
// policy make innerHTML and its kind throw.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// The values of Cache-Control. The address of a file has the sum of all files, so a file never changes.
const (
	revalidate = "no-cache"
	forAYear   = "public, max-age=31536000, immutable"
)

// service serves the console. The files are read at the first request for them.
type service struct {
	*platform.Platform
	assets func() assets
}

// Operations returns the operations of the console. They belong to no group of the interface and have no tag.
func Operations(p *platform.Platform) *rest.Group {
	g, s := rest.NewGroup(""), &service{p, sync.OnceValue(loadAssets)}
	rest.Handle(g, rest.Op{
		ID: "getStart", Method: http.MethodGet, Path: "/", Public: true, Produces: "application/json",
		Summary: "Get the addresses of the console, the docs and the interface description",
		Description: "302 to the console if the header Accept has text/html, as that of a browser; else 200 with " +
			"the addresses.",
	}, s.getStart)
	notFound := []int{http.StatusNotFound}
	rest.Handle(g, pageOp("getConsole", Path, nil), func(ctx context.Context, _ *noInput) (rest.Raw, error) {
		return s.page(ctx), nil
	})
	rest.Handle(g, pageOp("getConsoleScreen", Path+"/{screen}", notFound),
		func(ctx context.Context, in *screenInput) (rest.Raw, error) { return s.screen(ctx, in.Screen) })
	rest.Handle(g, pageOp("getConsoleRecord", Path+"/{screen}/{recordID}", notFound),
		func(ctx context.Context, in *recordInput) (rest.Raw, error) { return s.screen(ctx, in.Screen) })
	rest.Handle(g, fileOp("getConsoleFile", "{file}"), func(_ context.Context, in *fileInput) (rest.Raw, error) {
		return s.file(in.Version, in.File)
	})
	rest.Handle(g, fileOp("getConsoleScreenFile", "screens/{file}"),
		func(_ context.Context, in *fileInput) (rest.Raw, error) {
			return s.file(in.Version, "screens/"+in.File)
		})
	return g
}

// noInput is the input of operations without parameters.
type noInput struct{}

type screenInput struct {
	Screen string `path:"screen" maxLength:"64" doc:"The screen to show"`
}

type recordInput struct {
	Screen   string `path:"screen" maxLength:"64" doc:"The screen to show"`
	RecordID string `path:"recordID" maxLength:"256" doc:"The record to show"`
}

type fileInput struct {
	Version string `path:"version" maxLength:"64" doc:"The sum of all files, from the page"`
	File    string `path:"file" maxLength:"64" doc:"The name of the file"`
}

// pageOp declares an operation that returns the page. The page reads the screen and the record from its address.
func pageOp(id, path string, statuses []int) rest.Op {
	return rest.Op{
		ID: id, Method: http.MethodGet, Path: path, Public: true, Console: true, Produces: htmlpage.ContentType,
		Summary: "Show the console", Description: "The same page for each screen; it needs no sign-in itself.",
		Statuses: statuses,
	}
}

// fileOp declares an operation that returns files of one folder of the console.
func fileOp(id, name string) rest.Op {
	return rest.Op{
		ID: id, Method: http.MethodGet, Path: Path + "/v/{version}/" + name, Public: true, Console: true,
		Produces: "text/javascript, text/css, image/svg+xml, text/plain",
		Summary:  "Get a file of the console",
		Description: "It never changes: the version in its address is the sum of all files. 404: the file belongs " +
			"to another version; load the page again.",
		Statuses: []int{http.StatusNotFound},
	}
}

// start is the content of GET / for programs.
type start struct {
	Data links `json:"data"`
}

type links struct {
	Console     string `json:"console"`
	Docs        string `json:"docs"`
	Description string `json:"description"`
	Health      string `json:"health"`
}

// getStart redirects browsers to the console, and returns the addresses of the API's parts to programs.
func (s *service) getStart(ctx context.Context, _ *noInput) (rest.Raw, error) {
	if strings.Contains(rest.RequestHeader(ctx, "Accept"), "text/html") {
		return rest.Raw{Status: http.StatusFound, Header: http.Header{
			"Location": {s.prefix() + Path}, "Vary": {"Accept"},
		}}, nil
	}
	base := s.Settings.BaseURL
	b, err := json.Marshal(start{links{base + Path, base + "/docs", base + "/openapi.json", base + "/healthz"}})
	if err != nil {
		return rest.Raw{}, fault.Wrap("encode addresses", err)
	}
	return rest.Raw{Header: http.Header{"Vary": {"Accept"}}, Body: b}, nil
}

// prefix returns the path of the API's address, for example /prod, or "". The redirect has no host, so that it leads to
// the host that the browser has asked.
func (s *service) prefix() string {
	u, err := url.Parse(s.Settings.BaseURL)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(u.Path, "/")
}

// page returns the page for the request of ctx.
func (s *service) page(ctx context.Context) rest.Raw {
	a := s.assets()
	return newAnswer("text/html; charset=utf-8", revalidate, []byte(a.pageAt(rest.RequestPath(ctx))))
}

// filesFolder is the folder of the files of all versions, so it is the name of no screen.
const filesFolder = "v"

// screen returns the page for a screen. Its name is not checked, because the page knows its screens.
func (s *service) screen(ctx context.Context, name string) (rest.Raw, error) {
	if name == filesFolder {
		return rest.Raw{}, fault.New(fault.NotFound, "%s/%s has files and no page: open %[1]s", Path, filesFolder)
	}
	return s.page(ctx), nil
}

// file returns a file of the current version.
func (s *service) file(version, name string) (rest.Raw, error) {
	a := s.assets()
	b, ok := a.files[name]
	if !ok || version != a.version {
		return rest.Raw{}, fault.New(fault.NotFound, "the console of this version (%s) has no file %.64q of version "+
			"%.64q: load the page again", a.version, name, version)
	}
	return newAnswer(contentType(name), forAYear, b), nil
}

// newAnswer returns an answer with the headers that confine the console in a browser.
func newAnswer(kind, caching string, body []byte) rest.Raw {
	return rest.Raw{Body: body, Header: http.Header{
		"Content-Type": {kind}, "Cache-Control": {caching}, "Content-Security-Policy": {contentPolicy},
		"Cross-Origin-Opener-Policy": {"same-origin"}, "Cross-Origin-Resource-Policy": {"same-origin"},
		"Referrer-Policy": {"same-origin"},
	}}
}
