// Package rehearsal runs an event readiness plan on a simulated cloud of its own with a faster clock, by the
// executor's own code. It shows before an event whether the targets will have their capacity in time.
package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lamplighter.dev/functions/executor/rescaling"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// virtual is a clock on which waiting takes no time: it moves itself.
type virtual struct{ *clock.Manual }

// Sleep moves the clock on by d.
func (v virtual) Sleep(ctx context.Context, d time.Duration) error {
	v.Advance(d)
	return ctx.Err()
}

// early is how long before the scale-up a plan is dispatched in its rehearsal.
const early = 10 * time.Minute

// trial is one rehearsal, with its own store, cloud and clock.
type trial struct {
	clock  virtual
	store  *table.Embedded
	plans  *readiness.Store
	conn   cloud.Conn
	groups []cloud.Resource // one for each target
	plan   readiness.Plan
	out    readiness.Rehearsed

	stopped map[string][]byte // the sizes that starts of stopped groups restore, by group
	blocked map[string]string // why groups cannot be raised
}

// Run rehearses a plan. It touches only a temporary folder, which it removes afterwards.
func Run(ctx context.Context, in readiness.RehearsalInput) (out readiness.Rehearsed, err error) {
	p := in.Plan
	dir, err := os.MkdirTemp("", "rehearsal")
	if err != nil {
		return readiness.Rehearsed{}, fmt.Errorf("make a folder for the rehearsal: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &trial{
		clock: virtual{clock.NewManual(p.ScaleUpAt().Add(-early - in.Launch))}, stopped: map[string][]byte{},
		blocked: map[string]string{},
	}
	options := table.Options{NoSync: true, Clock: s.clock, SweepEvery: -1}
	s.store, err = table.Open(filepath.Join(dir, "store.db"), options) //nolint:contextcheck // a file is opened
	if err != nil {
		return readiness.Rehearsed{}, err
	}
	defer func() { err = errors.Join(err, s.store.Close()) }()
	ctx = table.WithOrg(ctx, p.Org)
	if err = s.build(ctx, in); err != nil {
		return readiness.Rehearsed{}, fault.Wrap("prepare the rehearsal", err)
	}
	return s.out, s.carryOut(ctx)
}

// build creates groups like the targets, and policies for them, and dispatches the plan.
func (s *trial) build(ctx context.Context, in readiness.RehearsalInput) error {
	p := in.Plan
	s.plans = readiness.New(s.store, s.clock)
	if err := s.connect(ctx, p, in.Launch); err != nil {
		return err
	}
	for i, t := range p.Targets {
		if why := in.Blocked[t.PolicyID]; why != "" {
			s.blocked[s.groups[i].UID] = why
		}
		if err := s.place(ctx, p.Org, t, s.groups[i]); err != nil {
			return err
		}
	}
	s.clock.Advance(in.Launch) // the groups have the sizes of their targets in service
	for i, t := range p.Targets {
		if !slices.Contains(in.Stopped, t.PolicyID) {
			continue
		}
		if err := s.stop(ctx, s.groups[i]); err != nil {
			return err
		}
	}
	p.Run, p.Reports, p.Logged, p.Message = 0, nil, 0, ""
	created, err := s.plans.Create(ctx, p)
	if err != nil {
		return err
	}
	s.plan, _, err = s.plans.Dispatch(ctx, created, readiness.Change{To: readiness.Scheduling, By: "rehearsal"})
	return err
}

// place gives a group the size of a target, and the target's policy to the group.
func (s *trial) place(ctx context.Context, org string, t readiness.Target, g cloud.Resource) error {
	o := t.Original()
	if err := s.scaler().SetAutoscaling(ctx, g.Type, g.Region, g.UID,
		cloud.Autoscaling{Min: o.Min, Max: o.Max, Desired: o.Desired}); err != nil {
		return err
	}
	policy := readiness.Policy{
		ID: t.PolicyID, Name: t.PolicyID, Mode: readiness.Autopilot,
		Target: readiness.PolicyTarget{Type: g.Type, UID: g.UID, Region: g.Region},
	}
	_, err := readiness.NewPolicyStore(s.store, s.clock).Create(ctx, org, policy, nil)
	return err
}

// region is the region of the groups.
const region = "us-east-1"

// connect connects a simulated account with enough groups.
func (s *trial) connect(ctx context.Context, p readiness.Plan, launch time.Duration) error {
	var err error
	s.conn, err = simulated.New(s.store, s.clock).Connect(ctx, cloud.Account{
		Org: p.Org, ID: "ca_rehearsal", Provider: "simulated", NativeID: "000000000001",
		AuthMethod: simulated.AuthMethod,
		Credentials: map[string]string{
			"kinds": cloud.AWSASG, "size": "100", "regions": region, "stopped": "0",
			"transitionSeconds": fmt.Sprint(launch.Seconds()),
		},
	})
	if err != nil {
		return err
	}
	page, err := s.conn.List(ctx, cloud.AWSASG, region, "")
	for _, r := range page.Resources {
		if r.Unschedulable == "" && r.Status == cloud.Running {
			s.groups = append(s.groups, r)
		}
	}
	if err == nil && len(s.groups) < len(p.Targets) {
		err = fault.New(fault.Internal, "the simulated cloud has %d groups for %d targets", len(s.groups),
			len(p.Targets))
	}
	return err
}

func (s *trial) scaler() rescaling.Group {
	a, _ := s.conn.(rescaling.Group) // the simulated cloud is one
	return a
}

// runner returns the executor's runner on the rehearsal's cloud.
func (s *trial) runner() *rescaling.Runner {
	return &rescaling.Runner{
		Table: s.store, Clock: s.clock,
		Open: func(context.Context, string, string, readiness.PolicyTarget) (rescaling.Group, error) {
			return s.scaler(), nil
		},
		Starter: starter{s},
		Report: func(ctx context.Context, org, planID string, r readiness.Report) error {
			_, err := s.plans.Take(ctx, org, planID, r)
			return err
		},
	}
}
