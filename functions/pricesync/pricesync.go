// Package pricesync is the worker that fetches the public prices of all providers and regions that hold resources,
// once for all organizations. It then estimates the cost of each resource of each organization.
package pricesync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// stretch is how long a run begins new lists and organizations. The next run of the night continues.
const stretch = 12 * time.Minute

// Synced counts the work of one run.
type Synced struct {
	Organizations int `json:"organizations"`
	Resources     int `json:"resources"`
	Priced        int `json:"priced"`
	Lists         int `json:"lists"` // fetched price lists
	Failed        int `json:"failed"`
	Off           int `json:"off,omitempty"` // lists that the operator has not switched on
	Left          int `json:"left"`          // lists and organizations that the run did not reach
}

// Handler runs SyncPrices once. EventBridge calls it several times a night.
func Handler(p *platform.Platform, providers cloud.Providers) workflow.Handler {
	return func(ctx context.Context, _ json.RawMessage) (any, error) { return SyncPrices(ctx, p, providers) }
}

// SyncPrices fetches the prices that are due and estimates all resources, once a night for each organization: a later
// run of the night estimates only the organizations that failed or were not reached, and those with a list of prices
// that failed. A list or an organization that fails does not keep the others. If a list fails, its previous prices are
// used and marked as old.
func SyncPrices(ctx context.Context, p *platform.Platform, providers cloud.Providers) (Synced, error) {
	r := &round{
		Platform: p, estimates: pricing.New(p, providers), rotation: identity.NewRotation(p.Table, "pricesync"),
		until: p.Clock.Now().Add(stretch), again: map[string]bool{},
	}
	r.night = r.Clock.Now().UTC().Format(time.DateOnly)
	orgs, err := r.readLeft(ctx)
	errs := []error{err}
	pairs := map[pricing.ProviderRegion][]string{}
	for _, org := range orgs {
		some, err := r.estimates.Pairs(table.WithOrg(ctx, org), org)
		for _, at := range some {
			pairs[at] = append(pairs[at], org)
		}
		if err != nil {
			r.again[org] = true
			errs = append(errs, fault.Wrap("look at what "+org+" has", err))
		}
	}
	errs = append(errs, r.refresh(ctx, pairs), r.update(ctx, orgs))
	return r.did, errors.Join(errs...)
}

// readLeft returns the organizations that no run of this night has ended with, those first that the previous run did
// not reach.
func (r *round) readLeft(ctx context.Context) ([]string, error) {
	orgs, err := r.rotation.ReadOrganizations(ctx)
	done, doneErr := r.rotation.ReadDone(ctx, r.night) // all are left if it cannot be read
	return slices.DeleteFunc(orgs, func(org string) bool { return done[org] }), errors.Join(err, doneErr)
}

// round is one run.
type round struct {
	*platform.Platform
	estimates *pricing.Store
	rotation  identity.Rotation
	until     time.Time
	night     string          // the day on which the run began
	again     map[string]bool // organizations that a later run must estimate again
	did       Synced
}

// refresh fetches the price lists that are due. pairs are the organizations that need each list.
func (r *round) refresh(ctx context.Context, pairs map[pricing.ProviderRegion][]string) error {
	sorted := slices.SortedFunc(maps.Keys(pairs), pricing.ProviderRegion.Compare)
	did, err := r.estimates.RefreshDue(ctx, sorted, r.until)
	r.did.Lists, r.did.Failed, r.did.Off, r.did.Left = did.Lists, did.Failed, did.Off, did.Left
	for _, at := range did.Missing {
		for _, org := range pairs[at] {
			r.again[org] = true
		}
	}
	return err
}

// update estimates the resources of organizations. Those that the previous run did not reach come first.
func (r *round) update(ctx context.Context, orgs []string) error {
	var errs []error
	for _, org := range orgs {
		if !r.Clock.Now().Before(r.until) {
			r.did.Left++
			continue
		}
		errs = append(errs, r.rotation.Begin(ctx, org))
		did, err := r.estimates.UpdateDays(table.WithOrg(ctx, org), org)
		if err != nil {
			errs = append(errs, fmt.Errorf("estimate what %s has: %w", org, err))
			continue
		}
		if !r.again[org] {
			errs = append(errs, r.rotation.MarkDone(ctx, org, r.night, r.Clock.Now()))
		}
		r.did.Organizations++
		r.did.Resources += did.Resources
		r.did.Priced += did.Priced
	}
	return errors.Join(errs...)
}
