package recommender

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/recommendation"
)

// unconfirmed is the reason of a rule that is true by hourly points, and not yet confirmed in points of 5 minutes.
// Hourly means hide peaks, so a size or IOPS must not be lowered by them alone.
const unconfirmed = "unconfirmed"

// renewAfter is the age of a confirmation, in days, from which another one is asked for, so that it is there before
// this one is too old.
const renewAfter = measurement.FreshFor - 2

// confirm decides a condition that is true by hourly points once more, with points of 5 minutes. It returns true if it
// is true then; from then on metrics are read from these points. It asks for a confirmation that is missing or will
// soon be too old.
func (e *evaluator) confirm(r *compiledRule, as *setting, s *subject, f *recommendation.Finding) bool {
	s.measurements()
	age := s.confirmationAge()
	if age > renewAfter {
		e.asks = append(e.asks, confirmedMetrics(r, s.Type)...)
	}
	f.Outcome, f.Missing = recommendation.Unknown, s.unconfirmedOf(r.Confirm, age)
	if len(f.Missing) > 0 {
		return false
	}
	e.readFine(s, true)
	f.Outcome, f.Missing = e.decide(r, as)
	return f.Outcome == recommendation.True
}

// readFine lets conditions read metrics from points of 5 minutes, or from hourly ones again.
func (e *evaluator) readFine(s *subject, fine bool) {
	s.fine = fine
	e.subject.Metrics.Reset(s)
}

// confirmationAge returns how many days ago the last day of the confirmation was: more than measurement.FreshFor
// without one.
func (s *subject) confirmationAge() int {
	last, err := time.Parse(time.DateOnly, s.confirmation.Day)
	if err != nil {
		return measurement.FreshFor + 1
	}
	return int(s.inputs.end.Sub(last)/day) - 1
}

// unconfirmedOf names the metrics that are not confirmed, with the reason.
func (s *subject) unconfirmedOf(names []string, age int) (out []recommendation.Missing) {
	for _, name := range names {
		_, confirmed := s.confirmation.Values[name]
		if age > measurement.FreshFor || !confirmed {
			out = append(out, recommendation.Missing{Fact: "m." + name, Reason: unconfirmed})
		}
	}
	return out
}

// keepCandidate keeps the subject for a confirmation, if a rule has asked for one.
func (e *evaluation) keepCandidate(of *evaluator, s *subject) {
	if len(of.asks) == 0 {
		return
	}
	slices.Sort(of.asks)
	e.candidates[s.CloudAccountID] = append(e.candidates[s.CloudAccountID], measurement.Candidate{
		UID: s.UID, Type: s.Type, Region: s.Region, Metrics: slices.Clone(slices.Compact(of.asks)),
	})
}

// askForConfirmations asks the discoveries of the accounts to confirm the candidates of a shard.
func (e *evaluation) askForConfirmations(ctx context.Context, shard int) error {
	for account, all := range e.candidates {
		if err := e.measurements.AskFor(ctx, e.org, account, shard, all); err != nil {
			return err
		}
	}
	return nil
}
