package description

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strings"

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

// docsPage returns the docs page. The policy in its header lets the browser run this script and style and nothing else, and talk
// to nobody but the service that it came from.
func docsPage() rest.Raw {
	body := strings.NewReplacer("{{css}}", style, "{{js}}", script).Replace(markup)
	policy := "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"script-src " + hash(script) + "; style-src " + hash(style)
	return rest.Raw{Body: []byte(body), Header: http.Header{
		"Content-Security-Policy": {policy}, "Referrer-Policy": {"no-referrer"},
	}}
}

// hash names an inline script or style in a content security policy.
func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
