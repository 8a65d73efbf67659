package reports

import (
	"context"
	"net/http"
	"sync"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
)

func (s *service) savingOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listSavings", Method: http.MethodGet, Path: reports + "/savings", Policy: reading, Scoped: true, Statuses: invalid,
		Summary: "List realized savings",
		Description: "Each time in which something stood still because we had stopped it, the last first, with its proof: when, by which change of its state, who caused that, what an hour " +
			"of it costs less while it stands still, and the price list that says so. A stop counts for 31 days at most. withoutRate counts stops of what no price is known of: they are in no sum. " +
			"The present month unless other days are asked for. At most 50,000 changes of states are read. A grant on teams or resources shows the savings of these alone.",
	}, s.savings)
}

// Saving is a time in which something stood still because we had stopped it, and what that saved.
type Saving struct {
	ResourceUID  string    `json:"resourceUID"`
	ResourceName string    `json:"resourceName"`
	ResourceType string    `json:"resourceType"`
	From         time.Time `json:"from"`
	To           time.Time `json:"to"`
	Seconds      int64     `json:"seconds"`
	Action       string    `json:"action" doc:"The change in the state history that began it" example:"sh_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	ChangedBy    string    `json:"changedBy" example:"schedule:sch_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	ScheduleID   *string   `json:"scheduleID"`
	RateUSD      string    `json:"rateUSD" doc:"What an hour costs less" example:"0.0960"`
	Source       string    `json:"source" doc:"The price list, with its version"`
	SavingsUSD   string    `json:"savingsUSD" example:"1.15"`
	amount       money.Amount
}

// Savings is a page of what was saved.
type Savings struct {
	From        string   `json:"from"`
	To          string   `json:"to"`
	TotalUSD    string   `json:"totalUSD"`
	WithoutRate int      `json:"withoutRate"`
	Items       []Saving `json:"items"`
	Total       int      `json:"total" doc:"How many there are on all pages"`
	Page        int      `json:"page"`
	Limit       int      `json:"limit"`
}

type savingsInput struct {
	Period string `query:"period" maxLength:"7" doc:"A month; or give from and to" example:"2026-03"`
	rest.Window
	rest.Page
}

func (s *service) savings(ctx context.Context, in *savingsInput) (Savings, error) {
	asked := report.Asked{Period: in.Period, Window: in.Window}
	from, to, err := asked.Days(report.ThisMonth, s.p.Clock.Now())
	if err != nil {
		return Savings{}, err
	}
	found, err := s.readSavings(ctx, from, to)
	if err != nil {
		return Savings{}, err
	}
	page := rest.PageOf(found.lines, in.Page)
	if page.Items == nil {
		page.Items = []Saving{}
	}
	return Savings{
		from.Format(time.DateOnly), to.Format(time.DateOnly), money.Sum(found.days...).Fixed(2), found.withoutRate, page.Items, page.Total, page.Page, page.Limit,
	}, nil
}

// realized are the savings of some days.
type realized struct {
	lines       []Saving
	days        []money.Amount
	withoutRate int
}

// readSavings reads what was saved between two days: the history of states in as many round trips as it has partitions, and the
// inventory.
func (s *service) readSavings(ctx context.Context, from, to time.Time) (realized, error) {
	out := realized{days: make([]money.Amount, report.DaysBetween(from, to))}
	changes, err := s.readChanges(ctx, from.Add(-longestStop), to)
	if err != nil {
		return out, err
	}
	stops := stopsOf(changes, from, earliest(to, s.p.Clock.Now()))
	if len(stops) == 0 {
		return out, nil
	}
	known, err := s.stopped(ctx, stops)
	if err != nil {
		return out, err
	}
	for i := range stops {
		out.add(&stops[i], known[stops[i].change.ResourceUID], from)
	}
	out.round()
	return out, nil
}

// maxChanges is how many changes of states are read.
const maxChanges = 50_000

func (s *service) readChanges(ctx context.Context, from, to time.Time) ([]execution.StateChange, error) {
	q := table.Query{From: id.LowestAt("sh", from), To: id.LowestAt("sh", to)}
	m := table.NewMerge(s.p.Table, q, execution.HistoryPKs(callerOrg(ctx))...)
	items, err := m.Next(ctx, maxChanges+1)
	if err != nil {
		return nil, fault.Wrap("read the state history", err)
	}
	if len(items) > maxChanges {
		return nil, fault.New(fault.Invalid, "from, to: there are more than %d changes of states in these days and the 31 before; ask for fewer days", maxChanges)
	}
	return table.DecodeAll[execution.StateChange](items)
}

// stopped reads what stood still, as far as the caller may see it, with its prices.
func (s *service) stopped(ctx context.Context, stops []stop) (map[string]*inventory.Listed, error) {
	uids := make([]string, len(stops))
	for i := range stops {
		uids[i] = stops[i].change.ResourceUID
	}
	c := identity.CallerFrom(ctx)
	found, err := s.Inventory.ByUIDs(ctx, c.Org, uids, inventory.SightOf(c, reading).WithCosts())
	out := make(map[string]*inventory.Listed, len(found))
	for i := range found {
		out[found[i].UID] = &found[i]
	}
	return out, fault.Wrap("read what was stopped", err)
}

// add counts a stop of a resource; nil is one that the caller may not see, or that there is not any more.
func (out *realized) add(st *stop, r *inventory.Listed, from time.Time) {
	if r == nil {
		return
	}
	if r.Rate == nil || r.Rate.Reason != "" || r.Rate.Running.Cmp(r.Rate.Off) <= 0 {
		out.withoutRate++
		return
	}
	c := &st.change
	line := Saving{
		ResourceUID: r.UID, ResourceName: r.Name, ResourceType: r.Type, From: st.from, To: st.to, Seconds: int64(st.to.Sub(st.from) / time.Second),
		Action: c.ID, ChangedBy: c.ChangedBy, ScheduleID: rest.Optional(c.ScheduleID),
		RateUSD: r.Rate.Running.Sub(r.Rate.Off).Fixed(6), Source: "public prices " + r.Rate.Version, amount: saved(r.Rate, st.to.Sub(st.from)),
	}
	out.lines = append(out.lines, line)
	st.addByDay(out.days, from, r.Rate)
}

// round shows the lines in cents that add up to what the days do.
func (out *realized) round() {
	sums := make([]money.Amount, len(out.lines))
	for i := range out.lines {
		sums[i] = out.lines[i].amount
	}
	for i, c := range money.RoundPartsTo(sums, money.Sum(out.days...), 2) {
		out.lines[i].SavingsUSD = c.Fixed(2)
	}
}

// savedBy keeps what organizations saved by day for a while, so that a summary or a trend is not made of thousands of changes each time.
type savedBy struct {
	mu sync.Mutex
	m  map[savedKey]savedDays
}

type savedKey struct {
	org      string
	from, to time.Time
}

type savedDays struct {
	until time.Time
	days  []money.Amount
}

// The bounds of savedBy.
const (
	savedFor  = 10 * time.Minute
	savedMost = 200
)

// savedByDay returns what was saved by day, as it was at most ten minutes ago.
func (s *service) savedByDay(ctx context.Context, q *cost.Question) ([]money.Amount, error) {
	k, now := savedKey{callerOrg(ctx), q.From, q.To}, s.p.Clock.Now()
	if q.Within == nil {
		s.saved.mu.Lock()
		had, ok := s.saved.m[k]
		s.saved.mu.Unlock()
		if ok && now.Before(had.until) {
			return had.days, nil
		}
	}
	found, err := s.readSavings(ctx, q.From, q.To)
	if err == nil && q.Within == nil {
		s.saved.put(k, savedDays{now.Add(savedFor), found.days})
	}
	return found.days, err
}

func (b *savedBy) put(k savedKey, v savedDays) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.m) >= savedMost || b.m == nil {
		b.m = map[savedKey]savedDays{}
	}
	b.m[k] = v
}
