package recommender

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/domain/sizing"
	"lamplighter.dev/shared/domain/smarttag"
	"lamplighter.dev/shared/engine/table"
)

// inputs are the data of an organization that derivations and savings read beside a resource's own record. They are
// read once for a pass.
type inputs struct {
	now        time.Time
	end        time.Time // the first moment after the last measured day
	smartTags  func(*inventory.Resource) map[string]string
	scheduled  map[string]bool    // native ids of resources with a schedule
	parts      map[string]parts   // by native id of the parent
	machines   map[string]machine // the resources that disks belong to
	disks      map[string]bool    // native ids of the disks that snapshots may be of
	unattached map[string]disk    // the disks that no machine has, by the ids that clusters name them by
	inGroups   map[string]int     // how many resources are in Azure's resource groups, by the native id in lower case
	bills      bills
	// by native id, of the types that commitments cover
	classes     map[string]string
	commitments *commitments
	needs       *needs                       // of the parts under evaluation; nil: all resources are needed
	accounts    map[string]inventory.Account // by our id
	rates       func(uid string) *pricing.HourlyRate
	tables      *priceTables
	sizes       *sizeLists
	cheapest    map[sizeQuery]sizeAnswer // types that replace others, by what was asked
	dates       map[string]time.Time     // the first moments of days, by their names
	priceFacts  map[string]any           // of the subject under evaluation; reused
	settings    map[string]any           // of the organization, as conditions read them; nil if they are unknown
}

// parts is what belongs to a resource: its disks with their size, and how many resources have it for their parent.
type parts struct {
	gib    float64
	disks  []disk
	count  int
	member databaseMember
	// the instances of a database cluster
	members []disk
	// the number of clusters of a Bigtable instance
	clusters int
}

// databaseMember is the machine of the instances of a database cluster.
type databaseMember struct {
	class, facts string // facts are inventory.IndexedFacts
	mixed        bool   // the instances differ
}

// disk is a disk of a machine, or an instance of a cluster: its native id and its id, and its account if that may be
// another one than that of the resource which it belongs to.
type disk struct {
	uid, id, account       string
	kind, provider, region string
	gib                    int64
}

// diskOf returns a resource as a disk of another one.
func diskOf(r *inventory.IndexedResource) disk {
	return disk{
		uid: r.UID, id: r.ID(), kind: r.Type, provider: r.Provider, region: r.Region, gib: r.Capacity["sizeGiB"],
	}
}

// machine is the state of a resource that has disks or addresses.
type machine struct {
	status cloud.Status
	since  time.Time
}

// diskTypes are the types of disks whose record names their machine.
var diskTypes = map[string]bool{"aws-ebs": true, "azure-disk": true, googleDisk: true}

// googleDisk is the type of disks whose snapshots do not say whether they still exist.
const googleDisk = "gcp-disk"

// machineTypes are the types of machines whose state others depend on.
var machineTypes = map[string]bool{cloud.AWSEC2: true, "azure-vm": true, "gcp-compute": true}

// dateOf returns the first moment of a day by its name. It parses each name once.
func (in *inputs) dateOf(name string) time.Time {
	at, known := in.dates[name]
	if !known {
		at = dateOf(name)
		in.dates[name] = at
	}
	return at
}

// sources are the stores that inputs come from.
type sources struct {
	table     table.Store
	inventory *inventory.Store
	schedules *scheduling.Store
	costs     *cost.Store
	tags      smarttag.Store
	known     func() *pricing.Costs
	prices    *pricing.Store
	sizes     *sizing.Store
}

// inputsOf names inputs: of an organization, at a time, for the evaluation of some parts.
type inputsOf struct {
	org   string
	now   time.Time
	parts partSet
}

// read reads the inputs of an organization. Of resources it keeps only those that the parts need.
func (s *sources) read(ctx context.Context, of inputsOf) (*inputs, error) {
	org, now := of.org, of.now
	in := &inputs{
		now: now, end: now.UTC().Truncate(day), parts: map[string]parts{}, machines: map[string]machine{},
		disks: map[string]bool{}, inGroups: map[string]int{}, unattached: map[string]disk{},
		classes: map[string]string{},
		dates:   map[string]time.Time{}, cheapest: map[sizeQuery]sizeAnswer{}, priceFacts: map[string]any{},
	}
	var err error
	if in.settings, err = readSettings(ctx, s.table, org); err != nil {
		return nil, err
	}
	state, err := s.tags.Read(ctx, org)
	if err != nil {
		return nil, err
	}
	if in.smartTags = state.Tags; state.Empty() {
		in.smartTags = nil
	}
	if in.scheduled, err = s.readScheduled(ctx, org); err != nil {
		return nil, err
	}
	if err = s.join(ctx, in, of); err != nil {
		return nil, fmt.Errorf("join the resources of %s: %w", org, err)
	}
	if in.accounts, err = readAccounts(ctx, s.inventory, org); err != nil {
		return nil, err
	}
	in.needs.evaluateSubjects(in.accounts)
	if in.bills, err = readBills(ctx, s.costs, of, in.needs); err != nil {
		return nil, err
	}
	in.commitments = &commitments{
		ctx: ctx, costs: s.costs, org: org, past: map[string]pastUse{}, advice: map[adviceKey]advice{},
	}
	known := s.known()
	if err = s.inventory.LoadCosts(ctx, org, known); err != nil {
		return nil, fmt.Errorf("read the prices of the resources of %s: %w", org, err)
	}
	in.rates = func(uid string) *pricing.HourlyRate { rate, _ := known.Of(uid); return rate }
	in.tables = &priceTables{ctx: ctx, prices: s.prices}
	in.sizes = &sizeLists{
		ctx: ctx, store: s.sizes, org: org, at: func(l *sizing.List) bool { return l.Stale(now) },
	}
	return in, nil
}

// readScheduled returns the native ids of the resources that are attached to a schedule directly, by a group or by a
// tag.
func (s *sources) readScheduled(ctx context.Context, org string) (map[string]bool, error) {
	out := map[string]bool{}
	all, err := s.schedules.ListSchedules(ctx, org)
	if err != nil || len(all) == 0 {
		return out, err
	}
	ids := make([]string, len(all))
	for i, sch := range all {
		ids[i] = sch.ID
	}
	members, err := s.schedules.Members(ctx, org, ids...)
	if err != nil {
		return nil, fmt.Errorf("read the resources with schedules of %s: %w", org, err)
	}
	for _, some := range members {
		for _, m := range some {
			out[m.UID] = true
		}
	}
	return out, nil
}

// priceTables reads the price lists of pairs when they are first needed, and keeps some of them for the pass.
type priceTables struct {
	ctx    context.Context //nolint:containedctx // of the pass that the tables are for
	prices *pricing.Store
	kept   map[pricing.ProviderRegion]*pricing.Table // nil for a pair without prices
	err    error                                     // of the first read that failed
}

// mostTables is how many price lists a pass keeps, each of some megabytes.
const mostTables = 8

// table returns the prices of a pair, or nil if there are none.
func (t *priceTables) table(at pricing.ProviderRegion) *pricing.Table {
	if kept, known := t.kept[at]; known {
		return kept
	}
	got, err := t.prices.Tables(t.ctx, []pricing.ProviderRegion{at})
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("read the prices of %s: %w", at, err)
	}
	if len(t.kept) >= mostTables || t.kept == nil {
		t.kept = map[pricing.ProviderRegion]*pricing.Table{}
	}
	t.kept[at] = got[at]
	return got[at]
}
