// Package htmlpage makes the pages that the service shows to people who follow a link in a mail or a chat.
//
// Every text of a page is escaped. A page runs no script, loads nothing from elsewhere, is not stored by browsers or
// search engines, and does not tell its address to pages that it links to.
package htmlpage

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
)

// ContentType is the content type of a page.
const ContentType = "text/html; charset=utf-8"

var (
	//go:embed page.html
	markup string
	//go:embed page.css
	style string
)

// Page is a page with a title, under construction.
type Page struct {
	title string
	body  strings.Builder
}

// Fact is a line of a list of facts, for example "Costs" and "$1.20".
type Fact struct{ Name, Value string }

// New returns an empty page with the title.
func New(title string) *Page { return &Page{title: title} }

// AddParagraph adds a paragraph of text.
func (p *Page) AddParagraph(text string) *Page { return p.add("<p>%s</p>\n", text) }

// AddNote adds a highlighted paragraph, which screen readers announce.
func (p *Page) AddNote(text string) *Page {
	return p.add("<p class=\"note\" role=\"status\">%s</p>\n", text)
}

// AddButton adds a button that sends a POST request to the address of the page.
func (p *Page) AddButton(label string) *Page {
	return p.add("<form method=\"post\"><button type=\"submit\">%s</button></form>\n", label)
}

// AddButtonTo adds a button that sends a POST request to an address relative to the page.
func (p *Page) AddButtonTo(action, label string) *Page {
	p.add("<form method=\"post\" action=\"%s\">", action)
	return p.add("<button type=\"submit\">%s</button></form>\n", label)
}

// AddPasswordForm adds a form that sends a new password as the field "password" in a POST request to the address of the
// page.
func (p *Page) AddPasswordForm(label, button string, least int) *Page {
	p.add("<form method=\"post\"><p><label for=\"password\">%s</label></p>\n", label)
	p.add("<p><input id=\"password\" name=\"password\" type=\"password\" autocomplete=\"new-password\" required "+
		"minlength=\"%s\"></p>\n", strconv.Itoa(least))
	return p.add("<button type=\"submit\">%s</button></form>\n", button)
}

// AddFacts adds a list of facts.
func (p *Page) AddFacts(facts ...Fact) *Page {
	p.body.WriteString("<dl>\n")
	for _, f := range facts {
		p.add("<dt>%s</dt>", f.Name).add("<dd>%s</dd>\n", f.Value)
	}
	p.body.WriteString("</dl>\n")
	return p
}

// add adds the element, a format with one %s for the escaped text.
func (p *Page) add(element, text string) *Page {
	fmt.Fprintf(&p.body, element, html.EscapeString(text))
	return p
}

// Answer returns the page as the answer to a request.
func (p *Page) Answer(status int) rest.Raw {
	text := strings.NewReplacer("{{title}}", html.EscapeString(p.title), "{{css}}", style, "{{body}}",
		p.body.String()).Replace(markup)
	return rest.Raw{Status: status, Body: []byte(text), Header: http.Header{
		"Content-Security-Policy": {"default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors " +
			"'none'; style-src " + HashSource(style)},
		"Referrer-Policy": {"no-referrer"}, "X-Robots-Tag": {"noindex, nofollow"},
	}}
}

// AnswerFailure returns the page of an error that a reader can do something about: fault.NotFound and fault.Limited. It
// returns any other error as it is.
func AnswerFailure(err error) (rest.Raw, error) {
	switch {
	case fault.Is(err, fault.NotFound):
		return New("Not found").AddParagraph(fault.Message(err)).Answer(http.StatusNotFound), nil
	case fault.Is(err, fault.Limited):
		return New("Too many requests").AddParagraph(fault.Message(err)).Answer(http.StatusTooManyRequests), nil
	}
	return rest.Raw{}, err
}

// HashSource returns the source expression that allows an inline script or style in a Content-Security-Policy.
func HashSource(inline string) string {
	sum := sha256.Sum256([]byte(inline))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
