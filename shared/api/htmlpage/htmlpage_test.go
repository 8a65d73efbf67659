package htmlpage_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/htmlpage"
	"lamplighter.dev/shared/foundation/fault"
)

const hostile = `"><script>alert('1')</script>&amp;`

func TestPage_EscapesEveryText(t *testing.T) {
	for name, p := range map[string]*htmlpage.Page{
		"the title":          htmlpage.New(hostile),
		"a paragraph":        htmlpage.New("").AddParagraph(hostile),
		"a note":             htmlpage.New("").AddNote(hostile),
		"a button":           htmlpage.New("").AddButton(hostile),
		"a button's address": htmlpage.New("").AddButtonTo(hostile, ""),
		"a form's label":     htmlpage.New("").AddPasswordForm(hostile, "", 12),
		"a form's button":    htmlpage.New("").AddPasswordForm("", hostile, 12),
		"a fact's name":      htmlpage.New("").AddFacts(htmlpage.Fact{Name: hostile}),
		"a fact's value":     htmlpage.New("").AddFacts(htmlpage.Fact{Value: hostile}),
	} {
		body := string(p.Answer(http.StatusOK).Body)
		escaped := "&#34;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;"
		if strings.Contains(body, hostile) || strings.Contains(body, "<script") || !strings.Contains(body, escaped) {
			t.Errorf("%s is not escaped: %s", name, body)
		}
	}
}

func TestPage_AnswerForbidsScriptsAndOtherSources(t *testing.T) {
	a := htmlpage.New("Wake").AddButton("Start it now").Answer(http.StatusConflict)
	body := string(a.Body)
	_, style, _ := strings.Cut(body, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	want := "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; style-src " +
		htmlpage.HashSource(style)
	if got := a.Header.Get("Content-Security-Policy"); got != want || style == "" {
		t.Errorf("policy %q, want %q", got, want)
	}
	if a.Header.Get("Referrer-Policy") != "no-referrer" || a.Header.Get("X-Robots-Tag") != "noindex, nofollow" {
		t.Errorf("headers %v", a.Header)
	}
	if a.Status != http.StatusConflict || strings.Contains(body, "{{") {
		t.Errorf("status %d, page %s", a.Status, body)
	}
}

func TestAnswerFailure(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		status int
		title  string
	}{
		"a missing thing is a page": {
			fault.New(fault.NotFound, "no <b>"), 404,
			"<h1>Not found</h1>\n<p>no &lt;b&gt;</p>",
		},
		"a limit is a page": {
			fault.New(fault.Limited, "wait"), 429,
			"<h1>Too many requests</h1>\n<p>wait</p>",
		},
		"any other error stays an error": {context.DeadlineExceeded, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := htmlpage.AnswerFailure(c.err)
			if (err != nil) != (c.status == 0) || err != nil && !errors.Is(err, c.err) {
				t.Errorf("error %v", err)
			}
			if a.Status != c.status || !strings.Contains(string(a.Body), c.title) {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
}
