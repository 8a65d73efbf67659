package overrides

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"lamplighter.dev/shared/api/htmlpage"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
)

// clockTime formats a time for the page.
func clockTime(t time.Time) string { return t.UTC().Format("Monday 2 January 2006, 15:04 UTC") }

// pageOf returns the page of an open link: its target, end and cost, an optional note, and a button if it can be
// started now.
func (w openedLink) pageOf(status int, note string) rest.Raw {
	p := htmlpage.New(w.Name)
	if note = cmp.Or(note, w.obstacle()); note != "" {
		p.AddNote(note)
	}
	until, word := w.wouldRunUntil, "Would run until"
	if !w.runsUntil.IsZero() {
		until, word = w.runsUntil, "Runs until"
	}
	p.AddFacts(
		htmlpage.Fact{Name: "Starts", Value: w.targetText()},
		htmlpage.Fact{Name: word, Value: clockTime(until)},
		htmlpage.Fact{Name: "Costs", Value: w.price},
		htmlpage.Fact{
			Name:  "Can be used",
			Value: fmt.Sprintf("%d times a day, until %s", w.PerDay, clockTime(w.ExpiresAt)),
		},
	)
	if w.runsUntil.IsZero() && w.obstacle() == "" && status != http.StatusTooManyRequests {
		p.AddButton("Start it now")
	}
	return p.Answer(status)
}

// obstacle returns the reason why the link can start nothing now, or "".
func (w openedLink) obstacle() string {
	if w.blocked == "" && len(w.target.Members) == 0 {
		return "None of its resources can be started: the cloud account is read-only, disconnected or gone."
	}
	return w.blocked
}

// targetText returns the name of the resource or group that the link starts, and the number of its resources.
func (w openedLink) targetText() string {
	switch n := len(w.target.Members); {
	case w.GroupID == "" && n == 1:
		return w.target.Members[0].Name + " (" + w.target.Members[0].Type + ")"
	case n == 1:
		return w.target.Group.Name + ": one resource"
	default:
		return fmt.Sprintf("%s: %d resources", w.target.Group.Name, n)
	}
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
