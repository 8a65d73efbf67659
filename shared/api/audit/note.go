package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
)

// Change is a handler's description of its change. Empty fields are filled in from the request and its answer.
type Change struct {
	Target string // ID of the changed record, or its name if it has no ID
	Before any    // the record before the change; any value that encoding/json can encode
	After  any    // the record after the change
	// Final says, before the change is stored, that the description is complete and that the request succeeds with the
	// change. The row is then stored once, with the change.
	Final bool
}

// Noted collects the notes about one request while it runs.
type Noted struct {
	mu            sync.Mutex
	target        string
	before, after []byte // nil if nothing was noted
	org           string
	user, email   string
	personal      bool
	omitted       bool
	final         bool
}

type notedKey struct{}

// beginNotes returns a context whose notes are collected in the returned Noted.
func beginNotes(ctx context.Context) (context.Context, *Noted) {
	n := &Noted{}
	return context.WithValue(ctx, notedKey{}, n), n
}

// NoteChange adds c to the audit row of the request with the context ctx. Empty fields of c keep earlier values. It
// does nothing outside of a request that changes something. Handlers need not remove secrets: they are redacted by name
// and form before anything is stored.
func NoteChange(ctx context.Context, c Change) {
	n, ok := ctx.Value(notedKey{}).(*Noted)
	if !ok {
		return
	}
	before, after := marshalChange(c.Before), marshalChange(c.After)
	n.mu.Lock()
	defer n.mu.Unlock()
	if c.Target != "" {
		n.target = c.Target
	}
	if before != nil {
		n.before = before
	}
	if after != nil {
		n.after = after
	}
	n.final = n.final || c.Final
}

// isFinal reports whether the description is complete.
func (n *Noted) isFinal() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.final
}

// NoteActor sets the user of a request without their credential, such as a log-in, and the organization of its row.
// Empty values keep earlier ones. It does nothing outside of a request that changes something.
func NoteActor(ctx context.Context, org, user, email string) {
	n, ok := ctx.Value(notedKey{}).(*Noted)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.org, n.user, n.email = cmp.Or(org, n.org), cmp.Or(user, n.user), cmp.Or(email, n.email)
}

// WithdrawOrganisation takes back the organization that NoteActor named, because the change failed: the row of the
// refused request belongs to the caller's organization, or else to the installation. It does nothing outside of a
// request that changes something.
func WithdrawOrganisation(ctx context.Context) {
	n, ok := ctx.Value(notedKey{}).(*Noted)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.org = ""
}

// NotePersonal puts the row of the request into the installation's own log unless NoteActor names an organization. It
// is for requests about the caller as a person: the caller's current organization must not learn about them. It does
// nothing outside of a request that changes something.
func NotePersonal(ctx context.Context) {
	n, ok := ctx.Value(notedKey{}).(*Noted)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.personal = true
}

// Omit prevents the row of the request if it succeeds, because it turned out to change nothing, such as a dry run. A
// refused request is recorded.
func Omit(ctx context.Context) {
	n, ok := ctx.Value(notedKey{}).(*Noted)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.omitted = true
}

// Omitted reports whether Omit was called.
func (n *Noted) Omitted() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.omitted
}

// marshalChange returns v as JSON now, because the handler may change it later. A value that cannot be encoded must not
// fail the request, so it returns a placeholder.
func marshalChange(v any) []byte {
	if v == nil {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return []byte(`"` + unshown + `"`)
	}
	return b
}
