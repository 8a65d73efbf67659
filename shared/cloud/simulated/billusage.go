package simulated

import "time"

// billDay is a day of a bill.
type billDay struct {
	at      time.Time
	unix    uint64
	weekend bool
}

func newBillDay(at time.Time) billDay {
	weekend := at.Weekday() == time.Saturday || at.Weekday() == time.Sunday
	return billDay{at, uint64(at.Unix()), weekend} //nolint:gosec // after 1970
}

// usage is everything about a node that its lines on all days depend on.
type usage struct {
	rate    int64 // of an hour while it runs, in billionths of a dollar; 0 if the node is free
	on      bool  // from the beginning; else it is not billed
	rests   bool  // at weekends
	covered bool  // by the savings plan
	since   time.Time
	uneven  uint64
}

// usageOf returns the usage of n. Nodes outside of production are stopped by schedules at weekends. The savings plan
// covers instances in production that run.
func (s *settings) usageOf(n node) usage {
	u := usage{rate: s.hourRate(n), since: s.createdAt(n).Truncate(day), uneven: s.drawProperty(n, asUneven)}
	u.on, _ = s.initialState(n)
	production := s.envOf(n) == "prod"
	u.rests = kinds[n.kind].Actionable && !production
	u.covered = s.planted == nil && n.kind == kindEC2 && u.on && production &&
		s.drawProperty(n, asCovered)%planShare == 0
	return u
}

// hoursOn returns for how many hours of a day the node is billed.
func (u *usage) hoursOn(d *billDay) int64 {
	switch {
	case !u.on || d.at.Before(u.since):
		return 0
	case u.rests && d.weekend:
		return 6
	}
	return 24
}

// hourVariation is how many thousandths of an hour an hour of the node counts on a day: no day is quite as the other.
func (u *usage) hourVariation(d *billDay) int64 { return 970 + int64(mixBits(u.uneven+d.unix)%61) }

// tagOf returns the value of a tag of n that bills show, or "".
func (s *settings) tagOf(n node, key string) string {
	if !s.isTagged(n) {
		return ""
	}
	switch key {
	case "app":
		return s.pickFrom(n, asApp, apps)
	case "env":
		return s.envOf(n)
	case "team":
		return s.pickFrom(n, asTeam, teams)
	}
	return ""
}
