package local

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"lamplighter.dev/functions/anomalycheck"
	"lamplighter.dev/functions/archiver"
	"lamplighter.dev/functions/auditanchor"
	"lamplighter.dev/functions/auditlinker"
	"lamplighter.dev/functions/billingsync"
	"lamplighter.dev/functions/evaluator"
	"lamplighter.dev/functions/exporter"
	"lamplighter.dev/functions/mailer"
	"lamplighter.dev/functions/notifier"
	"lamplighter.dev/functions/organisationsync"
	"lamplighter.dev/functions/pricesync"
	"lamplighter.dev/functions/recommender"
	"lamplighter.dev/functions/reminder"
	"lamplighter.dev/functions/scheduleddiscovery"
	"lamplighter.dev/functions/sweeper"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	feedEvery    = 200 * time.Millisecond // how soon a mail is written
	feedLimit    = 100
	retryEvery   = time.Second
	sweepEvery   = time.Minute // as the template's schedules
	linkEvery    = time.Minute
	anchorEvery  = time.Hour // one in 20 makes a night
	startEvery   = time.Minute
	evaluateEach = time.Minute
	archiveEvery = time.Hour
	membersEvery = time.Hour
	billsEvery   = time.Hour
	exportsEvery = time.Hour
	remindEvery  = 24 * time.Hour
	judgeEvery   = time.Minute      // oftener than in AWS: who has just imported bills is watching
	rulesEvery   = time.Minute      // oftener than in AWS: it evaluates nothing while nothing has changed
	decideEvery  = 30 * time.Second // it does nothing once the demo has its decisions
	pricesEvery  = time.Hour
	verifyEvery  = time.Minute
)

// Run does the work that the table's stream and EventBridge start in AWS, until ctx ends. It hands the change feed to
// the mailer and the notifier, sweeps up lost work, links and anchors the audit log, starts due discoveries, evaluates
// schedules and overrides, archives past months, announces the end of tokens, judges costs and evaluates rules. It
// starts each loop at once and repeats it every minute, hour or day. A failure is logged, and the next turn tries
// again.
func (s *Service) Run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() { s.every(ctx, feedEvery, "deliver mails", s.Deliver) })
	loops.Go(func() { s.every(ctx, retryEvery, "try mails again", s.Retry) })
	loops.Go(func() { s.every(ctx, feedEvery, "notify", s.Notify) })
	loops.Go(func() { s.every(ctx, retryEvery, "notify again", s.RetryNotifications) })
	loops.Go(func() { s.every(ctx, sweepEvery, "sweep", s.Sweep) })
	loops.Go(func() { s.every(ctx, startEvery, "start discoveries", s.StartDiscoveries) })
	loops.Go(func() { s.every(ctx, evaluateEach, "evaluate schedules", s.Evaluate) })
	loops.Go(func() { s.every(ctx, linkEvery, "link the audit log", s.LinkAudit) })
	loops.Go(func() { s.every(ctx, anchorEvery, "anchor the audit log", s.AnchorAudit) })
	loops.Go(func() { s.every(ctx, archiveEvery, "archive", s.Archive) })
	loops.Go(func() { s.every(ctx, membersEvery, "synchronize organizations", s.SynchronizeOrganisations) })
	loops.Go(func() { s.every(ctx, billsEvery, "import bills", s.ImportBills) })
	loops.Go(func() { s.every(ctx, exportsEvery, "remove exports", s.RemoveExports) })
	loops.Go(func() { s.every(ctx, remindEvery, "remind", s.Remind) })
	loops.Go(func() { s.every(ctx, judgeEvery, "judge costs", s.JudgeCosts) })
	loops.Go(func() { s.every(ctx, rulesEvery, "evaluate rules", s.EvaluateRules) })
	loops.Go(func() { s.every(ctx, decideEvery, "decide in the demo", s.DecideDemo) })
	loops.Go(func() { s.every(ctx, pricesEvery, "fetch prices", s.SyncPrices) })
	loops.Go(func() { s.every(ctx, verifyEvery, "verify accounts", s.VerifyAccounts) })
	loops.Wait()
}

// every runs a turn of a loop at once, and one after each pause of d.
func (s *Service) every(ctx context.Context, d time.Duration, what string, do func(context.Context) error) {
	if s.loops.isPaused(what) {
		s.Platform.Log.ErrorContext(ctx, "a loop is paused, because the process died each time that it ran: see "+
			"crash.old.log, mend the reason, delete the file and start again", "loop", what, "file", s.loops.path)
		return
	}
	for {
		if err := s.turn(ctx, what, do); err != nil && ctx.Err() == nil {
			s.Platform.Log.ErrorContext(ctx, "a loop failed and goes on", "loop", what, "error", err.Error())
		}
		if s.Platform.Clock.Sleep(ctx, d) != nil {
			return
		}
	}
}

// turn runs a loop once. A panic becomes an error of the turn.
func (s *Service) turn(ctx context.Context, what string, do func(context.Context) error) (err error) {
	ctx, endTurn, err := s.turns.begin(ctx)
	if err != nil {
		return err
	}
	defer endTurn()
	end, err := s.loops.begin(ctx, what)
	if err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		err = errors.Join(err, end())
	}()
	return do(ctx)
}

// Sweep starts lost work again.
func (s *Service) Sweep(ctx context.Context) error {
	return s.run(ctx, sweeper.Declaration.Name)
}

// StartDiscoveries starts the discoveries that are due.
func (s *Service) StartDiscoveries(ctx context.Context) error {
	return s.run(ctx, scheduleddiscovery.Declaration.Name)
}

// SyncPrices fetches public prices and estimates the cost of resources.
func (s *Service) SyncPrices(ctx context.Context) error {
	return s.run(ctx, pricesync.Declaration.Name)
}

// Evaluate evaluates due schedules and overrides.
func (s *Service) Evaluate(ctx context.Context) error {
	return s.run(ctx, evaluator.Declaration.Name)
}

// LinkAudit links pending entries into the chains of the audit log.
func (s *Service) LinkAudit(ctx context.Context) error {
	return s.run(ctx, auditlinker.Declaration.Name)
}

// AnchorAudit records the heads of the chains of the audit log outside of the store, if the last night is over.
func (s *Service) AnchorAudit(ctx context.Context) error {
	return s.run(ctx, auditanchor.Declaration.Name)
}

// Archive archives past months.
func (s *Service) Archive(ctx context.Context) error {
	return s.run(ctx, archiver.Declaration.Name)
}

// SynchronizeOrganisations starts to synchronize the members of connected organizations of clouds.
func (s *Service) SynchronizeOrganisations(ctx context.Context) error {
	return s.run(ctx, organisationsync.Declaration.Name)
}

// ImportBills starts the imports of due bills.
func (s *Service) ImportBills(ctx context.Context) error {
	return s.run(ctx, billingsync.Declaration.Name)
}

// RemoveExports removes the files of exports that have expired.
func (s *Service) RemoveExports(ctx context.Context) error {
	return s.run(ctx, exporter.Declaration.Name)
}

// Remind announces the end of personal access tokens.
func (s *Service) Remind(ctx context.Context) error {
	return s.run(ctx, reminder.Declaration.Name)
}

// JudgeCosts judges costs and budgets of organizations whose bills have changed.
func (s *Service) JudgeCosts(ctx context.Context) error {
	return s.run(ctx, anomalycheck.Declaration.Name)
}

// EvaluateRules evaluates the recommendation rules that are due.
func (s *Service) EvaluateRules(ctx context.Context) error {
	return s.run(ctx, recommender.Declaration.Name)
}

// Retry retries mails that could not be sent or taken.
func (s *Service) Retry(ctx context.Context) error {
	return s.observed(ctx, mailer.Declaration, s.mailer.Round)
}

// RetryNotifications retries failed deliveries to receivers, and sends the deliveries that waited for the end of
// their minute.
func (s *Service) RetryNotifications(ctx context.Context) error {
	return s.observed(ctx, notifier.Declaration, s.notifier.Round)
}

// observed runs do as the function d, and reports its usage to the observer.
func (s *Service) observed(ctx context.Context, d platform.Declaration, do func(context.Context) error) error {
	ctx, meter := table.WithMeter(d.As(ctx))
	began := s.Platform.Clock.Now()
	defer func() { s.observer.Call(d.Name, meter.Usage(), s.Platform.Clock.Now().Sub(began)) }()
	return do(ctx)
}

// Deliver hands new items of the change feed to the mailer. A mail that the mailer cannot take does not stop the
// feed: it stays in the outbox, where Retry finds it.
func (s *Service) Deliver(ctx context.Context) error {
	return s.follow(ctx, mailer.Declaration, func(ctx context.Context, items []table.Item) error {
		for _, f := range s.mailer.Deliver(ctx, items) {
			s.Platform.Log.ErrorContext(ctx, "a mail could not be taken and is tried again", "mail", f.SK, "error",
				f.Err.Error())
		}
		return nil
	})
}

// Notify hands new items of the change feed to the notifier. Items that it cannot take are handed to it again.
func (s *Service) Notify(ctx context.Context) error {
	return s.follow(ctx, notifier.Declaration, func(ctx context.Context, items []table.Item) error {
		var errs []error
		for _, f := range s.notifier.Deliver(ctx, items) {
			errs = append(errs, fmt.Errorf("take %s: %w", f.SK, f.Err))
		}
		return errors.Join(errs...)
	})
}

// position is a function's read position in the change feed.
type position struct {
	Cursor string `json:"cursor"`
}

// follow hands a function the items of the change feed after its stored position. The position advances after the
// function has taken the items.
func (s *Service) follow(ctx context.Context, d platform.Declaration,
	take func(context.Context, []table.Item) error,
) error {
	store, key := s.Platform.Table, table.Key{PK: "FEED#" + d.Name, SK: "POSITION"}
	ctx = table.Within(ctx, key.PK, table.OutboxSuffix)
	at, err := table.Read[position](ctx, store, key)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return fmt.Errorf("read position of the %s: %w", d.Name, err)
	}
	for {
		feed, err := store.Feed(ctx, at.Cursor, feedLimit)
		if err != nil {
			return fmt.Errorf("read change feed: %w", err)
		}
		if len(feed.Items) == 0 {
			return nil
		}
		err = s.observed(ctx, d, func(ctx context.Context) error { return take(ctx, feed.Items) })
		if err != nil {
			return err
		}
		at.Cursor = feed.Next
		it, err := table.NewItem(key, at)
		if err != nil {
			return err
		}
		if _, err = store.Write(ctx, table.Put(it)); err != nil {
			return fmt.Errorf("note position of the %s: %w", d.Name, err)
		}
	}
}
