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

// clockTime is a time as the page shows it.
func clockTime(t time.Time) string { return t.UTC().Format("Monday 2 January 2006, 15:04 UTC") }

// page returns the page of an open link: the resources that it starts, until when they run, and the cost of that. It shows the note,
// if there is one, and a button if the link can start something now.
func (w woken) page(status int, note string) rest.Raw {
	p := htmlpage.New(w.Name)
	if note = cmp.Or(note, w.obstacle()); note != "" {
		p.AddNote(note)
	}
	until, word := w.until, "Would run until"
	if !w.runs.IsZero() {
		until, word = w.runs, "Runs until"
	}
	p.AddFacts(
		htmlpage.Fact{Name: "Starts", Value: w.targetText()},
		htmlpage.Fact{Name: word, Value: clockTime(until)},
		htmlpage.Fact{Name: "Costs", Value: w.price},
		htmlpage.Fact{Name: "Can be used",
			Value: fmt.Sprintf("%d times a day, until %s", w.PerDay, clockTime(w.ExpiresAt))},
	)
	if w.runs.IsZero() && w.obstacle() == "" && status != http.StatusTooManyRequests {
		p.AddButton("Start it now")
	}
	return p.Answer(status)
}

// obstacle returns the reason why the link can start nothing now, or "".
func (w woken) obstacle() string {
	if w.held == "" && len(w.target.Members) == 0 {
		return "Nothing of it can be started: its cloud account is read-only, disconnected or gone."
	}
	return w.held
}

// targetText returns the name of the resource or group that the link starts, and the number of its resources.
func (w woken) targetText() string {
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
