package anomaly

import (
	"cmp"
	"slices"

	"lamplighter.dev/shared/foundation/money"
)

// Series is the cost of a scope by day. All series of a pass begin on the same day.
type Series struct {
	Scope
	Days   money.Series
	Within []Scope // the scopes that contain all of it, except the organization
	Until  int     // the days from this index on are not judged: they have not settled, or their bills are missing

	// Members are the costs of each resource in an account, a group, a team or the organization, which can have other
	// costs besides. A pass compares the series of resources among its own once for all scopes.
	Members []*Series

	first      int             // 1 + the day of the first cost; 0 if it is not known yet
	unusual    []dayComparison // the days from … to upTo that are not typical
	from, upTo int
}

// firstDay returns the first day that cost anything, or -1.
func (s *Series) firstDay() int {
	if s.first == 0 {
		for i := 0; i < s.Days.Len() && s.first == 0; i++ {
			if a := s.Days.At(i); !a.IsZero() {
				s.first = 1 + i
			}
		}
	}
	return s.first - 1
}

// Finding is an anomalous day of a scope.
type Finding struct {
	Scope
	Spike
	Day         int  // its index
	Continues   bool // the day before was anomalous and as severe: it was notified then
	ExplainedBy *Scope
	within      []Scope
}

// Tells reports whether the finding is notified; otherwise it is only listed.
func (f *Finding) Tells() bool { return !f.Continues && f.ExplainedBy == nil }

// Pass judges the days of all series from the index from on. It returns the findings by day, then from the widest
// scope to the narrowest.
func (r *Rules) Pass(all []Series, from int) []Finding {
	var out []Finding
	for i := range all {
		all[i].compareFrom(r, from)
	}
	for i := range all {
		out = r.series(&all[i], from, out)
	}
	slices.SortFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(depth[a.Type], depth[b.Type]), cmp.Compare(a.Type, b.Type),
			cmp.Compare(a.ID, b.ID))
	})
	if r.Nesting {
		for rest := out; len(rest) > 0; {
			n := slices.IndexFunc(rest, func(f Finding) bool { return f.Day != rest[0].Day })
			if n < 0 {
				n = len(rest)
			}
			nest(rest[:n])
			rest = rest[n:]
		}
	}
	return out
}

func (r *Rules) series(s *Series, from int, out []Finding) []Finding {
	for i := from; i < min(s.Until, s.Days.Len()); i++ {
		if s.Days.At(i).Sign() <= 0 {
			continue
		}
		if spike, found := r.judge(s, i); found {
			f := Finding{Scope: s.Scope, Spike: spike, Day: i, within: s.Within}
			f.Continues = r.Latch && r.highestBefore(s, i) >= spike.Severity.rank()
			out = append(out, f)
		}
	}
	return out
}

// highestBefore returns the highest severity of the anomalous days that lie right before the day i.
func (r *Rules) highestBefore(s *Series, i int) (highest int) {
	for i--; i >= 0 && s.Days.At(i).Sign() > 0; i-- {
		spike, found := r.judge(s, i)
		if !found {
			break
		}
		highest = max(highest, spike.Severity.rank())
	}
	return highest
}

// nest marks the findings of a day that are explained by a narrower one: the deepest that lies within them and holds
// at least 80 % of their excess.
func nest(day []Finding) {
	inside := map[Scope][]*Finding{} // findings in a scope, the narrowest last
	for i := range day {
		for _, outer := range day[i].within {
			inside[outer] = append(inside[outer], &day[i])
		}
		if day[i].Type != Org {
			inside[Scope{Type: Org}] = append(inside[Scope{Type: Org}], &day[i])
		}
	}
	for i := range day {
		f := &day[i]
		for _, inner := range slices.Backward(inside[f.Scope]) {
			if depth[inner.Type] > depth[f.Type] && inner.Excess().MulInt(10).Cmp(f.Excess().MulInt(8)) >= 0 {
				f.ExplainedBy = &inner.Scope
				break
			}
		}
	}
}
