package report

import (
	"cmp"
	"context"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/fault"
)

// Asked holds the parameters that all cost reports have in common. It is exported so that the framework sees its
// fields where it is embedded.
type Asked struct {
	Cost   string `query:"cost" enum:"billed,effective,list" doc:"The cost to report: as invoiced, with commitments spread over the usage that they cover, or at public prices"`
	Period string `query:"period" maxLength:"7" doc:"A month; or give from and to" example:"2026-03"`
	rest.Window
	rest.Selection
}

// Reach returns the default days of a report, given today.
type Reach func(today time.Time) (from, to time.Time)

// ThisMonth returns the month so far.
func ThisMonth(today time.Time) (from, to time.Time) {
	return cost.MonthOf(today).Start(), today.AddDate(0, 0, 1)
}

// Recent returns the reach of a report by day, week or month: the last 30 days, 12 weeks or 12 months, including the
// current one.
func Recent(granularity string) Reach {
	return func(today time.Time) (from, to time.Time) {
		switch granularity {
		case "week":
			monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
			from = monday.AddDate(0, 0, -7*11)
		case "month":
			from = cost.MonthOf(today).Add(-11).Start()
		default:
			from = today.AddDate(0, 0, -29)
		}
		return from, today.AddDate(0, 0, 1)
	}
}

// Question returns the question of a request, restricted to the rights of its caller.
func (r *Reader) Question(ctx context.Context, in *Asked, usual Reach, metric cost.Metric) (cost.Question, error) {
	q := cost.Question{Metric: cmp.Or(cost.Metric(in.Cost), metric), Filter: in.Values()}
	var err error
	if q.From, q.To, err = in.Days(usual, r.p.Clock.Now()); err != nil {
		return q, err
	}
	q.Within, err = r.Within(ctx)
	return q, err
}

// Days returns the requested days. A time within a day includes the whole day.
func (in *Asked) Days(usual Reach, now time.Time) (from, to time.Time, err error) {
	if in.Period != "" {
		if !in.Open() {
			return from, to,
				fault.New(fault.Invalid, "period: it is given with from or to; give the month, or both of these")
		}
		m, err := cost.ParseMonth(in.Period)
		if err != nil {
			return from, to,
				fault.NewWithCause(fault.Invalid, err, "period: %.32q is no month; one looks like 2026-03", in.Period)
		}
		return m.Start(), m.End(), nil
	}
	from, to = usual(Midnight(now))
	if !in.To.IsZero() {
		to = Midnight(in.To.Add(Day - 1))
		if !to.After(from) {
			from = cost.MonthOf(to.Add(-Day)).Start()
		}
	}
	if !in.From.IsZero() {
		from = Midnight(in.From.Time)
		if !to.After(from) {
			to = from.Add(Day)
		}
	}
	if n := DaysBetween(from, to); n > cost.MaxDays {
		return from, to, fault.New(
			fault.Invalid, "from: it is %d days before to; a report has at most %d", n, cost.MaxDays)
	}
	return from, to, nil
}

// Day is the length of a day.
const Day = 24 * time.Hour

// Midnight returns the beginning of the day of t in UTC.
func Midnight(t time.Time) time.Time { return t.UTC().Truncate(Day) }

// DaysBetween returns the number of days from one midnight to another.
func DaysBetween(from, to time.Time) int { return int(to.Sub(from) / Day) }

// Within returns the caller's scope for costs, or nil for all costs.
func (r *Reader) Within(ctx context.Context) (*cost.Within, error) {
	c := identity.CallerFrom(ctx)
	scopes := c.Scopes(Policy)
	if scopes.All {
		return nil, nil //nolint:nilnil // that is how a question says it
	}
	sets, err := r.Inventory.ResourceSets(ctx, c.Org, scopes)
	if err != nil {
		return nil, err
	}
	return &cost.Within{Resources: sets[0], Teams: scopes}, nil
}
