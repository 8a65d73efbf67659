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
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/money"
)

func (s *service) savingOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listSavings", Method: http.MethodGet, Path: reports + "/savings", Policy: reading, Scoped: true,
		Statuses: invalid,
		Summary:  "List realized savings",
		Description: "The times when this service kept a resource stopped, and the applied recommendations whose " +
			"savings the bills show, newest first. Each has its proof: the time, the state change, its cause, the " +
			"cost that an hour avoids, and its source. A stop counts for 31 days at most. withoutRate counts the " +
			"stops of resources without a known price; they are in no sum. An applied recommendation counts for the " +
			"30 days after its application: the cost of the 7 days before it less that of the 7 days after it, as " +
			"30 days. The hours in which the resource is stopped, and the part that stops explain, are left out, so " +
			"nothing counts twice, and a resource saves no more than it cost. The current month unless other days " +
			"are requested. At most 50,000 state changes are read. A grant on teams or resources shows the savings " +
			"of its scope alone, and none of resources that are gone.",
	}, s.listSavings)
}

// Saving is a time during which a resource was stopped by us, or saved by an applied recommendation, and the amount.
type Saving struct {
	ResourceUID  string    `json:"resourceUID"`
	ResourceName string    `json:"resourceName"`
	ResourceType string    `json:"resourceType"`
	From         time.Time `json:"from"`
	To           time.Time `json:"to"`
	Seconds      int64     `json:"seconds" doc:"The seconds that count: of a recommendation, without stops of the resource"`
	Action       string    `json:"action" doc:"The change in the state history, or the recommendation, that began it" example:"sh_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	ChangedBy    string    `json:"changedBy" example:"schedule:sch_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	ScheduleID   *string   `json:"scheduleID"`
	RateUSD      string    `json:"rateUSD" doc:"The cost that an hour avoids" example:"0.0960"`
	Source       string    `json:"source" doc:"The price list with its version, or the days of the bill"`
	SavingsUSD   string    `json:"savingsUSD" example:"1.15"`

	Recommendation *SavingProof `json:"recommendation" doc:"The proof of an applied recommendation; null of a stop"`
}

// SavingProof is what the saving of an applied recommendation was computed from: the settled bills of 7 days before and
// 7 days after the day of its application.
type SavingProof struct {
	ID          string `json:"id" example:"rec_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	RuleID      string `json:"ruleID" example:"aws-ec2-oversized"`
	RuleVersion int    `json:"ruleVersion"`
	BeforeFrom  string `json:"beforeFrom" doc:"The first of the 7 days before" example:"2026-03-08"`
	BeforeTo    string `json:"beforeTo" doc:"The day after them: that of the application" example:"2026-03-15"`
	AfterFrom   string `json:"afterFrom" example:"2026-03-16"`
	AfterTo     string `json:"afterTo" doc:"The day after them" example:"2026-03-23"`
	BeforeUSD   string `json:"beforeUSD" doc:"The cost of the 7 days before"`
	AfterUSD    string `json:"afterUSD" doc:"The cost of the 7 days after"`
	StopsUSD    string `json:"stopsUSD" doc:"The part of the difference that stops explain; they have their own lines"`
	MonthlyUSD  string `json:"monthlyUSD" doc:"The difference as 30 days, at most the cost of the resource"`
}

// newProof returns the proof of the line of an applied recommendation; nil of a stop.
func newProof(l *recommendation.LedgerLine) *SavingProof {
	if l == nil {
		return nil
	}
	return &SavingProof{
		ID: l.RecommendationID, RuleID: l.RuleID, RuleVersion: l.RuleVersion,
		BeforeFrom: l.BeforeFrom().Format(time.DateOnly), BeforeTo: l.Applied().Format(time.DateOnly),
		AfterFrom: l.From.Format(time.DateOnly), AfterTo: l.AfterTo().Format(time.DateOnly),
		BeforeUSD: l.Before.Fixed(2), AfterUSD: l.After.Fixed(2), StopsUSD: l.Explained().Fixed(2),
		MonthlyUSD: l.Month.Fixed(2),
	}
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
		amounts[i], out[i] = lines[i].Amount, newSaving(&lines[i])
	}
	for i, c := range money.RoundPartsTo(amounts, found.Total(), 2) {
		out[i].SavingsUSD = c.Fixed(2)
	}
	return out
}

// newSaving converts a line without its amount.
func newSaving(l *report.SavingLine) Saving {
	out := Saving{
		ResourceUID: l.ResourceUID, ResourceName: l.ResourceName, ResourceType: l.ResourceType, From: l.From, To: l.To,
		Seconds: int64(l.Counted / time.Second), RateUSD: l.Hourly.Fixed(6), Recommendation: newProof(l.Recommendation),
	}
	if r := l.Recommendation; r != nil {
		out.Action, out.ChangedBy = r.RecommendationID, execution.ChangedBy("recommendation", r.RuleID)
		out.Source = r.Proof()
		return out
	}
	out.Action, out.ChangedBy, out.ScheduleID = l.Change.ID, l.Change.ChangedBy, rest.Optional(l.Change.ScheduleID)
	out.Source = "public prices " + l.Rate.Version
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
