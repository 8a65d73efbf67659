package discovery

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// countKinds counts the resources of each kind that are not terminated.
func (s *fixture) countKinds() map[string]int {
	s.Helper()
	out := map[string]int{}
	for _, r := range s.readRecords() {
		if r.Status != cloud.Terminated {
			out[r.Type]++
		}
	}
	return out
}

func (s *fixture) newWorker() *worker {
	w := newWorker(s.Platform, s.providers)
	w.writing = make(chan struct{}, 1)
	return w
}

// partStatuses returns how the parts of the pass job_x are, by kind.
func (s *fixture) partStatuses() map[string]discovery.PartStatus {
	s.Helper()
	out := map[string]discovery.PartStatus{}
	for _, part := range apitest.Value(discovery.ListParts(s.ctx, s.Table, org, "job_x"))(s) {
		out[part.Kind] = part.Status
	}
	return out
}

func TestAShare_AKindThatCannotBeReadHidesNoOther(t *testing.T) {
	s := newFixture(t, settings{"size": "400", "regions": "2"})
	s.runPass(discovery.Succeeded)
	before := s.countKinds()
	s.clk.Advance(time.Hour)
	s.account = s.storedAccount()
	s.setSettings(settings{"size": "400", "regions": "2", "vanish": "1", "denied": "aws-ec2"})
	j, sum := s.runPass(discovery.Partial)
	if got := s.countKinds(); len(got) != 1 || got["aws-ec2"] != before["aws-ec2"] {
		t.Errorf("%v are left of %v; want all of the kind that was not read, and no others", got, before)
	}
	if sum.Vanished == 0 ||
		!strings.HasPrefix(j.Error, "2 of 14 partitions could not be read; aws-ec2 in us-east-1: ") {
		t.Errorf("%d vanished, error %q", sum.Vanished, j.Error)
	}
}

// TestAShare_ALongPartIsReadInManyRuns has a run end after twelve of fifty pages.
func TestAShare_ALongPartIsReadInManyRuns(t *testing.T) {
	slow := settings{"size": "500", "regions": "1", "kinds": "aws-ec2", "pageSize": "10", "stopped": "0"}
	s := newFixture(t, slow)
	s.runPass(discovery.Succeeded)
	s.clk.Advance(time.Hour)
	s.account = s.storedAccount()
	slow["callMillis"], slow["vanish"] = "10000", "0.25"
	s.setSettings(slow)
	share, runs := s.newShare("us-east-1", "aws-ec2"), 0
	for ; !share.Done; runs++ {
		var err error
		if share, err = s.newWorker().scanShare(s.ctx, share); err != nil || share.WaitSeconds != 0 {
			t.Fatalf("run %d: waits %d s, %v", runs, share.WaitSeconds, err)
		}
		if parts := apitest.Value(discovery.ListParts(s.ctx, s.Table, org,
			"job_x"))(s); parts[0].Pages != share.Parts[0].Pages {
			t.Errorf("run %d: clients see %d pages of %d", runs, parts[0].Pages, share.Parts[0].Pages)
		}
	}
	got := share.Parts[0]
	if runs < 3 || got.Changes.Unchanged != s.countLive() || got.Changes.Vanished != 500-s.countLive() ||
		s.countLive() < 300 ||
		s.countLive() > 440 {
		t.Errorf("%d runs, %+v, %d live; want what vanished terminated, and nothing else", runs, got.Changes,
			s.countLive())
	}
	if marks := s.scanRows(); marks != 0 {
		t.Errorf("%d rows of what the scan found are left", marks)
	}
}

// scanRows counts the rows that a scan keeps for its next run.
func (s *fixture) scanRows() int {
	s.Helper()
	page, err := s.Table.Query(s.ctx, table.Query{PK: table.OrgPK(org) + "SCAN#job_x", Limit: 100})
	s.Must(err)
	return len(page.Items)
}

// TestAShare_AThrottledKindIsWaitedForAfterTheOthers wants no wait before all else was read.
func TestAShare_AThrottledKindIsWaitedForAfterTheOthers(t *testing.T) {
	s := newFixture(t, settings{"size": "200", "regions": "1"})
	w, share := s.newWorker(), s.newShare("us-east-1", "aws-rds", "aws-ec2", "aws-asg")
	_, conn, err := w.connectAccount(s.ctx, share.Input)
	s.Must(err)
	r := newRun(w, throttling{conn, "aws-rds"}, s.account, &share)
	s.Must(r.readPages(s.ctx, w.endTime(s.ctx)))
	s.Must(r.endRun(s.ctx))
	r.setWait()
	if share.Done || share.WaitSeconds < 1 || share.Parts[0].Status != discovery.PartRunning ||
		share.Parts[1].Status != discovery.PartDone || share.Parts[2].Status != discovery.PartDone {
		t.Errorf("%+v", share)
	}
	if share, err = w.scanShare(s.ctx, share); err != nil || !share.Done ||
		share.Parts[0].Status != discovery.PartDone {
		t.Errorf("after the wait: %+v, %v", share, err)
	}
}

// waitingConn is a connection whose listings wait until as many are under way as there are kinds.
type waitingConn struct {
	cloud.Conn
	asked *sync.WaitGroup
}

func (c waitingConn) List(ctx context.Context, kind, region, page string) (cloud.ResourcePage, error) {
	c.asked.Done()
	c.asked.Wait()
	return c.Conn.List(ctx, kind, region, page)
}

// TestAShare_KindsOfARegionAreListedSideBySide ends only if all listings run at the same time: sequential listings
// would never answer.
func TestAShare_KindsOfARegionAreListedSideBySide(t *testing.T) {
	s := newFixture(t, settings{"size": "200", "regions": "1"})
	w, share := s.newWorker(), s.newShare("us-east-1", "aws-rds", "aws-ec2", "aws-asg")
	_, conn, err := w.connectAccount(s.ctx, share.Input)
	s.Must(err)
	met := &sync.WaitGroup{}
	met.Add(len(share.Parts))
	r := newRun(w, waitingConn{conn, met}, s.account, &share)
	s.Must(r.readPages(s.ctx, w.endTime(s.ctx)))
	s.Must(r.endRun(s.ctx))
	for _, p := range share.Parts {
		if p.Status != discovery.PartDone {
			t.Errorf("%+v", p)
		}
	}
}

// TestAShare_WhatNoKindListsIsReadAfterTheKindsOfALargeAccount checks which kinds are asked for at the same time,
// page after page.
func TestAShare_WhatNoKindListsIsReadAfterTheKindsOfALargeAccount(t *testing.T) {
	for _, c := range []struct {
		name  string
		known int // resources; 0 was never discovered
		want  string
	}{
		{"never discovered", 0, "aws-ec2 aws-rds, aws-ec2, aws-*"},
		{"large", 1000, "aws-ec2 aws-rds, aws-ec2, aws-*"},
		{"small", 999, "aws-ec2 aws-rds aws-*, aws-ec2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newFixture(t, settings{"size": "20", "regions": "1", "kinds": "aws-ec2,aws-rds", "pageSize": "10"})
			w, share := s.newWorker(), s.newShare("us-east-1", "aws-ec2", "aws-rds", "aws-*")
			a, conn, err := w.connectAccount(s.ctx, share.Input)
			s.Must(err)
			if a.ResourceCount = c.known; c.known > 0 {
				a.LastDiscoveredAt = noon
			}
			r := newRun(w, conn, a, &share)
			var rounds []string
			for parts := r.askableParts(); len(parts) > 0; parts = r.askableParts() {
				var kinds []string
				for _, i := range parts {
					kinds = append(kinds, share.Parts[i].Kind)
				}
				rounds = append(rounds, strings.Join(kinds, " "))
				r.askPages(s.ctx, parts)
				for range parts {
					s.Must(r.awaitAnswer(s.ctx))
				}
			}
			if got := strings.Join(rounds, ", "); got != c.want {
				t.Errorf("asked for %s; want %s", got, c.want)
			}
		})
	}
}

func TestAPlan_DealsAKnownSmallAccountToFewShares(t *testing.T) {
	s := newFixture(t, settings{"size": "200", "regions": "8"})
	for _, c := range []struct{ known, want int }{{0, 1}, {999, 1}, {1000, 2}, {4500, 5}, {500_000, maxShares}} {
		a := s.account
		a.LastDiscoveredAt, a.ResourceCount = s.clk.Now(), c.known
		s.Must(measurement.New(s.Platform).NoteCollection(s.ctx, org, a.ID, measurement.Collection{Day: "2026-02-28"}))
		s.Must(opinion.New(s.Platform).Import(s.ctx, org, opinion.Account{AccountID: a.ID}, nil))
		s.Put(inventory.AccountKey(org, a.ID), a)
		plan := apitest.Value(s.newWorker().planShares(s.ctx, s.planPass()))(s)
		parts := 0
		for _, sh := range plan.Shares {
			parts += len(sh.Parts)
		}
		if len(plan.Shares) != c.want || parts != 56 {
			t.Errorf("%d known resources: %d shares of %d parts, want %d of 56", c.known, len(plan.Shares), parts,
				c.want)
		}
	}
}

// planPass returns the input of a pass that has begun.
func (s *fixture) planPass() discovery.Input {
	s.Helper()
	in := s.newShare("").Input
	s.Put(discovery.JobKey(org, in.JobID),
		discovery.Job{ID: in.JobID, AccountID: s.account.ID, Status: discovery.Running, StartedAt: s.clk.Now()})
	return in
}

// throttling is a connection that refuses to list a kind.
type throttling struct {
	cloud.Conn
	kind string
}

func (c throttling) List(ctx context.Context, kind, region, page string) (cloud.ResourcePage, error) {
	if kind == c.kind {
		return cloud.ResourcePage{}, &cloud.Error{Class: cloud.Throttled, Message: "slow down"}
	}
	return c.Conn.List(ctx, kind, region, page)
}

// refusing is a store that refuses the records of a kind as malformed, as one that is too large is refused.
type refusing struct {
	table.Store
	kind string
}

func (r refusing) Transact(ctx context.Context, ws ...table.Write) error {
	if slices.ContainsFunc(ws, func(w table.Write) bool {
		return strings.Contains(string(w.Item.Data), `"type":"`+r.kind+`"`)
	}) {
		return fault.New(fault.Internal, "the record is too large")
	}
	return r.Store.Transact(ctx, ws...)
}

func TestAShare_AKindThatCannotBeStoredHidesNoOther(t *testing.T) {
	s := newFixture(t, settings{"size": "200", "regions": "1"})
	s.Table = refusing{s.Table, "aws-rds"}
	share, err := s.newWorker().scanShare(s.ctx, s.newShare("us-east-1", "aws-rds", "aws-ec2", "aws-asg"))
	s.Must(err)
	got := s.partStatuses()
	if !share.Done || got["aws-rds"] != discovery.PartFailed || got["aws-ec2"] != discovery.PartDone ||
		got["aws-asg"] != discovery.PartDone {
		t.Errorf("%v", got)
	}
	if live := s.countKinds(); live["aws-rds"] != 0 || live["aws-ec2"] == 0 || live["aws-asg"] == 0 {
		t.Errorf("stored: %v", live)
	}
}

func TestAShare_WhatWasReadStaysReadWhenItIsAbandoned(t *testing.T) {
	s := newFixture(t, settings{"size": "200", "regions": "1"})
	w, share := s.newWorker(), s.newShare("us-east-1", "aws-ec2", "aws-rds")
	s.Must(discovery.RecordParts(s.ctx, s.Platform, share.Input, []discovery.Part{
		{Region: "us-east-1", Kind: "aws-ec2", Status: discovery.PartDone},
		{Region: "us-east-1", Kind: "aws-rds", Status: discovery.PartRunning},
	}))
	share, err := w.abandonShare(s.ctx, share, &workflow.Caught{Error: "States.Timeout"})
	s.Must(err)
	got := s.partStatuses()
	if !share.Done || got["aws-ec2"] != discovery.PartDone || got["aws-rds"] != discovery.PartFailed {
		t.Errorf("%v", got)
	}
}

func TestAPlan_LeavesOutWhatAnEarlierTryHasRead(t *testing.T) {
	s := newFixture(t, settings{"size": "200", "regions": "8"})
	in := s.planPass()
	plan := apitest.Value(s.newWorker().planShares(s.ctx, in))(s)
	regions := map[string]int{}
	for _, sh := range plan.Shares {
		for _, p := range sh.Parts {
			regions[p.Region]++
		}
	}
	if len(plan.Shares) != maxShares || len(regions) != 8 || regions["us-east-1"] != 7 {
		t.Errorf("%d shares of %v", len(plan.Shares), regions)
	}
	share := plan.Shares[0]
	for i := range share.Parts {
		share.Parts[i].Status = discovery.PartDone
	}
	share.Parts[len(share.Parts)-1].Status = discovery.PartFailed
	read := make([]discovery.Part, len(share.Parts))
	for i, p := range share.Parts {
		read[i] = p.Part
	}
	s.Must(discovery.RecordParts(s.ctx, s.Platform, in, read))
	left := map[discovery.PartStatus]int{}
	for _, sh := range apitest.Value(s.newWorker().planShares(s.ctx, in))(s).Shares {
		for _, p := range sh.Parts {
			left[p.Status]++
		}
	}
	if left[discovery.PartRunning] != 7*8-len(read)+1 || left[discovery.PartDone] != 6 {
		t.Errorf("%v", left)
	}
}

func TestAShare_EveryRunComesFurther(t *testing.T) {
	s := newFixture(t, settings{"size": "30", "regions": "1", "kinds": "aws-ec2", "pageSize": "10"})
	ctx, cancel := context.WithTimeout(s.ctx, time.Hour) // which is long past on the worker's clock
	defer cancel()
	s.clk.Advance(100 * 365 * 24 * time.Hour)
	share, err := s.newWorker().scanShare(ctx, s.newShare("us-east-1", "aws-ec2"))
	if err != nil || share.Parts[0].Pages != 1 || share.Done {
		t.Errorf("%+v, %v; want one page read", share, err)
	}
}
