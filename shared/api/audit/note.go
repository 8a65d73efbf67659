package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
)

// Change is what a handler knows of what it did. What it leaves empty is filled in from the request and its answer.
type Change struct {
	Target string // the thing: its id, or its name where it has none
	Before any    // it, before; anything encoding/json can write
	After  any    // it, afterwards
	// Final says, before the change is stored, that nothing more is to be said of it, and that the request succeeds with it.
	// The row is then stored once, with the change.
	Final bool
}

// Noted is what was said about one request while it ran.
type Noted struct {
	mu            sync.Mutex
	target        string
	before, after []byte // nil where nothing was said
	org           string
	user, email   string
	omitted       bool
	final         bool
}

type notedKey struct{}

// beginNotes lets NoteChange and NoteActor write into the Noted that it returns.
func beginNotes(ctx context.Context) (context.Context, *Noted) {
	n := &Noted{}
	return context.WithValue(ctx, notedKey{}, n), n
}

// NoteChange adds to the audit row of the request that ctx belongs to; what is empty in c leaves what an earlier NoteChange said.
// Outside of a request that changes something it does nothing. Secrets need not be left out: they are redacted by name
// and by look before anything is written.
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

// isFinal reports whether all has been said.
func (n *Noted) isFinal() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.final
}

// NoteActor says who is behind a request that carries no credential of theirs, such as a log-in, and to which organization's
// record it belongs; an empty value leaves what is known. Outside of a request that changes something it does nothing.
func NoteActor(ctx context.Context, org, user, email string) {
	n, ok := ctx.Value(notedKey{}).(*Noted)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.org, n.user, n.email = cmp.Or(org, n.org), cmp.Or(user, n.user), cmp.Or(email, n.email)
}

// Omit keeps the request off the record if it succeeds, because it turned out to change nothing: a dry run. One that is
// refused is on record as any other.
func Omit(ctx context.Context) {
	n, ok := ctx.Value(notedKey{}).(*Noted)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.omitted = true
}

// Omitted reports whether Omit was said.
func (n *Noted) Omitted() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.omitted
}

// marshalChange is v as JSON, as it is now: the handler may go on changing it. A record must not fail a request, so what cannot be
// written is said to be so.
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
