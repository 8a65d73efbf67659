package recommender

import (
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/rule/condition"
)

// The reasons why a derived fact is missing, beside those of package condition.
const (
	unbilled     condition.Reason = "unbilled"      // the bills do not cover 30 settled days yet
	untagged     condition.Reason = "untagged"      // no tag names it
	unknownValue condition.Reason = "unknown_value" // the table, or the resource that it depends on, does not say
)

// subject is a resource under evaluation. It derives facts and computes metrics. One goroutine uses it, for one
// resource after another.
type subject struct {
	*inputs
	inventory.Resource
	facts   *condition.Facts   // of the record
	rollups *condition.Rollups // of the evaluator; it holds the measurements once they are read
	usage   func(uid string) measurement.Use

	end     time.Time         // the first moment after the last day of metrics that are read
	tags    map[string]string // of lowerTags, with smart tags; nil before the first use
	read    bool              // the measurements of this resource are in the roll-ups
	counted *patterns         // of the load until end; nil before the first use

	confirmation measurement.Confirmed // valid once read
	fine         bool                  // metrics are those of the confirmation, as far as it has them

	target *sizeTarget // of the rule that last asked for one

	indexed     string // of indexedFacts
	indexedRead bool
}

// rewind lets metrics be computed as of some days before the last one, from now on.
func (s *subject) rewind(days int) {
	s.measurements()
	s.end, s.counted = s.inputs.end.AddDate(0, 0, -days), nil
	s.rollups.Recent.Rewind(days)
	w := s.window()
	s.rollups.Since, s.rollups.Off = w.Since, w.Off
}

// statusSince returns the time of the observation behind the status.
func (s *subject) statusSince() time.Time { return time.UnixMicro(s.StatusAt).UTC() }

// allTags returns the tags and the accepted smart tags, with keys in lower case.
func (s *subject) allTags() map[string]string {
	if s.tags == nil {
		var smart map[string]string
		if s.smartTags != nil {
			smart = s.smartTags(&s.Resource)
		}
		s.tags = lowerTags(s.Tags, smart)
	}
	return s.tags
}

// Statistic computes a metric of the resource in its unit: a derived one, or one of the collected measures.
func (s *subject) Statistic(name string) condition.Measured {
	if d := metricDerivationOf(s.Type, name); d != nil {
		v, why := d.derive(s)
		return condition.Measured{Value: v, Reason: why}
	}
	return s.collected(name)
}

// collected returns a metric of the measures that discovery collects.
func (s *subject) collected(name string) condition.Measured {
	s.measurements()
	if v, confirmed := s.confirmation.Values[name]; confirmed && s.fine {
		return condition.Measured{Value: v}
	}
	return s.rollups.Statistic(name)
}

// measurements returns the measurements of the resource. They are looked up, and put into the roll-ups, when a
// condition first reads a metric.
func (s *subject) measurements() *measurement.Recent {
	recent := &s.rollups.Recent
	if s.read {
		return recent
	}
	s.read = true
	w := s.window()
	s.rollups.Since, s.rollups.Off = w.Since, w.Off
	recent.Reset(s.end)
	use := s.usage(s.UID)
	s.confirmation = use.Confirmed
	use.AddTo(recent, s.dateOf)
	return recent
}

// window returns the window of metrics. The time since the resource was stopped does not count as idle.
func (s *subject) window() measurement.Window {
	w := measurement.Window{End: s.end, Since: s.Since()}
	if s.Status == cloud.Stopped {
		w.Off = []measurement.Interval{{From: s.statusSince(), To: s.end}}
	}
	return w
}

// allTagged returns the tags for the fact tags.
func (s *subject) allTagged() (any, condition.Reason) { return s.allTags(), "" }
