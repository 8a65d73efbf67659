package readiness

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// The kinds of lines of a plan's log.
const (
	TransitionLine = "transition" // it went from one status to another one
	CallbackLine   = "callback"   // the executor reported something
	ChangeLine     = "change"     // it was changed without a change of status
)

// Line is a line of a plan's log.
type Line struct {
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`
	From    Status    `json:"from,omitempty"`
	To      Status    `json:"to,omitempty"`
	By      string    `json:"by"` // the email address of a person, or "executor"
	Message string    `json:"message,omitempty"`
	Run     int64     `json:"run"`
	Report  string    `json:"report,omitempty"` // the ID of a callback
}

const (
	mostLines = 1000 // per plan; older lines are deleted
	keepLines = 400 * 24 * time.Hour
)

func lineKey(p *Plan, n int64) table.Key {
	return table.Key{PK: table.OrgPK(p.Org) + "EVENTLOG", SK: fmt.Sprintf("%s#%010d", p.ID, n)}
}

// Logs returns the query for the log of a plan, newest line first.
func Logs(org, planID string) table.Query {
	return table.Query{PK: table.OrgPK(org) + "EVENTLOG", Prefix: planID + "#", Reverse: true}
}

// log returns the writes that add lines to the plan's log, and counts the lines in the plan. Use them in a
// transaction that requires the plan's version, so that each line is written once and only if the change happens.
func (p *Plan) log(lines ...Line) ([]table.Write, error) {
	var out []table.Write
	for _, l := range lines {
		it, err := table.NewItem(lineKey(p, p.Logged), l)
		if err != nil {
			return nil, err
		}
		it.Expires = l.At.Add(keepLines)
		out = append(out, table.Put(it))
		if p.Logged >= mostLines {
			out = append(out, table.Delete(lineKey(p, p.Logged-mostLines)))
		}
		p.Logged++
	}
	return out, nil
}
