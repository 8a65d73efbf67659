package anomalies

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/teams"
)

// AnomalyContributor is the contribution of a service, resource or account to an anomaly.
type AnomalyContributor struct {
	Dim         string  `json:"dim" enum:"service_name,resource_uid,cloud_account_id" doc:"The dimension of the split: the contributors of each dimension sum to the anomaly"`
	Key         string  `json:"key" doc:"The service, the native id of the resource, or our id of the account; empty for costs without such a name, and for the others"`
	Name        *string `json:"name" doc:"The name of the resource or account; null of a service, which is its own name, of one that is gone, and of the others"`
	Others      bool    `json:"others" doc:"All that is not listed by itself"`
	CostUSD     string  `json:"costUSD"`
	BaselineUSD string  `json:"baselineUSD"`
	ExcessUSD   string  `json:"excessUSD" doc:"costUSD - baselineUSD; below 0 where something cost less than before"`
}

// Anomaly is an anomaly as clients see it.
type Anomaly struct {
	ID           string               `json:"id" example:"ano_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	AnomalyType  anomaly.ScopeType    `json:"anomalyType" enum:"org,cloud_account,resource_group,resource,team"`
	ScopeID      string               `json:"scopeID" doc:"Empty for the organization, the native id of a resource"`
	ScopeName    *string              `json:"scopeName" doc:"The name of the account, group, resource or team; null of the organization, of one that is gone, and of a group that the caller may not see" example:"shop-prod"`
	Date         string               `json:"date" example:"2026-11-20"`
	CostUSD      string               `json:"costUSD"`
	BaselineUSD  string               `json:"baselineUSD"`
	ExcessUSD    string               `json:"excessUSD" doc:"costUSD - baselineUSD"`
	Percent      *float64             `json:"percent" doc:"Above the baseline, to a tenth; null of new spend, which has none"`
	Severity     anomaly.Severity     `json:"severity" enum:"warning,critical,emergency"`
	Kind         string               `json:"kind" enum:"spike,new_spend"`
	Status       anomaly.Status       `json:"status" enum:"open,acknowledged,expected,closed"`
	Reason       *string              `json:"reason" doc:"Why it is expected; restated when it is closed"`
	JudgedBy     *string              `json:"judgedBy"`
	Continues    bool                 `json:"continues" doc:"The day before was an anomaly of at least this severity, so this one sent no event"`
	ExplainedBy  *string              `json:"explainedBy" doc:"The anomaly of a narrower scope that holds 80 % or more of this one, so this one sent no event"`
	ToldOf       []anomaly.Severity   `json:"toldOf" doc:"The severities under which an event was sent"`
	Contributors []AnomalyContributor `json:"contributors"`
	CreatedAt    time.Time            `json:"createdAt"`
	UpdatedAt    time.Time            `json:"updatedAt"`
}

func newAnomaly(r anomaly.Record, names report.ScopeNames) Anomaly {
	costs, base := r.Cost.Round(2), r.Baseline.Round(2)
	out := Anomaly{
		ID: r.ID, AnomalyType: r.Type, ScopeID: r.ScopeID, ScopeName: names.Of(string(r.Type), r.ScopeID),
		Date: r.Day.Format(time.DateOnly), CostUSD: costs.Fixed(2),
		BaselineUSD: base.Fixed(2),
		ExcessUSD:   costs.Sub(base).Fixed(2), Severity: r.Severity, Kind: "spike", Status: r.Status,
		Reason: rest.Optional(r.Reason), JudgedBy: rest.Optional(r.By),
		Continues: r.Continues, ExplainedBy: rest.Optional(r.ExplainedBy),
		ToldOf:       append([]anomaly.Severity{}, r.Told...),
		Contributors: make([]AnomalyContributor, len(r.Contributors)), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	spike := r.Spike()
	if p, ok := spike.Percent(); ok {
		f, err := strconv.ParseFloat(p.Fixed(1), 64)
		if err == nil {
			out.Percent = &f
		}
	} else {
		out.Kind = "new_spend"
	}
	for i, c := range r.Contributors {
		out.Contributors[i] = AnomalyContributor{
			c.Dim, c.Key, names.Of(contributorScopes[c.Dim], c.Key), c.Others, c.Cost.Fixed(2), c.Baseline.Fixed(2),
			c.Excess.Fixed(2),
		}
	}
	return out
}

// sight returns a function that reports whether the caller may see an anomaly by a policy.
func (s *service) sight(ctx context.Context, policy string) (func(*anomaly.Record) bool, error) {
	c := identity.CallerFrom(ctx)
	sets, err := s.inventory.ResourceSets(ctx, c.Org, c.Scopes(policy))
	if err != nil {
		return nil, err
	}
	return func(r *anomaly.Record) bool { return r.SeenIn(c.Scopes(policy), sets[0]) }, nil
}

type listInput struct {
	rest.Page
	rest.Window
	Type     []string `query:"type" maxItems:"5" enum:"org,cloud_account,resource_group,resource,team" doc:"Only of these kinds of scope"`
	ScopeID  string   `query:"scope_id" maxLength:"1024" doc:"Only of this account, group, team or resource"`
	Status   []string `query:"status" maxItems:"4" enum:"open,acknowledged,expected,closed" doc:"Only in one of these states"`
	Severity []string `query:"severity" maxItems:"3" enum:"warning,critical,emergency" doc:"Only of these severities"`
}

func (s *service) list(ctx context.Context, in *listInput) (rest.List[Anomaly], error) {
	sees, err := s.sight(ctx, reading)
	if err != nil {
		return rest.List[Anomaly]{}, err
	}
	q := anomaly.Days(identity.CallerOrg(ctx), in.From.Time, in.To.Time)
	q.Reverse = true
	r := rest.Reading[anomaly.Record]{Store: s.p.Table, Page: in.Page}
	found, err := r.Filtered(ctx, q, func(a anomaly.Record) bool { return in.meets(&a) && sees(&a) })
	if err != nil {
		return rest.List[Anomaly]{}, err
	}
	names, err := s.namesOf(ctx, found.Items...)
	return rest.MapItems(found, func(r anomaly.Record) Anomaly { return newAnomaly(r, names) }), err
}

// contributorScopes are the kinds of scopes that the keys of contributors name, by dimension.
var contributorScopes = map[string]string{
	cost.ResourceDim: event.ScopeResource, cost.AccountDim: event.ScopeAccount,
}

// namesOf reads the names in anomalies.
func (s *service) namesOf(ctx context.Context, found ...anomaly.Record) (report.ScopeNames, error) {
	var scopes []event.Scope
	for i := range found {
		scopes = append(scopes, event.Scope{Type: string(found[i].Type), ID: found[i].ScopeID})
		for _, c := range found[i].Contributors {
			if kind := contributorScopes[c.Dim]; kind != "" && c.Key != "" {
				scopes = append(scopes, event.Scope{Type: kind, ID: c.Key})
			}
		}
	}
	return report.LabelReader{Inventory: s.inventory, Teams: teams.New(s.p.Table)}.ReadScopes(ctx, scopes)
}

func (in *listInput) meets(a *anomaly.Record) bool {
	return rest.Among(in.Type, string(a.Type)) && rest.Among(in.Status, string(a.Status)) &&
		rest.Among(in.Severity, string(a.Severity)) &&
		(in.ScopeID == "" || in.ScopeID == a.ScopeID)
}

// AnomalyJudgement is the body of PATCH /reports/anomalies/{anomalyID}.
type AnomalyJudgement struct {
	Status anomaly.Status `json:"status" enum:"open,acknowledged,expected"`
	Reason string         `json:"reason,omitempty" maxLength:"500" doc:"Why; needed with expected"`
}

type judgeInput struct {
	AnomalyID string `path:"anomalyID" maxLength:"64"`
	Body      AnomalyJudgement
}

func (s *service) judge(ctx context.Context, in *judgeInput) (Anomaly, error) {
	old, err := s.seen(ctx, in.AnomalyID)
	if err != nil {
		return Anomaly{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: old.ID, Before: newAnomaly(old, nil)})
	if old.Status == anomaly.Closed {
		return Anomaly{},
			fault.New(fault.Conflict,
				"anomaly %s is closed: its bills were restated, and there is nothing to judge any more", old.ID)
	}
	if in.Body.Status == anomaly.Expected && in.Body.Reason == "" {
		return Anomaly{}, fault.New(fault.Invalid, "reason: it is empty; say why the anomaly is expected")
	}
	next := old
	next.Status, next.Reason, next.By, next.UpdatedAt = in.Body.Status, in.Body.Reason, identity.CallerFrom(ctx).Email,
		s.p.Clock.Now()
	if next, err = s.store.Replace(ctx, identity.CallerOrg(ctx), old, next); err != nil {
		return Anomaly{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: newAnomaly(next, nil)})
	names, err := s.namesOf(ctx, next)
	return newAnomaly(next, names), err
}

// seen returns an anomaly if the caller may judge it. It returns fault.NotFound for an anomaly that the caller may not
// see.
func (s *service) seen(ctx context.Context, anomalyID string) (anomaly.Record, error) {
	r, err := s.store.Read(ctx, identity.CallerOrg(ctx), anomalyID)
	if err != nil {
		return r, err
	}
	judges, err := s.sight(ctx, writing)
	if err != nil || judges(&r) {
		return r, err
	}
	sees, err := s.sight(ctx, reading)
	return r, cmp.Or(err, refusal(sees != nil && sees(&r), anomalyID))
}

func refusal(seen bool, anomalyID string) error {
	if seen {
		return fault.New(fault.Denied, "permission denied: %s is needed on what anomaly %s is of", writing, anomalyID)
	}
	return fault.New(fault.NotFound, "anomaly %.64q does not exist", anomalyID)
}
