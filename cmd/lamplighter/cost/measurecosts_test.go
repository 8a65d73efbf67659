package cost

import (
	"context"
	"time"

	"lamplighter.dev/functions/auditanchor"
	"lamplighter.dev/functions/pricesync"
	"lamplighter.dev/functions/scheduleddiscovery"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// worker is a scheduled worker.
type worker struct {
	folder string
	run    func(context.Context) error
}

// minutely returns the workers of the minute. Discoveries are not started here: passes are measured by themselves.
func (s *site) minutely() []worker {
	return []worker{
		{"sweeper", s.Sweep},
		{"evaluator", s.Evaluate},
		{"scheduleddiscovery", s.StartDiscoveries},
		{"auditlinker", s.LinkAudit},
		{"mailer", s.Retry},
		{"notifier", s.RetryNotifications},
	}
}

// hourly returns the workers of the hour.
func (s *site) hourly() []worker {
	return []worker{
		{"archiver", s.Archive},
		{"organisationsync", s.SynchronizeOrganisations},
		{"anomalycheck", s.JudgeCosts},
		{"exporter", s.RemoveExports},
		{"billingsync", s.ImportBills},
		{"recommender", s.EvaluateRules},
	}
}

// daily returns the workers that run in some hours of the day.
func (s *site) daily() []worker {
	return []worker{{"pricesync", s.SyncPrices}, {"reminder", s.Remind}, {"auditanchor", s.anchor}}
}

// anchor makes a night of anchors. Compute counts its objects, because all organizations share them.
func (s *site) anchor(ctx context.Context) error {
	before := s.Take()
	err := s.AnchorAudit(ctx)
	took := s.Take()
	took.Puts, took.Gets = 0, 0
	s.put(before.plus(took))
	return err
}

// bare returns the usage of a run of each worker in a service without organizations.
func (s *site) bare() map[string]Sample {
	s.Helper()
	out := map[string]Sample{}
	for _, some := range [][]worker{s.minutely(), s.hourly(), s.daily()} {
		for _, w := range some {
			pause := time.Minute
			if w.folder == auditanchor.Declaration.Name {
				pause = 24 * time.Hour // it works once a day
			}
			out[w.folder] = s.repeatedAfter(pause, w.run)
		}
	}
	return out
}

// found returns the usage of a run of each worker of the minute, when no work is due. No discovery is due in a minute
// without accounts, as in a service without organizations.
func (s *site) found(bare map[string]Sample) map[string]Sample {
	s.Helper()
	for range 5 { // rebuilds of costs begin some minutes after the change that they are for
		s.must(clock.System{}.Sleep(s.Context(), 3*time.Minute))
		s.must(s.Sweep(s.Context()))
		s.must(s.AwaitIdle(s.Context()))
		s.must(s.LinkAudit(s.Context()))
	}
	out := map[string]Sample{}
	for _, w := range s.minutely() {
		if out[w.folder] = bare[w.folder]; w.folder != scheduleddiscovery.Declaration.Name {
			out[w.folder] = s.repeated(w.run)
		}
		if wrote := out[w.folder].Units[w.folder].WriteUnits; wrote > bare[w.folder].Units[w.folder].WriteUnits {
			s.Fatalf("%s found work, and would count it each minute: %+v", w.folder, out[w.folder])
		}
	}
	return out
}

// costs measures the workers of the hour and of the day in w.CostDays days. They are in the middle of a month, so that
// bills have half of their rows on average.
func (s *site) costs(bare map[string]Sample, w Workload) Costs {
	s.Helper()
	out := Costs{Days: w.CostDays, Accounts: w.Accounts, Bills: newSample(), Rest: newSample(), Shared: newSample()}
	if w.Lumped {
		out.Accounts, out.Renewed = 1, newSample()
		out.Renewals = 2 * out.Days // after the imports of two accounts each day
	}
	s.must(clock.System{}.Sleep(s.Context(), time.Duration((days-w.CostDays)/2)*24*time.Hour))
	s.Take()
	for hour := range 24 * out.Days {
		s.must(clock.System{}.Sleep(s.Context(), time.Hour-gathering))
		lumpedDue := s.lumped != "" && billimport.DuePK(s.Platform.Clock.Now()) == billimport.DueKey(s.lumped).PK
		did, shared := s.hour(bare, hour%24)
		bills := did.only(billimport.Worker)
		out.Rest, out.Shared = out.Rest.plus(did.minus(bills)), out.Shared.plus(shared)
		if !lumpedDue {
			out.Bills = out.Bills.plus(bills)
		}
		s.must(clock.System{}.Sleep(s.Context(), gathering))
		s.renewals(bare, &out)
	}
	return out
}

// gathering is the time in which the changes of a minute are gathered, and an update of all costs begins.
const gathering = 3 * time.Minute

// renewals measures the work that the sweeper starts some minutes after imports: the update of the known costs of all
// resources of a large organization, and rebuilds of costs.
func (s *site) renewals(bare map[string]Sample, out *Costs) {
	s.Helper()
	did := s.beyond(bare, worker{"sweeper", s.Sweep})
	some := did.only(billimport.Worker)
	out.Rest = out.Rest.plus(did.minus(some))
	switch {
	case some.Calls[billimport.Worker] == 0:
	case s.lumped != "":
		out.Renewed = out.Renewed.plus(some)
	default:
		out.Bills = out.Bills.plus(some)
	}
}

// hour runs the workers of an hour of the day, and returns their usage beyond that in a service without organizations,
// and the part of it that all organizations share.
func (s *site) hour(bare map[string]Sample, hour int) (took, shared Sample) {
	s.Helper()
	took, shared = newSample(), newSample()
	for _, w := range append(s.hourly(), worker{"auditlinker", s.LinkAudit}) {
		took = took.plus(s.beyond(bare, w))
	}
	// Bills are due in the first hours of a measured day. The prices come later, so that the updates of costs after
	// imports are not theirs.
	const firstPrices, reminding, anchoring = 12, 18, 20
	prices, reminder, anchors := s.daily()[0], s.daily()[1], s.daily()[2]
	switch {
	case hour >= firstPrices && hour < firstPrices+priceRuns:
		shared = s.fetchPrices()
		took = took.plus(s.beyond(bare, prices))
		if hour == firstPrices { // later runs of the night read no lists
			read := s.readPrices()
			took, shared = took.minus(read), shared.plus(read)
		}
	case hour == reminding:
		took = took.plus(s.beyond(bare, reminder))
	case hour == anchoring:
		took = took.plus(s.beyond(bare, anchors))
	}
	s.must(s.Notify(s.Context()))
	return took.plus(s.Take()), shared
}

// beyond runs a worker, and returns its usage beyond that in a service without organizations.
func (s *site) beyond(bare map[string]Sample, w worker) Sample {
	s.Helper()
	s.must(w.run(s.Context()))
	s.must(s.AwaitIdle(s.Context()))
	return s.Take().minus(bare[w.folder])
}

// fetchPrices fetches the lists of prices that are due, which one organization does for all.
func (s *site) fetchPrices() Sample {
	s.Helper()
	lists, all := 0, s.regions()
	took := s.asPricesync(func(ctx context.Context, p *pricing.Store) {
		did, err := p.RefreshDue(ctx, all, s.Platform.Clock.Now().Add(time.Hour))
		s.must(err)
		lists = did.Lists
	})
	took.Millis[pricesync.Declaration.Name] = lists * perListMs
	return took
}

// readPrices returns the usage of pricesync for looking at the lists of prices and reading them, once in a run.
func (s *site) readPrices() Sample {
	s.Helper()
	all := s.regions()
	return s.asPricesync(func(ctx context.Context, p *pricing.Store) {
		did, err := p.RefreshDue(ctx, all, s.Platform.Clock.Now().Add(time.Hour))
		s.must(err)
		if did.Lists > 0 {
			s.Fatalf("%d lists of prices were fetched twice", did.Lists)
		}
		_, err = p.Tables(ctx, all)
		s.must(err)
	})
}

// regions returns the providers and regions of the organization.
func (s *site) regions() (all []pricing.ProviderRegion) {
	s.Helper()
	s.asPricesync(func(ctx context.Context, p *pricing.Store) {
		var err error
		all, err = p.Pairs(table.WithOrg(ctx, s.org), s.org)
		s.must(err)
	})
	return all
}

// asPricesync returns the usage of do in the name of pricesync, in a process that begins.
func (s *site) asPricesync(do func(context.Context, *pricing.Store)) Sample {
	s.Helper()
	ctx, meter := table.WithMeter(pricesync.Declaration.As(s.Context()))
	do(ctx, pricing.New(s.Platform, s.Providers))
	out := newSample()
	out.Units[pricesync.Declaration.Name] = meter.Usage()
	return out
}
