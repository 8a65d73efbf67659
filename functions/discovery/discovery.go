// Package discovery is the worker that reads what runs in a cloud account and writes it into the inventory: one partition
// for each kind of resource in each region, all at once within the machine's bound, each in short runs that continue
// where the one before ended.
package discovery

import (
	"context"
	"encoding/json"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// Plan is the answer of plan: the partitions to read. They are the inputs of scan.
type Plan struct {
	Partitions []Partition `json:"partitions"`
}

// Partition is the input and the answer of scan: a kind in a region, how far its listing is, and when to go on.
type Partition struct {
	discovery.Input
	Region      string            `json:"region"`
	Kind        string            `json:"kind"`
	Started     time.Time         `json:"started"`
	Page        string            `json:"page"` // the next one; "" is the first
	Pages       int               `json:"pages"`
	Resources   int               `json:"resources"`
	Changes     inventory.Changes `json:"changes"`
	Tries       int               `json:"tries"` // of the next page, so far
	Done        bool              `json:"done"`
	WaitSeconds int               `json:"waitSeconds"` // before scan is called again
}

// worker holds what the tasks need.
type worker struct {
	p         *platform.Platform
	providers cloud.Providers
	inventory *inventory.Store
	writing   chan struct{} // held while a page is written
}

// writers is how many pages a process writes at once. Where many partitions are read in one process, more would only
// take more memory.
const writers = 2

// Handler answers the tasks of the discovery machine.
func Handler(p *platform.Platform, providers cloud.Providers) workflow.Handler {
	w := &worker{p: p, providers: providers, inventory: inventory.New(p), writing: make(chan struct{}, writers)}
	return w.handle
}

func (w *worker) handle(ctx context.Context, input json.RawMessage) (any, error) {
	c, err := workflow.ReadCall("discovery", input)
	if err != nil {
		return nil, err
	}
	switch c.Task {
	case "plan":
		return workflow.RunTask(ctx, c, w.planPartitions)
	case "scan":
		return workflow.RunTask(ctx, c, w.scanPartition)
	case "abandon":
		return workflow.RunTask(ctx, c, func(ctx context.Context, part Partition) (Partition, error) {
			return w.abandonPartition(ctx, part, c.Error)
		})
	case "finish":
		return workflow.RunTask(ctx, c, func(ctx context.Context, in discovery.Input) (discovery.Job, error) {
			return w.finishPass(ctx, in, c.Error)
		})
	default:
		return nil, fault.New(fault.Invalid, "discovery knows no task %q", c.Task)
	}
}

// connectAccount opens the account. One that was deleted is fault.NotFound.
func (w *worker) connectAccount(ctx context.Context, in discovery.Input) (inventory.Account, cloud.Conn, error) {
	a, err := w.inventory.ReadAccount(ctx, in.Org, in.AccountID)
	if err != nil {
		return inventory.Account{}, nil, err
	}
	conn, err := inventory.Clouds{Sealer: w.p.Sealer, Providers: w.providers}.Connect(ctx, in.Org, a)
	return a, conn, err
}
