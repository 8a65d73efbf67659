package showback

import (
	"context"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Rule is a showback rule as clients see it.
type Rule struct {
	ID        string              `json:"id" example:"rule_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Name      string              `json:"name"`
	Order     int                 `json:"order"`
	Selector  map[string][]string `json:"selector" doc:"Of a dimension any of these values"`
	Split     string              `json:"split" enum:"even,proportional,fixed"`
	Shares    []Share             `json:"shares"`
	ValidFrom *string             `json:"validFrom" doc:"The first day; null is without beginning" example:"2026-03-01"`
	ValidTo   *string             `json:"validTo" doc:"The first day behind; null is without end"`
	CreatedAt time.Time           `json:"createdAt"`
	UpdatedAt time.Time           `json:"updatedAt"`
}

// Share is the percentage of a team.
type Share struct {
	TeamID  string    `json:"teamID" maxLength:"64"`
	Percent *rest.USD `json:"percent" required:"false" doc:"Of split fixed alone: more than 0, and 100 at most of all together" example:"12.5"`
}

func newRule(r report.SavedShowbackRule) Rule {
	out := Rule{
		ID: r.ID, Name: r.Name, Order: r.Order, Selector: r.Selector, Split: string(r.Method),
		Shares:    make([]Share, len(r.Shares)),
		ValidFrom: date(r.From), ValidTo: date(r.To), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	if out.Selector == nil {
		out.Selector = map[string][]string{}
	}
	for i, s := range r.Shares {
		out.Shares[i].TeamID = s.TeamID
		if r.Method == report.Fixed {
			p := rest.USDOf(s.Percent)
			out.Shares[i].Percent = &p
		}
	}
	return out
}

func date(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.Format(time.DateOnly)
	return &text
}

func (s *service) list(ctx context.Context, _ *struct{}) ([]Rule, error) {
	all, err := s.store.List(ctx, identity.CallerOrg(ctx))
	out := make([]Rule, len(all))
	for i := range all {
		out[i] = newRule(all[i])
	}
	return out, err
}

func (s *service) get(ctx context.Context, in *RuleInput) (Rule, error) {
	all, err := s.store.List(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return Rule{}, err
	}
	n, err := find(all, in.RuleID)
	if err != nil {
		return Rule{}, err
	}
	return newRule(all[n]), nil
}

func find(all []report.SavedShowbackRule, ruleID string) (int, error) {
	n := slices.IndexFunc(all, func(r report.SavedShowbackRule) bool { return r.ID == ruleID })
	if n < 0 {
		return n, fault.New(fault.NotFound, "showback rule %.64q does not exist", ruleID)
	}
	return n, nil
}

// NewRule is the body of POST /showback/rules.
type NewRule struct {
	Name      string              `json:"name" minLength:"1" maxLength:"128"`
	Order     int                 `json:"order,omitempty" minimum:"0" maximum:"10000"`
	Selector  map[string][]string `json:"selector,omitempty" maxProperties:"5"`
	Split     string              `json:"split" enum:"even,proportional,fixed"`
	Shares    []Share             `json:"shares" minItems:"1" maxItems:"100"`
	ValidFrom rest.Time           `json:"validFrom,omitzero"`
	ValidTo   rest.Time           `json:"validTo,omitzero"`
}

func (s *service) create(ctx context.Context, in *struct{ Body NewRule }) (Rule, error) {
	now := s.p.Clock.Now()
	r := report.SavedShowbackRule{
		ID: id.New("rule", now), Name: in.Body.Name, Order: in.Body.Order, Selector: in.Body.Selector,
		Method: report.ShowbackMethod(in.Body.Split),
		From:   day(in.Body.ValidFrom), To: day(in.Body.ValidTo), CreatedAt: now, UpdatedAt: now,
	}
	var err error
	if r.Shares, err = shares(in.Body.Shares); err != nil {
		return Rule{}, err
	}
	return newRule(r),
		s.store.Change(ctx, identity.CallerOrg(ctx),
			func(all []report.SavedShowbackRule) ([]report.SavedShowbackRule, error) {
				err := s.check(ctx, &r) // after reading the rules: the deletion of a team changes their version
				return append(all, r), err
			})
}

// day returns the beginning of the day of a time that was sent.
func day(t rest.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

func shares(sent []Share) ([]report.ShowbackShare, error) {
	out := make([]report.ShowbackShare, len(sent))
	for i, s := range sent {
		out[i].TeamID = s.TeamID
		if s.Percent == nil {
			continue
		}
		var err error
		if out[i].Percent, err = s.Percent.Read("shares.percent"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// The bounds of a selector.
const (
	maxValues = 100 // of a dimension
	maxValue  = 256 // bytes
)

// check normalizes the name and returns an error if the rule cannot be applied.
func (s *service) check(ctx context.Context, r *report.SavedShowbackRule) error {
	var err error
	if r.Name, err = displayname.CleanName("name", r.Name, 128); err != nil {
		return err
	}
	if err = r.Rule().Check(); err != nil {
		return err
	}
	if err = checkSelector(r.Selector); err != nil {
		return err
	}
	all, err := s.teams.List(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for i := range all {
		known[all[i].ID] = true
	}
	for _, share := range r.Shares {
		if !known[share.TeamID] {
			return fault.New(fault.Invalid, "shares: team %.64q does not exist; GET /teams lists those there are",
				share.TeamID)
		}
	}
	return nil
}

// dimensions are the dimensions that a selector may name.
var dimensions = []string{
	"provider", "cloud_account_id", "sub_account_id", "region", "resource_type", "service_name", "purchase_type",
	"group_id", "resource_uid", "charge_category",
}

func checkSelector(selector map[string][]string) error {
	for dim, values := range selector {
		if key, tag := strings.CutPrefix(dim, "tag:"); !slices.Contains(dimensions, dim) &&
			(!tag || key == "" || len(key) > maxValue) {
			return fault.New(fault.Invalid, "selector: %.64q is none of %s, tag:<key>", dim,
				strings.Join(dimensions, ", "))
		}
		if len(values) == 0 || len(values) > maxValues {
			return fault.New(fault.Invalid, "selector: %.64q has %d values, between 1 and %d are wanted", dim,
				len(values), maxValues)
		}
		for _, v := range values {
			if len(v) > maxValue {
				return fault.New(fault.Invalid, "selector: %.64q of %.64q has %d bytes, %d at most are wanted", v, dim,
					len(v), maxValue)
			}
		}
	}
	return nil
}

// ChangedRule is the body of PUT /showback/rules/{ruleID}.
type ChangedRule struct {
	Name      rest.Patch[string]              `json:"name,omitzero" minLength:"1" maxLength:"128"`
	Order     rest.Patch[int]                 `json:"order,omitzero" minimum:"0" maximum:"10000"`
	Selector  rest.Patch[map[string][]string] `json:"selector,omitzero" maxProperties:"5"`
	Split     rest.Patch[string]              `json:"split,omitzero" enum:"even,proportional,fixed"`
	Shares    rest.Patch[[]Share]             `json:"shares,omitzero" maxItems:"100"`
	ValidFrom rest.Patch[rest.Time]           `json:"validFrom,omitzero"`
	ValidTo   rest.Patch[rest.Time]           `json:"validTo,omitzero"`
}

type updateInput struct {
	RuleInput
	Body ChangedRule
}

func (s *service) update(ctx context.Context, in *updateInput) (Rule, error) {
	var out report.SavedShowbackRule
	err := s.store.Change(ctx, identity.CallerOrg(ctx),
		func(all []report.SavedShowbackRule) ([]report.SavedShowbackRule, error) {
			n, err := find(all, in.RuleID)
			if err != nil {
				return nil, err
			}
			audit.NoteChange(ctx, audit.Change{Target: in.RuleID, Before: newRule(all[n])})
			if err = in.Body.apply(&all[n]); err != nil {
				return nil, err
			}
			all[n].UpdatedAt = s.p.Clock.Now()
			if err = s.check(ctx, &all[n]); err != nil {
				return nil, err
			}
			out = all[n]
			return all, nil
		})
	if err != nil {
		return Rule{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: newRule(out)})
	return newRule(out), nil
}

// apply sets the fields that were sent.
func (c *ChangedRule) apply(to *report.SavedShowbackRule) error {
	if err := rest.RefuseNull(map[string]bool{
		"name": c.Name.Null, "split": c.Split.Null, "shares": c.Shares.Null,
	}); err != nil {
		return err
	}
	c.Name.Apply(&to.Name)
	c.Order.Apply(&to.Order)
	c.Selector.Apply(&to.Selector)
	if c.Split.Set() {
		to.Method = report.ShowbackMethod(c.Split.Value)
	}
	if c.ValidFrom.Sent {
		to.From = day(c.ValidFrom.Value)
	}
	if c.ValidTo.Sent {
		to.To = day(c.ValidTo.Value)
	}
	if !c.Shares.Set() {
		return nil
	}
	var err error
	to.Shares, err = shares(c.Shares.Value)
	return err
}

func (s *service) remove(ctx context.Context, in *RuleInput) (rest.Deleted, error) {
	return rest.Deleted{ID: in.RuleID},
		s.store.Change(ctx, identity.CallerOrg(ctx),
			func(all []report.SavedShowbackRule) ([]report.SavedShowbackRule, error) {
				n, err := find(all, in.RuleID)
				if err != nil {
					return nil, err
				}
				audit.NoteChange(ctx, audit.Change{Target: in.RuleID, Before: newRule(all[n])})
				return slices.Delete(all, n, n+1), nil
			})
}
