// Package apitest is the one fixture of tests that call operations: a platform with two organizations on an embedded
// store, a clock that is moved by hand, callers by role and scope, and requests whose answers report their use of the
// store.
package apitest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/people/membership"
)

// Org and OtherOrg are the organizations of a fixture. They have no members until Join makes some.
const (
	Org      = "org_01k00000000000000000000000"
	OtherOrg = "org_01k00000000000000000000001"
)

// Fixture is the environment of a test of operations. A group's own fixture embeds it and adds its records. A subtest
// sets TB to its own, so that failures are reported where they happen.
type Fixture struct {
	testing.TB
	*platform.Platform
	Clock  *clock.Manual // the platform's; nil where On was given another
	People membership.People
	// Handler is the mounted groups.
	Handler http.Handler

	description *rest.API
}

// New returns a fixture whose clock stands at Start, with the groups mounted. A test that first changes the platform
// passes no groups and calls Mount.
func New(tb testing.TB, groups ...func(*platform.Platform) *rest.Group) *Fixture {
	tb.Helper()
	p, c := NewPlatform(tb)
	f := On(tb, p)
	f.Clock = c
	f.Organization(Org, "Engines")
	f.Organization(OtherOrg, "Looms")
	return f.Mount(groups...)
}

// On returns a fixture on a platform of the test's own, with another clock or store, without organizations.
func On(tb testing.TB, p *platform.Platform) *Fixture {
	tb.Helper()
	return &Fixture{TB: tb, Platform: p, People: membership.New(p)}
}

// Mount puts groups in front of Call, in place of the earlier ones.
func (f *Fixture) Mount(groups ...func(*platform.Platform) *rest.Group) *Fixture {
	f.Helper()
	made := make([]*rest.Group, len(groups))
	for i, group := range groups {
		made[i] = group(f.Platform)
	}
	f.Handler, f.description = rest.Mount(f.Platform, made...)
	return f
}

// Description returns the interface description of the mounted groups, as JSON.
func (f *Fixture) Description() []byte { return f.description.JSON() }

// Must ends the test if a step that the test only depends on has failed.
func (f *Fixture) Must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// Log writes to the log of the test. The log of the platform is f.Platform.Log.
func (f *Fixture) Log(args ...any) {
	f.Helper()
	f.TB.Log(args...)
}

// Value returns v, of a call that must succeed: apitest.Value(store.Get(ctx, key))(t).
func Value[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

// In returns a context that limits the store to keys of the organization.
func (f *Fixture) In(org string) context.Context { return table.WithOrg(f.Context(), org) }

// Anywhere returns a context that opens all keys of the store.
func (f *Fixture) Anywhere() context.Context { return table.Within(f.Context(), "") }

// Put stores v at k and replaces any present item; expires, if given, is when the item may be removed.
func (f *Fixture) Put(k table.Key, v any, expires ...time.Time) {
	f.Helper()
	it, err := table.NewItem(k, v)
	f.Must(err)
	for _, at := range expires {
		it.Expires = at
	}
	f.Write(table.Put(it))
}

// Write does each of the writes by itself, in any partition.
func (f *Fixture) Write(writes ...table.Write) {
	f.Helper()
	for _, w := range writes {
		_, err := f.Table.Write(f.Anywhere(), w)
		f.Must(err)
	}
}

// Change changes fields of the row at k, which must exist.
func (f *Fixture) Change(k table.Key, changes ...table.Change) {
	f.Helper()
	f.Write(table.Update(k, changes, table.Exists()))
}

// Read returns the row at k, which must exist.
func Read[T any](f *Fixture, k table.Key) T {
	f.Helper()
	v, err := table.Read[T](f.Anywhere(), f.Table, k)
	f.Must(err)
	return v
}

// Rows returns all rows of a partition, or of the partitions that a list is spread over, by their sort keys.
func Rows[T any](f *Fixture, pks ...string) []T {
	f.Helper()
	var out []T
	for m := table.NewMerge(f.Table, table.Query{}, pks...); ; {
		items, err := m.Next(f.Anywhere(), 1000)
		f.Must(err)
		rows, err := table.DecodeAll[T](items)
		f.Must(err)
		if out = append(out, rows...); len(items) < 1000 {
			return out
		}
	}
}

// LinkAudit links the waiting entries into the chains of the audit log.
func LinkAudit(tb testing.TB, p *platform.Platform, places ...audit.Place) {
	tb.Helper()
	for _, at := range places {
		if _, err := audit.New(p).Link(tb.Context(), at, func() bool { return false }); err != nil {
			tb.Fatal(err)
		}
	}
}

// Audited returns the organization's audit log, the oldest row first.
func (f *Fixture) Audited(org string) []audit.Row {
	f.Helper()
	LinkAudit(f, f.Platform, audit.PlaceOf(org))
	pk := audit.PlaceOf(org).PK
	low, high := audit.AllRowKeys()
	page, err := f.Table.Query(f.Anywhere(), table.Query{PK: pk, From: low, To: high, Limit: 1000})
	f.Must(err)
	rows, err := table.DecodeAll[audit.Row](page.Items)
	f.Must(err)
	return rows
}

// LastAudited returns the newest row of the organization's audit log, which must have one.
func (f *Fixture) LastAudited(org string) audit.Row {
	f.Helper()
	rows := f.Audited(org)
	if len(rows) == 0 {
		f.Fatalf("the audit log of %s is empty", org)
	}
	return rows[len(rows)-1]
}

// Mails returns the mails that wait to be sent, the oldest first.
func (f *Fixture) Mails() []mail.Mail {
	f.Helper()
	feed, err := f.Table.Feed(f.Anywhere(), "", 1000)
	f.Must(err)
	var out []mail.Mail
	for _, it := range feed.Items {
		if mail.KindOf(it.PK) == "" {
			continue
		}
		m, _, err := mail.OpenQueued(f.Anywhere(), f.Sealer, it)
		f.Must(err)
		q, err := table.Decode[mail.Queued](it)
		f.Must(err)
		if m.Template != mail.Nothing && q.Until > f.Platform.Clock.Now().Unix() {
			out = append(out, m)
		}
	}
	return out
}

// Meter returns the use of the store by do.
func (f *Fixture) Meter(do func(ctx context.Context)) table.Usage {
	ctx, meter := table.WithMeter(f.Context())
	do(ctx)
	return meter.Usage()
}

// Equal reports an error if got and want are printed differently.
func (f *Fixture) Equal(what string, got, want any) {
	f.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		f.Errorf("%s: got %s, want %s", what, g, w)
	}
}

// JSON returns v as a client sends it.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a test that names no value that has a form in JSON
	}
	return string(b)
}
