// Package billingsync is the worker that imports bills: of each account every night, of a newly connected account at
// once, and of uploaded files. A billing period is replaced as a whole or stays unchanged, for every kind of delivery,
// even if the worker dies.
package billingsync

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"lamplighter.dev/functions/billingsync/confined"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// Planned is the answer of the task plan: the planned imports, or a request to wait and ask again.
type Planned struct {
	billimport.Input
	Done        bool    `json:"done"`
	WaitSeconds int     `json:"waitSeconds"`
	Shares      []Share `json:"shares"`
}

// Share is the import of one account or upload: the input of the task import, and its answer. Gone lists the months
// that are finished in this run. Failure is the first error of one of them.
type Share struct {
	billimport.Input
	Full        bool                `json:"full,omitempty"` // every month is looked at
	Gone        []string            `json:"gone,omitempty"`
	Broken      []string            `json:"broken,omitempty"` // the closed months that could not be attributed
	Failure     *billimport.Failure `json:"failure,omitempty"`
	Notice      string              `json:"notice,omitempty"` // a difference that does not prevent the import
	Done        bool                `json:"done"`
	WaitSeconds int                 `json:"waitSeconds"`
}

type worker struct {
	p         *platform.Platform
	clouds    inventory.Clouds
	inventory *inventory.Store
	costs     *cost.Store
	rates     *pricing.Store // exchange rates, price lists and the costs of resources
	read      billReader     // reads files of unknown origin
}

// billReader is the type of bill.Read.
type billReader func(
	ctx context.Context, form cloud.BillForm, name string, r cloud.BillReader, take func(*bill.Charge) error,
) (billfile.Totals, error)

// newBillReader returns bill.Read, or a reader that works in a child process if command is set.
func newBillReader(command []string) billReader {
	if len(command) == 0 {
		return billfile.Read
	}
	return confined.New(command, confined.DefaultLimit).Read
}

// Handler answers the tasks of the machine, and calls of the schedule, which have no task.
func Handler(p *platform.Platform, providers cloud.Providers) workflow.Handler {
	w := &worker{
		p: p, clouds: inventory.Clouds{Sealer: p.Sealer, Providers: providers}, inventory: inventory.New(p),
		costs: cost.New(p),
		rates: pricing.New(p, providers), read: newBillReader(p.Settings.BillReader),
	}
	return w.handle
}

func (w *worker) handle(ctx context.Context, input json.RawMessage) (any, error) {
	var named struct {
		Task string `json:"task"`
	}
	if err := json.Unmarshal(input, &named); err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err, "billingsync was sent no JSON")
	}
	if named.Task == "" {
		return w.startDue(ctx)
	}
	c, err := w.p.ReadCall(ctx, billimport.Worker, input)
	if err != nil {
		return nil, err
	}
	return w.run(ctx, c)
}

func (w *worker) run(ctx context.Context, c workflow.Call) (any, error) {
	switch c.Task {
	case "plan":
		return workflow.RunTask(ctx, c, w.plan)
	case "import":
		return workflow.RunTask(ctx, c, w.importShare)
	case "abandon":
		return workflow.RunTask(ctx, c, func(ctx context.Context, in Share) (Share, error) {
			return w.abandon(ctx, in, c.Error)
		})
	case "giveUp":
		return workflow.RunTask(ctx, c, func(ctx context.Context, in billimport.Input) (Planned, error) {
			return w.giveUp(ctx, in, c.Error)
		})
	case "finish":
		return workflow.RunTask(ctx, c, func(ctx context.Context, in billimport.Input) (Planned, error) {
			return Planned{Input: in, Done: true}, billimport.Finish(ctx, w.p, in)
		})
	}
	return nil, fault.New(fault.Invalid, "billingsync knows no task %q", c.Task)
}

// A newly connected account is discovered first, so that its bill can be assigned to resources and their teams. The
// import waits at most this long for the discovery.
const (
	discovering = 10 * time.Minute
	pause       = 2 // seconds
)

// plan divides a run into one share per account.
func (w *worker) plan(ctx context.Context, in billimport.Input) (Planned, error) {
	out := Planned{Input: in, Done: true, Shares: []Share{}}
	switch {
	case in.Rebuild, in.Renewal:
		out.Shares = append(out.Shares, Share{Input: in})
	case in.AccountID != "":
		a, err := w.inventory.ReadAccount(ctx, in.Org, in.AccountID)
		if fault.Is(err, fault.NotFound) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if a.Status == inventory.AccountConnecting && w.p.Clock.Now().Sub(a.CreatedAt) < discovering {
			return Planned{Input: in, WaitSeconds: pause}, nil
		}
		out.Shares = append(out.Shares, Share{Input: in})
		if in.First {
			prices := in
			prices.First, prices.Renewal = false, true
			out.Shares = append(out.Shares, Share{Input: prices})
		}
	default:
		all, err := connection.ListAccounts(ctx, w.p.Table, in.Org)
		if err != nil {
			return out, err
		}
		for i := range all {
			of := in
			of.AccountID = all[i].ID
			out.Shares = append(out.Shares, Share{Input: of, Full: true})
		}
	}
	return out, nil
}

func (w *worker) importShare(ctx context.Context, in Share) (Share, error) {
	switch {
	case in.Rebuild:
		return w.rebuild(ctx, in)
	case in.Renewal:
		return w.renew(ctx, in)
	case in.Withdraw:
		return w.withdrawUpload(ctx, in)
	case in.UploadID != "":
		return w.importUpload(ctx, in)
	}
	return w.importAccount(ctx, in)
}

// giveUp ends the record of a run that the sweeper parks, and removes the run from the list of work.
func (w *worker) giveUp(ctx context.Context, in billimport.Input, why *workflow.Caught) (Planned, error) {
	if in.Rebuild || in.Renewal || in.UploadID != "" || in.AccountID != "" {
		if _, err := w.abandon(ctx, Share{Input: in}, why); err != nil {
			return Planned{}, err
		}
	}
	return Planned{Input: in, Done: true}, billimport.Finish(ctx, w.p, in)
}

// abandon ends a share that the machine gives up.
func (w *worker) abandon(ctx context.Context, in Share, why *workflow.Caught) (Share, error) {
	if in.Rebuild {
		return in, w.addAgain(ctx, in.Input, w.p.Clock.Now().Add(rebuildPause))
	}
	if in.Renewal { // the nightly update makes up for it
		w.p.Log.WarnContext(ctx, "an update of prices and costs was given up", "org", in.Org, "account", in.AccountID,
			"error", why.String())
		return in, nil
	}
	if in.Withdraw {
		return in, w.abandonWithdrawal(ctx, in.Input, why.String())
	}
	f := billimport.Failure{
		Step: billimport.Reachability, Message: "the import was given up: " + why.String(),
		At: w.p.Clock.Now(),
	}
	if in.UploadID != "" {
		err := w.endUpload(ctx, in.Input, func(u *billimport.Upload) {
			u.Errors = []billimport.RowError{{Message: f.Message}}
		})
		return in, errors.Join(err, w.p.Inbox.Remove(ctx, billimport.UploadName(in.Org, in.UploadID)))
	}
	return in, billimport.ChangeEntry(ctx, w.p.Table, in.Org, in.AccountID, func(e *billimport.Entry) {
		e.Failure, e.TriedAt, e.JobID = &f, f.At, ""
	})
}
