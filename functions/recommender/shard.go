package recommender

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
)

// measuredDays is the longest window of a metric.
const measuredDays = 30

// metricShards is how many shards of measurements hold the resources of one shard of records. Both shards follow from
// the native id, so no other shard of records needs them.
const metricShards = measurement.Shards / inventory.ResourceShards

// settledAtOnce is how many findings are settled together.
const settledAtOnce = 2_000

// evaluation is the evaluation of resources of an organization in one pass. One goroutine uses it.
type evaluation struct {
	*worker
	org        string
	parts      partSet // that are evaluated
	in         *inputs
	rules      *orgRules
	settling   *recommendation.Settling
	stateOnly  bool // only rules that read no metrics
	evaluators map[string]*evaluator
	findings   []recommendation.Finding
	counts     map[countKey]*recommendation.RuleCount
	settled    recommendation.Settled
	candidates map[string][]measurement.Candidate // for a confirmation, by account
	comparing  *comparison                        // with opinions; nil in a pass over changed resources

	account    string // of the resource under evaluation
	usage      func(uid string) measurement.Use
	measured   measurement.Shard // of the records under evaluation
	historyErr error
}

// evaluateShard evaluates all resources of a shard of records, and records that it did.
func (e *evaluation) evaluateShard(ctx context.Context, shard int) error {
	e.counts, e.candidates = map[countKey]*recommendation.RuleCount{}, map[string][]measurement.Candidate{}
	if err := e.beginComparison(ctx, shard); err != nil {
		return err
	}
	err := e.eachGroup(ctx, e.org, shard, func(measured int, records []table.Item) error {
		e.usage = e.shardUsage(ctx, shardOfHistory{
			org: e.org, shard: measured, end: e.in.end, days: measuredDays, records: records, into: &e.measured,
		}, &e.historyErr)
		return e.evaluateItems(ctx, records)
	})
	if err != nil {
		return err
	}
	if err = e.settle(ctx); err != nil {
		return err
	}
	gone, err := e.settling.CloseGone(ctx, shard)
	if e.settled.Add(gone); err != nil {
		return err
	}
	if err = e.writeCounts(ctx, shard); err != nil {
		return err
	}
	if err = e.askForConfirmations(ctx, shard); err != nil {
		return err
	}
	if err = e.endComparison(ctx, shard); err != nil {
		return err
	}
	return e.settling.Confirm(ctx, shard)
}

// evaluatePart evaluates a part of a pass.
func (e *evaluation) evaluatePart(ctx context.Context, part int) error {
	if part < accountsPart {
		return e.evaluateShard(ctx, part)
	}
	e.counts = map[countKey]*recommendation.RuleCount{}
	if err := e.evaluateAccounts(ctx); err != nil {
		return err
	}
	if err := e.settle(ctx); err != nil {
		return err
	}
	return e.writeCounts(ctx, part)
}

// shardOfHistory names the measurements of a shard on the days before end.
type shardOfHistory struct {
	org   string
	shard int
	end   time.Time
	days  int

	records []table.Item       // of the resources whose measurements are read
	into    *measurement.Shard // its memory is used again
}

// shardUsage returns a function that returns the measurements of a resource of the records. It reads the shard of
// measurements when it is first called, and keeps an error in failed. The measurements are valid until another function
// of the same of.into is called.
func (w *worker) shardUsage(ctx context.Context, of shardOfHistory, failed *error) func(uid string) measurement.Use {
	read := false
	return func(uid string) measurement.Use {
		if !read {
			read = true
			uids := make([]string, len(of.records))
			for i, it := range of.records {
				uids[i] = it.SK
			}
			*failed = w.measurements.ReadShard(ctx, of.org, measurement.ShardDays{
				Shard: of.shard, From: of.end.AddDate(0, 0, -of.days), Until: of.end.AddDate(0, 0, -1),
				UIDs: uids,
			}, of.into)
		}
		return of.into.Of(uid)
	}
}

// evaluateItems evaluates stored records.
func (e *evaluation) evaluateItems(ctx context.Context, items []table.Item) error {
	for _, it := range items {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := e.evaluateItem(it); err != nil {
			return err
		}
		if len(e.findings) >= settledAtOnce {
			if err := e.settle(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// evaluateItem evaluates the rules of one record, and keeps the findings that may change a row.
func (e *evaluation) evaluateItem(it table.Item) error {
	r, err := readRecord(it)
	if err != nil || r.isTerminated() || r.Status == cloud.Pending {
		return err
	}
	of, err := e.evaluatorOf(r.Type)
	if err != nil {
		return err
	}
	e.findings = append(e.findings, e.offRules(&r, of)...)
	if of == nil {
		if e.hasOpinions(&r.Resource) {
			e.judge(&r.Resource)
		}
		return nil
	}
	e.account = r.CloudAccountID
	s, err := of.begin(&r, it.Data, e.usage)
	if err != nil {
		return err
	}
	if err = e.evaluateRules(of, s, r.Content); err != nil {
		return err
	}
	return errors.Join(e.historyErr, e.in.tables.err, e.in.sizes.err)
}

// evaluateRules evaluates the rules of a subject, and keeps the findings that may change a row.
func (e *evaluation) evaluateRules(of *evaluator, s *subject, content content) error {
	known, first := e.settling.RulesOf(s.ID), len(e.findings)
	opined := e.hasOpinions(&s.Resource)
	for i := range of.rules {
		rule := &of.rules[i]
		if e.stateOnly && !rule.isState() {
			continue
		}
		d, err := of.decideRule(rule, s)
		if err != nil {
			return err
		}
		if d.outcome != recommendation.True && !opined && !mayChange(d.outcome, rule.ID, known) {
			e.count(rule.ID, s.CloudAccountID, d.outcome, d.missing) // most are so
			continue
		}
		f := of.complete(&d, s, content)
		e.keep(&f, known)
		if opined {
			if err = e.keepOurs(of, rule, s, &f); err != nil {
				return err
			}
		}
	}
	if opined {
		e.judge(&s.Resource)
	}
	e.keepCandidate(of, s)
	return of.lookBack(s, known, e.findings[first:])
}

// lookBack tells of true findings without a row whether they were also true with the metrics up to the day before.
func (e *evaluator) lookBack(s *subject, known []string, findings []recommendation.Finding) (err error) {
	rewound := false
	for i := range findings {
		f := &findings[i]
		if f.Outcome != recommendation.True || !f.Metrics || slices.Contains(known, f.RuleID) {
			continue
		}
		if !rewound {
			rewound = true
			e.rewind(s, 1)
		}
		at := slices.IndexFunc(e.rules, func(r compiledRule) bool { return r.ID == f.RuleID })
		if f.TrueBefore, err = e.isTrue(&e.rules[at], s); err != nil {
			return err
		}
	}
	return nil
}

func (e *evaluation) evaluatorOf(kind string) (*evaluator, error) {
	of, known := e.evaluators[kind]
	if known {
		return of, nil
	}
	of, err := e.in.newEvaluator(e.rules, kind)
	if err == nil {
		e.evaluators[kind] = of
	}
	return of, err
}

// settle hands the kept findings to the rows.
func (e *evaluation) settle(ctx context.Context) error {
	got, err := e.settling.Settle(ctx, e.findings)
	e.settled.Add(got)
	e.findings = e.findings[:0]
	return err
}

// evaluateChanged evaluates the rules that read no metrics for resources given by their native ids.
func (e *evaluation) evaluateChanged(ctx context.Context, uids []string) error {
	e.counts, e.stateOnly = map[countKey]*recommendation.RuleCount{}, true
	e.usage = func(uid string) measurement.Use { return measurement.Use{History: e.readHistory(ctx, uid)} }
	const atOnce = 100
	for len(uids) > 0 {
		some := uids[:min(atOnce, len(uids))]
		uids = uids[len(some):]
		keys := make([]table.Key, len(some))
		for i, uid := range some {
			keys[i] = inventory.ResourceKey(e.org, uid)
		}
		got, err := e.Table.BatchGet(ctx, keys...)
		if err != nil {
			return fmt.Errorf("read %d changed resources of %s: %w", len(some), e.org, err)
		}
		items := make([]table.Item, 0, len(got))
		for _, k := range keys {
			if it, there := got[k]; there {
				items = append(items, it)
			}
		}
		if err = e.evaluateItems(ctx, items); err != nil {
			return err
		}
	}
	return e.settle(ctx)
}

// readHistory reads the last week of one resource: a schedule's saving needs its running hours.
func (e *evaluation) readHistory(ctx context.Context, uid string) measurement.History {
	h, err := e.measurements.Read(ctx, measurement.Of{Org: e.org, AccountID: e.account, UID: uid},
		e.in.end.AddDate(0, 0, -weekDays), e.in.end.Add(-time.Second))
	if err != nil {
		e.historyErr = err
	}
	return h
}
