package description

import (
	_ "embed"
	"net/http"
	"strings"

	"lamplighter.dev/shared/api/htmlpage"
	"lamplighter.dev/shared/api/rest"
)

var (
	//go:embed page/docs.html
	markup string
	//go:embed page/docs.css
	style string
	//go:embed page/docs.js
	script string
)

// docsPage returns the docs page. Its Content-Security-Policy lets the browser run only this script and style, and
// send requests only to the service that the page came from.
func docsPage() rest.Raw {
	body := strings.NewReplacer("{{css}}", style, "{{js}}", script).Replace(markup)
	policy := "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"script-src " + htmlpage.HashSource(script) + "; style-src " + htmlpage.HashSource(style)
	return rest.Raw{Body: []byte(body), Header: http.Header{
		"Content-Security-Policy": {policy}, "Referrer-Policy": {"no-referrer"},
	}}
}
