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

// clockTime formats a time for the page.
func clockTime(t time.Time) string { return t.UTC().Format("Monday 2 January 2006, 15:04 UTC") }

// pageOf returns the page of an open link: its target, end and cost, an optional note, and a button if it can be
// started.
func (w openedLink) pageOf(status int, note string) rest.Raw {
	var b strings.Builder
	if note == "" && w.obstacle != "" {
		note = w.obstacle
	}
	if note == "" && len(w.target.Members) == 0 {
		note = "None of its resources can be started: the cloud account is read-only, disconnected or gone."
	}
	if note != "" {
		fmt.Fprintf(&b, "<p class=\"note\" role=\"status\">%s</p>\n", html.EscapeString(note))
	}
	until, word := w.wouldRunUntil, "Would run until"
	if !w.runsUntil.IsZero() {
		until, word = w.runsUntil, "Runs until"
	}
	b.WriteString("<dl>\n")
	for _, line := range [][2]string{
		{"Starts", w.describeTarget()},
		{word, clockTime(until)},
		{"Costs", w.price},
		{"Can be used", fmt.Sprintf("%d times a day, until %s", w.PerDay, clockTime(w.ExpiresAt))},
	} {
		fmt.Fprintf(&b, "<dt>%s</dt><dd>%s</dd>\n", html.EscapeString(line[0]), html.EscapeString(line[1]))
	}
	b.WriteString("</dl>\n")
	if w.runsUntil.IsZero() && w.obstacle == "" && len(w.target.Members) > 0 && status != http.StatusTooManyRequests {
		b.WriteString("<form method=\"post\"><button type=\"submit\">Start it now</button></form>\n")
	}
	return htmlPage(status, w.Name, b.String())
}

// describeTarget names the target of the link.
func (w openedLink) describeTarget() string {
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
