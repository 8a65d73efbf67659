package attempts

import (
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
)

// Counted is what a row says of the attempts that it stands for.
type Counted struct {
	Count int64     `json:"count"` // in the hour, so far
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	Note  string    `json:"note"`
}

const (
	oneNote = "count is the number of such attempts in the hour of first. Each of the first ten can have a row; then " +
		"a row follows when their number has doubled, and when the hour is over. ip and requestID are of the last one."
	fullNote = "There were at least as many attempts in the hour as count says; more are not counted. ip and " +
		"requestID are of the last one that was."
	unlistedNote = "The organization has had 100 rows of refused attempts in the hour. count is the number of those " +
		"that have no row, of all members together."
)

// row returns the row of a count. The actor is the member whose address or token was used, who need not have been the
// one who used it.
func (n *note) row(u identity.User) audit.Row {
	op, after := operationOf(n.Action), Counted{n.N, n.First, n.Last, oneNote}
	switch {
	case n.Action == unlisted:
		after.Note = unlistedNote
	case n.N >= maxCounted:
		after.Note = fullNote
	}
	row := audit.Row{
		Actor: u.Email, UserID: u.ID, Action: n.Action, ResourceType: "auth", Category: audit.Platform,
		Method: op.method, Path: op.path, Status: n.Status, IP: n.IP, RequestID: n.Request, Target: u.ID,
	}
	row.Changes.After = after
	return row
}
