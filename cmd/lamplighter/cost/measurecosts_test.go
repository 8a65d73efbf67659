package cost

import (
	"context"
	"time"

	"lamplighter.dev/functions/pricesync"
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
	}
}

// daily returns the workers that run in some hours of the day.
func (s *site) daily() []worker { return []worker{{"pricesync", s.SyncPrices}, {"reminder", s.Remind}} }

// bare returns the usage of a run of each worker in a service without organizations.
func (s *site) bare() map[string]Sample {
	s.Helper()
	out := map[string]Sample{}
	for _, some := range [][]worker{s.minutely(), s.hourly(), s.daily()} {
		for _, w := range some {
			out[w.folder] = s.repeated(w.run)
		}
	}
	return out
}

// found returns the usage of a run of each worker of the minute, when no work is due.
func (s *site) found() map[string]Sample {
	s.Helper()
	out := map[string]Sample{}
	for _, w := range s.minutely() {
		out[w.folder] = s.repeated(w.run)
	}
	return out
}

// costs measures the workers of the hour and of the day in a month, or in a lumped organization in some days of one.
// The days are those after the first hours of a month, so bills begin with few rows and end with those of the month.
func (s *site) costs(bare map[string]Sample, w Workload) Costs {
	s.Helper()
	out := Costs{Days: days, Accounts: w.Accounts, Bills: newSample(), Rest: newSample(), Shared: newSample()}
	if w.Lumped {
		out.Days, out.Accounts = 2, 2
	}
	s.Take()
	for hour := range 24 * out.Days {
		s.must(clock.System{}.Sleep(s.Context(), time.Hour))
		did, shared := s.hour(bare, hour%24)
		bills := did.only(billimport.Worker, billimport.Machine)
		out.Bills, out.Rest = out.Bills.plus(bills), out.Rest.plus(did.minus(bills))
		out.Shared = out.Shared.plus(shared)
	}
	return out
}

// hour runs the workers of an hour of the day, and returns their usage beyond that in a service without organizations,
// and the part of it that all organizations share.
func (s *site) hour(bare map[string]Sample, hour int) (took, shared Sample) {
	s.Helper()
	took, shared = newSample(), newSample()
	for _, w := range append(s.hourly(), worker{"sweeper", s.Sweep}, worker{"auditlinker", s.LinkAudit}) {
		took = took.plus(s.beyond(bare, w))
	}
	const firstPrices, reminding = 1, 6 // as the schedules of pricesync and reminder
	prices, reminder := s.daily()[0], s.daily()[1]
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
	lists, all := 0, s.pairs()
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
	all := s.pairs()
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

// pairs returns the providers and regions of the organization.
func (s *site) pairs() (all []pricing.ProviderRegion) {
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
