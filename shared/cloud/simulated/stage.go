package simulated

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// StagedResource is a resource of a Stage as a plan describes it.
type StagedResource struct {
	Type, Region, UID string
	Values            cloud.Values      // before the change
	After             cloud.Values      // the values that the plan computed
	Scaling           cloud.Autoscaling // of a group
}

// StageFaults are the faults of a Stage beside those of the account's settings.
type StageFaults struct {
	Denied    bool // the call that ends a change is denied; calls that give it back are not
	CopyHangs bool // a snapshot never completes
}

// StagedCall is a call that changed a resource of a Stage, or should have.
type StagedCall struct {
	At    time.Time
	UID   string
	Call  string
	Set   map[string]string // the values that it was to bring about
	Error string            // empty for a call that was answered
}

// Stage is a provider whose accounts have the given resources and no others, of any type of the catalogue. Rehearsals
// change them. It has the faults of simulated accounts, and its states change at once.
type Stage struct {
	cloud.Provider
	clk    clock.Clock
	faults StageFaults
	kinds  []cloud.Kind

	mu    sync.Mutex
	all   map[string]*staged // by UID
	calls []StagedCall
}

// staged is a resource with its present state.
type staged struct {
	StagedResource
	status  cloud.Status
	values  cloud.Values
	scaling cloud.Autoscaling
}

// NewStage returns a Stage with resources, all of them running.
func NewStage(store table.Store, clk clock.Clock, faults StageFaults, resources ...StagedResource) *Stage {
	s := &Stage{Provider: New(store, clk), clk: clk, faults: faults, kinds: stageKinds(), all: map[string]*staged{}}
	for _, r := range resources {
		own := &staged{StagedResource: r, status: cloud.Running, values: cloud.Values{}, scaling: r.Scaling}
		if was := s.all[r.UID]; was != nil { // another change of the same resource
			maps.Copy(own.values, was.values)
			own.After = merged(was.After, r.After)
		}
		maps.Copy(own.values, r.Values)
		own.Values = maps.Clone(own.values)
		s.all[r.UID] = own
	}
	return s
}

func merged(a, b cloud.Values) cloud.Values {
	out := maps.Clone(a)
	if out == nil {
		out = cloud.Values{}
	}
	maps.Copy(out, b)
	return out
}

// Kinds returns all kinds of the catalogue as kinds of this provider.
func (s *Stage) Kinds() []cloud.Kind { return s.kinds }

func stageKinds() []cloud.Kind {
	var out []cloud.Kind
	for _, k := range cloud.Catalogue() {
		k.Provider, k.ActBatch, k.ReadBatch, k.Usual = Name, actBatch, readBatch, usual
		out = append(out, k)
	}
	return out
}

// Connect connects to the account, whose credentials are settings of the simulated cloud.
func (s *Stage) Connect(ctx context.Context, a cloud.Account) (cloud.Conn, error) {
	c, err := s.Provider.Connect(ctx, a)
	if err != nil {
		return nil, err
	}
	out := &stageConn{conn: c.(*conn), stage: s}
	out.OpenChange = out.changing
	return out, nil
}

// Calls returns the calls that changed resources, or should have, oldest first.
func (s *Stage) Calls() []StagedCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]StagedCall{}, s.calls...)
}

// Values returns the present values of a resource, its status and its sizes included; nil for an unknown one.
func (s *Stage) Values(uid string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.all[uid]
	if r == nil {
		return nil
	}
	out := map[string]string{"status": string(r.status)}
	maps.Copy(out, r.values)
	if r.Scaling.Max > 0 {
		maps.Copy(out, sizesOf(r.scaling))
	}
	return out
}

// note records a call and returns its error.
func (s *Stage) note(r *staged, call string, set map[string]string, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := StagedCall{At: s.clk.Now(), UID: r.UID, Call: call, Set: maps.Clone(set)}
	if err != nil {
		c.Error = err.Error()
	}
	s.calls = append(s.calls, c)
	return err
}

// locked changes a resource.
func (s *Stage) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

func sizesOf(a cloud.Autoscaling) map[string]string {
	text := func(n int64) string { b, _ := json.Marshal(n); return string(b) }
	return map[string]string{"min": text(a.Min), "max": text(a.Max), "desired": text(a.Desired)}
}
