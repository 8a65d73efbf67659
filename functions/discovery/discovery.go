// Package discovery is the worker that reads the resources of a cloud account and writes them to the inventory. The
// regions of the account are divided among a few shares, which are read at the same time. A run of a share reads kind
// after kind and region after region for a while; the next run continues where it ended.
package discovery

import (
	"context"
	"encoding/json"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/sizing"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// Plan is the result of the task plan: the shares to read. They are the inputs of the task scan.
type Plan struct {
	Shares []Share `json:"shares"`
}

// Share is the input and result of the task scan: some regions of the account, the progress of each kind in them, and
// when to continue.
type Share struct {
	discovery.Input
	Started     time.Time  `json:"started"`
	Parts       []Progress `json:"parts"` // by region; those of a region are in one share
	Measuring   *Measuring `json:"measuring,omitempty"`
	Importing   *Importing `json:"importing,omitempty"`
	Done        bool       `json:"done"`
	WaitSeconds int        `json:"waitSeconds"` // before scan is called again
}

// Progress is the progress of one part of a share: a kind in a region.
type Progress struct {
	discovery.Part
	Page        string `json:"page,omitempty"`        // the next one; "" is the first
	Tries       int    `json:"tries,omitempty"`       // of the next page, so far
	WaitSeconds int    `json:"waitSeconds,omitempty"` // until the next try, counted from when scan is called again

	notBefore time.Time // the same on this run's clock
	ended     bool      // there is no further page, as this run has seen
	asked     bool      // the cloud, for the next page
	late      bool      // is the answer
}

// worker holds the dependencies of the tasks.
type worker struct {
	p            *platform.Platform
	providers    cloud.Providers
	inventory    *inventory.Store
	measurements *measurement.Store
	estimates    *pricing.Store
	sizes        *sizing.Store
	opinions     *opinion.Store
	writing      chan struct{} // held while pages are written
}

// writeConcurrency is how many pages a process writes at the same time. If many shares are read in one process, a
// higher value would only use more memory.
const writeConcurrency = 2

// Handler answers the tasks of the discovery machine.
func Handler(p *platform.Platform, providers cloud.Providers) workflow.Handler {
	return newWorker(p, providers).handle
}

func newWorker(p *platform.Platform, providers cloud.Providers) *worker {
	return &worker{
		p: p, providers: providers, inventory: inventory.New(p), measurements: measurement.New(p),
		estimates: pricing.New(p, providers), sizes: sizing.NewStore(p), opinions: opinion.New(p),
		writing: make(chan struct{}, writeConcurrency),
	}
}

func (w *worker) handle(ctx context.Context, input json.RawMessage) (any, error) {
	c, err := w.p.ReadCall(ctx, "discovery", input)
	if err != nil {
		return nil, err
	}
	switch c.Task {
	case "plan":
		return workflow.RunTask(ctx, c, w.planShares)
	case "scan":
		return workflow.RunTask(ctx, c, w.scanShare)
	case "abandon":
		return workflow.RunTask(ctx, c, func(ctx context.Context, sh Share) (Share, error) {
			return w.abandonShare(ctx, sh, c.Error)
		})
	case "finish":
		return workflow.RunTask(ctx, c, func(ctx context.Context, in discovery.Input) (discovery.Job, error) {
			return w.finishPass(ctx, in, c.Error)
		})
	default:
		return nil, fault.New(fault.Invalid, "discovery knows no task %q", c.Task)
	}
}

// connectAccount connects to the account. The error is fault.NotFound if the account was deleted.
func (w *worker) connectAccount(ctx context.Context, in discovery.Input) (inventory.Account, cloud.Conn, error) {
	a, err := w.inventory.ReadAccount(ctx, in.Org, in.AccountID)
	if err != nil {
		return inventory.Account{}, nil, err
	}
	var known []inventory.Registration
	if a.Clusters > 0 {
		if known, err = inventory.ReadRegistrations(ctx, w.p.Table, in.Org, a.ID); err != nil {
			return inventory.Account{}, nil, err
		}
	}
	conn, err := inventory.Clouds{Sealer: w.p.Sealer, Providers: w.providers}.ConnectInside(ctx, in.Org, a, known)
	return a, conn, err
}

// providerOf returns the provider of a kind: the account's provider, or inventory.ClusterProvider for kinds inside
// its clusters.
func (w *worker) providerOf(a inventory.Account, kind string) string {
	if _, own := w.providers.Kind(a.Provider, kind); own {
		return a.Provider
	}
	return inventory.ClusterProvider
}
