package overrides

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

var (
	//go:embed page/wake.html
	markup string
	//go:embed page/wake.css
	style string
)

// clockTime is a time as the page shows it.
func clockTime(t time.Time) string { return t.UTC().Format("Monday 2 January 2006, 15:04 UTC") }

// page returns the page of an open link: what it starts, until when and what that costs, with a note when there is one, and the
// button where it does something.
func (w woken) page(status int, note string) rest.Raw {
	var b strings.Builder
	if note == "" && w.held != "" {
		note = w.held
	}
	if note == "" && len(w.target.Members) == 0 {
		note = "Nothing of it can be started: its cloud account is read-only, disconnected or gone."
	}
	if note != "" {
		fmt.Fprintf(&b, "<p class=\"note\" role=\"status\">%s</p>\n", html.EscapeString(note))
	}
	until, word := w.until, "Would run until"
	if !w.runs.IsZero() {
		until, word = w.runs, "Runs until"
	}
	b.WriteString("<dl>\n")
	for _, line := range [][2]string{
		{"Starts", w.what()},
		{word, clockTime(until)},
		{"Costs", w.price},
		{"Can be used", fmt.Sprintf("%d times a day, until %s", w.PerDay, clockTime(w.ExpiresAt))},
	} {
		fmt.Fprintf(&b, "<dt>%s</dt><dd>%s</dd>\n", html.EscapeString(line[0]), html.EscapeString(line[1]))
	}
	b.WriteString("</dl>\n")
	if w.runs.IsZero() && w.held == "" && len(w.target.Members) > 0 && status != http.StatusTooManyRequests {
		b.WriteString("<form method=\"post\"><button type=\"submit\">Start it now</button></form>\n")
	}
	return htmlPage(status, w.Name, b.String())
}

// what tells what the link starts.
func (w woken) what() string {
	switch n := len(w.target.Members); {
	case w.GroupID == "" && n == 1:
		return w.target.Members[0].Name + " (" + w.target.Members[0].Type + ")"
	case n == 1:
		return w.target.Group.Name + ": one resource"
	default:
		return fmt.Sprintf("%s: %d resources", w.target.Group.Name, n)
	}
}

// failurePage returns the page of a failure that a person can do something about; others stay errors.
func failurePage(err error) (rest.Raw, error) {
	switch {
	case fault.Is(err, fault.NotFound):
		return htmlPage(http.StatusNotFound, "Nothing here", "<p>"+html.EscapeString(fault.Message(err))+"</p>"), nil
	case fault.Is(err, fault.Limited):
		return htmlPage(http.StatusTooManyRequests, "Not so fast", "<p>"+html.EscapeString(fault.Message(err))+"</p>"),
			nil
	}
	return rest.Raw{}, err
}

// htmlPage returns a page that runs no script, loads nothing, is kept nowhere, and tells nobody where it was seen.
func htmlPage(status int, title, body string) rest.Raw {
	text := strings.NewReplacer("{{title}}", html.EscapeString(title), "{{css}}", style, "{{body}}",
		body).Replace(markup)
	sum := sha256.Sum256([]byte(style))
	return rest.Raw{Status: status, Body: []byte(text), Header: http.Header{
		"Content-Security-Policy": {"default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors " +
			"'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"},
		"Referrer-Policy": {"no-referrer"}, "X-Robots-Tag": {"noindex, nofollow"},
	}}
}

// refusedAt reports whether a transaction was refused because of the write of the key.
func refusedAt(err error, k table.Key) bool {
	lost, refused := errors.AsType[*table.ConditionError](err)
	if !refused {
		return false
	}
	for _, f := range lost.Failed {
		if f.Old.Key == k {
			return true
		}
	}
	return false
}
