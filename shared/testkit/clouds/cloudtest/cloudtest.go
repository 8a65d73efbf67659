// Package cloudtest is the one contract that every cloud.Provider passes, in front of its in-process twin and, where
// one is installed, of an emulator, so that the engine above them never has to know which cloud it drives.
package cloudtest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
)

// Fixture is a cloud that is prepared for the contract: its contents, and the means of a test to change it.
type Fixture struct {
	Account  cloud.Account  // opens the cloud
	NativeID string         // the expected answer of Identify
	Refused  *cloud.Account // the same account with refused credentials; nil leaves the case out
	Groups   []Group
	// Settle lets the cloud move on; it is called between two reads while a resource is on its way. Nil when every
	// change is immediate or passes with real time.
	Settle func()
	// Throttle makes the next calls be throttled; 0 ends it. Nil leaves the cases out.
	Throttle func(calls int)
	// Deny takes the permission to start and stop away, or gives it back. Nil leaves the case out.
	Deny func(on bool)
	// Metered are the resources with metrics; none leaves the cases out.
	Metered []Metered
	// Collective are the resources without a kind; nil leaves the cases out.
	Collective *Collective
	// Autoscaled are the groups that the provider scales; none leaves the cases out.
	Autoscaled []Autoscaled
}

// Group is all resources of one kind in one region.
type Group struct {
	Kind, Region string
	Free         []string          // uids that can be started and stopped; all are running
	Tied         map[string]string // uids that cannot, with a part of the reason that has to be given
	Missing      string            // a well-formed uid without a resource
	Pages        int               // the list has at least so many pages
}

// Run holds the provider against the contract. It leaves every resource running.
func Run(t *testing.T, p cloud.Provider, f Fixture) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	r := run{p: p, f: f, conn: connectTo(ctx, t, p, f.Account)}
	t.Run("kinds are described completely", r.kinds)
	t.Run("the account tells who it is", r.identity)
	t.Run("permissions are told per capability", r.permissions)
	t.Run("unknown kinds and regions are refused as invalid", r.unknown)
	t.Run("throttling is waited out, and told when it lasts", r.throttling)
	if len(f.Metered) > 0 {
		t.Run("metrics", r.runMetered)
	}
	if f.Collective != nil {
		t.Run("everything else", r.runCollective)
	}
	if len(f.Autoscaled) > 0 {
		t.Run("groups that the provider scales", r.runAutoscaled)
	}
	for _, g := range f.Groups {
		t.Run(g.Kind, trial{run: r, Group: g}.runAll)
	}
}

type run struct {
	p    cloud.Provider
	f    Fixture
	conn cloud.Conn
}

func connectTo(ctx context.Context, t *testing.T, p cloud.Provider, a cloud.Account) cloud.Conn {
	t.Helper()
	c, err := p.Connect(ctx, a)
	if err != nil {
		t.Fatalf("Connect(%s): %v", a.ID, err)
	}
	return c
}

func (r run) kinds(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range r.p.Kinds() {
		if k.Provider != r.p.Name() || k.Type == "" || k.Name == "" || seen[k.Type] {
			t.Errorf("kind %+v: provider, type and name have to be given, once", k)
		}
		if k.Actionable && (k.ActBatch < 1 || k.ReadBatch < 1 || k.Deadline <= 0) {
			t.Errorf("kind %s: batches %d and %d and deadline %v have to be positive", k.Type, k.ActBatch, k.ReadBatch,
				k.Deadline)
		}
		seen[k.Type] = true
	}
	for _, g := range r.f.Groups {
		if !seen[g.Kind] {
			t.Errorf("the fixture's kind %s is not among the provider's", g.Kind)
		}
	}
}

func (r run) identity(t *testing.T) {
	got, err := r.conn.Identify(t.Context())
	if err != nil || got != r.f.NativeID {
		t.Errorf("Identify = %q, %v; want %q", got, err, r.f.NativeID)
	}
	regions, err := r.conn.Regions(t.Context())
	if err != nil {
		t.Fatalf("Regions: %v", err)
	}
	for _, g := range r.f.Groups {
		if !slices.Contains(regions, g.Region) {
			t.Errorf("Regions = %v: %s is missing", regions, g.Region)
		}
	}
	if r.f.Refused == nil {
		return
	}
	_, err = connectTo(t.Context(), t, r.p, *r.f.Refused).Identify(t.Context())
	wantClass(t, "Identify with wrong credentials", err, cloud.Refused)
}

func (r run) permissions(t *testing.T) {
	got, err := r.conn.Permissions(t.Context())
	if err != nil {
		t.Fatalf("Permissions: %v", err)
	}
	capabilities := map[string]bool{}
	for _, p := range got {
		capabilities[p.Capability] = true
		if !slices.Contains([]string{"granted", "denied", "unknown"}, p.Status) || p.Action == "" {
			t.Errorf("permission %+v: status or action is not one", p)
		}
		if p.Status != "granted" && p.Message == "" {
			t.Errorf("permission %+v: the reason is missing", p)
		}
	}
	if !capabilities["discover"] || !capabilities["start_stop"] {
		t.Errorf("capabilities = %v; want discover and start_stop among them", capabilities)
	}
}

func (r run) unknown(t *testing.T) {
	ctx := t.Context()
	_, err := r.conn.List(ctx, "no-such-kind", "nowhere", "")
	wantClass(t, "List of an unknown kind", err, cloud.Invalid)
	_, err = r.conn.Read(ctx, "no-such-kind", "nowhere", []string{"x"})
	wantClass(t, "Read of an unknown kind", err, cloud.Invalid)
	res := r.conn.Act(ctx, cloud.Stop, "no-such-kind", "nowhere", []cloud.Target{{UID: "x"}})
	if len(res) != 1 || res[0].UID != "x" {
		t.Fatalf("Act on an unknown kind = %+v; want one result for x", res)
	}
	wantClass(t, "Act on an unknown kind", res[0].Err, cloud.Invalid)
	wantClass(t, "Scale of an unknown kind", r.conn.Scale(ctx, "no-such-kind", "nowhere", "x", cloud.Capacity{}),
		cloud.Invalid)
}

func (r run) throttling(t *testing.T) {
	if r.f.Throttle == nil || len(r.f.Groups) == 0 {
		t.Skip("SKIPPED: this cloud cannot be made to throttle")
	}
	defer r.f.Throttle(0)
	g := r.f.Groups[0]
	r.f.Throttle(2)
	if _, err := r.conn.List(t.Context(), g.Kind, g.Region, ""); err != nil {
		t.Errorf("List after two throttled calls: %v; want it to be tried again", err)
	}
	r.f.Throttle(1 << 20)
	_, err := r.conn.List(t.Context(), g.Kind, g.Region, "")
	wantClass(t, "List while every call is throttled", err, cloud.Throttled)
}

func wantClass(t *testing.T, what string, err error, want cloud.Class) {
	t.Helper()
	if err == nil || cloud.ClassOf(err) != want {
		t.Errorf("%s: error %v of class %d; want class %d", what, err, cloud.ClassOf(err), want)
	}
	if err != nil && strings.TrimSpace(err.Error()) == "" {
		t.Errorf("%s: the error says nothing", what)
	}
}
