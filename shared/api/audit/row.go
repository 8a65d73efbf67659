package audit

import (
	"cmp"
	"strings"
	"unicode"
)

// The actors of rows without a known user.
const (
	Anonymous = "anonymous" // a request without a credential
	System    = "system"    // the service itself
)

// maxLine limits the texts of a row that come from a request, in bytes.
const maxLine = 1024

// Request is the information of shared/api/rest about a request that changes something.
type Request struct {
	Row              // without the fields that composeRow sets
	Org       string // organization of the caller
	Answered  []byte // the member data of a successful answer, as JSON
	Unchanged bool   // it was refused, so the noted changes were not made
	Gone      bool   // it deleted something, so the answer only names the deleted record
}

// composeRow returns the row of a request, made from r and from the notes. It also returns the organization whose
// record it belongs to; "" means the installation.
func (n *Noted) composeRow(r Request) (org string, row Row) {
	n.mu.Lock()
	defer n.mu.Unlock()
	row = r.Row
	row.UserID = cmp.Or(n.user, row.UserID)
	row.Actor = cmp.Or(n.email, row.Actor, row.UserID, Anonymous)
	row.Target = cmp.Or(n.target, row.Target)
	after := decodeOrNil(n.after)
	if n.after == nil && len(r.Answered) > 0 && r.Answered[0] == '{' {
		answered := decodeOrNil(r.Answered)
		row.Target = cmp.Or(row.Target, idOf(answered))
		if !r.Gone {
			after = answered
		}
	}
	row.Target = cmp.Or(row.Target, idOf(after))
	if !r.Unchanged {
		row.Changes = Changes{redactValue(decodeOrNil(n.before)), redactValue(after)}
	}
	if n.personal {
		r.Org = ""
	}
	return cmp.Or(n.org, r.Org), row.limitTexts()
}

// sanitizeRow returns a row made by the service in a form that can be stored: without secrets, with values as
// decodeJSON returns them.
func (r Row) sanitizeRow() Row {
	r.Actor = cmp.Or(r.Actor, r.UserID, System)
	r.Category = cmp.Or(r.Category, Platform)
	r.Changes = Changes{
		redactValue(decodeOrNil(marshalChange(r.Changes.Before))),
		redactValue(decodeOrNil(marshalChange(r.Changes.After))),
	}
	return r.limitTexts()
}

// limitTexts limits the texts that come from a request. It does not redact the actor's address, because rows are found
// by it.
func (r Row) limitTexts() Row {
	for _, s := range []*string{&r.Path, &r.RequestID, &r.IP, &r.Target} {
		if *s = singleLine(*s); SecretText(*s) {
			*s = Redacted
		}
	}
	r.Actor = singleLine(r.Actor)
	return r
}

// decodeOrNil returns a decoded JSON text, or nil for none.
func decodeOrNil(data []byte) any {
	if len(data) == 0 {
		return nil
	}
	v, err := decodeJSON(data)
	if err != nil {
		return unshown
	}
	return v
}

// idOf returns the ID of a record.
func idOf(thing any) string {
	object, _ := thing.(map[string]any)
	id, _ := object["id"].(string)
	return id
}

// singleLine returns s as one line of limited length.
func singleLine(s string) string {
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
