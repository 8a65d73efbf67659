package audit

import (
	"cmp"
	"strings"
	"unicode"
)

// The actors of rows that no user is known for.
const (
	Anonymous = "anonymous" // a request without a credential
	System    = "system"    // the service itself
)

// maxLine bounds, in bytes, what a row takes over from a request.
const maxLine = 1024

// Request is what shared/api/rest knows of a request that changes something.
type Request struct {
	Row              // without what is worked out here
	Org       string // the caller's
	Answered  []byte // the member data of a successful answer, as JSON
	Unchanged bool   // it was refused: what was noted did not come about
	Gone      bool   // it deleted something: the answer only names what
}

// composeRow makes the row of a request from what is known of it and what was noted while it ran. It tells the organization
// in whose record it belongs; "" is the installation's.
func (n *Noted) composeRow(r Request) (org string, row Row) {
	n.mu.Lock()
	defer n.mu.Unlock()
	row = r.Row
	row.UserID = cmp.Or(n.user, row.UserID)
	row.Actor = cmp.Or(n.email, row.Actor, row.UserID, Anonymous)
	row.Target = cmp.Or(n.target, row.Target)
	after := tree(n.after)
	if n.after == nil && len(r.Answered) > 0 && r.Answered[0] == '{' {
		answered := tree(r.Answered)
		row.Target = cmp.Or(row.Target, idOf(answered))
		if !r.Gone {
			after = answered
		}
	}
	row.Target = cmp.Or(row.Target, idOf(after))
	if !r.Unchanged {
		row.Changes = Changes{redactValue(tree(n.before)), redactValue(after)}
	}
	return cmp.Or(n.org, r.Org), row.tidy()
}

// sanitizeRow makes a row that somebody put together one that can be kept: without secrets, and made of what decode gives.
func (r Row) sanitizeRow() Row {
	r.Actor = cmp.Or(r.Actor, r.UserID, System)
	r.Category = cmp.Or(r.Category, Platform)
	r.Changes = Changes{redactValue(tree(marshalChange(r.Changes.Before))),
		redactValue(tree(marshalChange(r.Changes.After)))}
	return r.tidy()
}

// tidy bounds what was taken over from a request. An address is no secret, whatever it looks like: rows are found by it.
func (r Row) tidy() Row {
	for _, s := range []*string{&r.Path, &r.RequestID, &r.IP, &r.Target} {
		if *s = line(*s); SecretText(*s) {
			*s = Redacted
		}
	}
	r.Actor = line(r.Actor)
	return r
}

// tree returns a JSON text taken apart; nil for none.
func tree(data []byte) any {
	if len(data) == 0 {
		return nil
	}
	v, err := decodeJSON(data)
	if err != nil {
		return unshown
	}
	return v
}

// idOf returns the id of a thing.
func idOf(thing any) string {
	object, _ := thing.(map[string]any)
	id, _ := object["id"].(string)
	return id
}

// line makes one line of a text, of bounded length.
func line(s string) string {
	if len(s) > maxLine {
		s = s[:maxLine] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
