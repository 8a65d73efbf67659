package reports

import (
	"context"
	"net/http"
	"sync"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/money"
)

func (s *service) savingOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listSavings", Method: http.MethodGet, Path: reports + "/savings", Policy: reading, Scoped: true,
		Statuses: invalid,
		Summary:  "List realized savings",
		Description: "The times when this service kept a resource stopped, newest first. Each has its proof: the " +
			"time, the state change, its cause, the cost that a stopped hour avoids, and the price list with this " +
			"rate. A stop counts for 31 days at most. withoutRate counts the stops of resources without a known " +
			"price; they are in no sum. The current month unless other days are requested. At most 50,000 state " +
			"changes are read. A grant on teams or resources shows the savings of its scope alone.",
	}, s.listSavings)
}

// Saving is a time during which a resource was stopped by us, and the amount that this saved.
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
	RateUSD      string    `json:"rateUSD" doc:"The cost that a stopped hour avoids" example:"0.0960"`
	Source       string    `json:"source" doc:"The price list, with its version"`
	SavingsUSD   string    `json:"savingsUSD" example:"1.15"`
}

// Savings is a page of realized savings.
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

func (s *service) listSavings(ctx context.Context, in *savingsInput) (Savings, error) {
	asked := report.Asked{Period: in.Period, Window: in.Window}
	from, to, err := asked.Days(report.ThisMonth, s.p.Clock.Now())
	if err != nil {
		return Savings{}, err
	}
	found, err := s.realized(ctx, from, to)
	if err != nil {
		return Savings{}, err
	}
	page := rest.PageOf(newSavings(&found), in.Page)
	if page.Items == nil {
		page.Items = []Saving{}
	}
	return Savings{
		from.Format(time.DateOnly), to.Format(time.DateOnly), found.Total().Fixed(2), found.WithoutRate, page.Items,
		page.Total, page.Page, page.Limit,
	}, nil
}

func (s *service) realized(ctx context.Context, from, to time.Time) (report.RealizedSaving, error) {
	c := identity.CallerFrom(ctx)
	return s.savings.Between(ctx, c.Org, inventory.SightOf(c, reading), from, to)
}

// newSavings converts realized savings to items, in cents that add up to the total.
func newSavings(found *report.RealizedSaving) []Saving {
	lines := found.Lines
	out, amounts := make([]Saving, len(lines)), make([]money.Amount, len(lines))
	for i := range lines {
		l := &lines[i]
		amounts[i] = l.Amount
		out[i] = Saving{
			ResourceUID: l.Resource.UID, ResourceName: l.Resource.Name, ResourceType: l.Resource.Type, From: l.From,
			To: l.To, Seconds: int64(l.To.Sub(l.From) / time.Second),
			Action: l.Change.ID, ChangedBy: l.Change.ChangedBy, ScheduleID: rest.Optional(l.Change.ScheduleID),
			RateUSD: l.SavedHourly().Fixed(6), Source: "public prices " + l.Rate.Version,
		}
	}
	for i, c := range money.RoundPartsTo(amounts, found.Total(), 2) {
		out[i].SavingsUSD = c.Fixed(2)
	}
	return out
}

// savedBy caches the daily savings of organizations, so that a summary or a trend does not read thousands of state
// changes each time.
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

// The limits of the cache savedBy.
const (
	savedFor  = 10 * time.Minute
	savedMost = 200
)

// savedByDay returns the savings by day. They may be up to ten minutes old.
func (s *service) savedByDay(ctx context.Context, q *cost.Question) ([]money.Amount, error) {
	k, now := savedKey{identity.CallerOrg(ctx), q.From, q.To}, s.p.Clock.Now()
	if q.Within == nil {
		s.saved.mu.Lock()
		had, ok := s.saved.m[k]
		s.saved.mu.Unlock()
		if ok && now.Before(had.until) {
			return had.days, nil
		}
	}
	found, err := s.realized(ctx, q.From, q.To)
	if err == nil && q.Within == nil {
		s.saved.put(k, savedDays{now.Add(savedFor), found.Days})
	}
	return found.Days, err
}

func (b *savedBy) put(k savedKey, v savedDays) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.m) >= savedMost || b.m == nil {
		b.m = map[savedKey]savedDays{}
	}
	b.m[k] = v
}
