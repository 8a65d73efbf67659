package budgets

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/teams"
)

// maxName is the most characters of a name.
const maxName = 128

// Budget is a budget as clients see it.
type Budget struct {
	ID             string              `json:"id" example:"bud_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Name           string              `json:"name"`
	ScopeType      budgeting.ScopeType `json:"scopeType" enum:"org,cloud_account,resource_group,resource,team,tag"`
	ScopeID        string              `json:"scopeID"`
	ScopeName      *string             `json:"scopeName" doc:"The name of the account, group, resource or team; null of the organization and of a tag, of one that is gone, and of a group that the caller may not see" example:"shop-prod"`
	AmountUSD      string              `json:"amountUSD" example:"1500.00"`
	Period         budgeting.Period    `json:"period" enum:"month,quarter,year"`
	Thresholds     []int               `json:"thresholds" doc:"Percent of the amount"`
	ForecastAlerts bool                `json:"forecastAlerts"`
	CreatedBy      string              `json:"createdBy"`
	CreatedAt      time.Time           `json:"createdAt"`
	UpdatedAt      time.Time           `json:"updatedAt"`
}

func newBudget(b budgeting.Budget, names report.ScopeNames) Budget {
	return Budget{
		ID: b.ID, Name: b.Name, ScopeType: b.ScopeType, ScopeID: b.ScopeID,
		ScopeName: names.Of(string(b.ScopeType), b.ScopeID), AmountUSD: b.Amount.Fixed(2),
		Period:     b.Period,
		Thresholds: append([]int{}, b.Thresholds...), ForecastAlerts: b.ForecastAlerts, CreatedBy: b.CreatedBy,
		CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt,
	}
}

// NewBudget is the body of POST /budgets.
type NewBudget struct {
	Name           string              `json:"name" minLength:"1" maxLength:"128"`
	ScopeType      budgeting.ScopeType `json:"scopeType" enum:"org,cloud_account,resource_group,resource,team,tag"`
	ScopeID        string              `json:"scopeID,omitempty" maxLength:"1024"`
	AmountUSD      rest.USD            `json:"amountUSD"`
	Period         budgeting.Period    `json:"period,omitempty" enum:"month,quarter,year" default:"month"`
	Thresholds     []int               `json:"thresholds,omitempty" maxItems:"10" doc:"Percent, 1 to 1000; left out: 50, 80, 100"`
	ForecastAlerts bool                `json:"forecastAlerts,omitempty"`
}

func (s *service) create(ctx context.Context, in *struct{ Body NewBudget }) (Budget, error) {
	amount, err := in.Body.AmountUSD.Read("amountUSD")
	if err != nil {
		return Budget{}, err
	}
	now := s.p.Clock.Now()
	b := budgeting.Budget{
		ID: id.New("bud", now), Name: in.Body.Name, ScopeType: in.Body.ScopeType, ScopeID: in.Body.ScopeID,
		Amount: amount, Period: in.Body.Period,
		Thresholds: in.Body.Thresholds, ForecastAlerts: in.Body.ForecastAlerts,
		CreatedBy: identity.CallerFrom(ctx).Email, CreatedAt: now, UpdatedAt: now,
	}
	if err = check(&b); err != nil {
		return Budget{}, err
	}
	holds, err := s.holds(ctx, &b)
	if err != nil {
		return Budget{}, err
	}
	org := identity.CallerOrg(ctx)
	err = budgeting.Limited(org).Add(ctx, s.p.Table, func(take table.Write) error {
		if err := s.room(ctx); err != nil {
			return err
		}
		b, err = s.store.Create(ctx, org, b, append(slices.Clip(holds), take)...)
		return err
	})
	if err != nil {
		return Budget{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: b.ID, After: newBudget(b, nil)})
	return s.show(ctx, b)
}

// check normalizes and validates a budget.
func check(b *budgeting.Budget) (err error) {
	if b.Name, err = displayname.CleanName("name", b.Name, maxName); err != nil {
		return err
	}
	return b.Check()
}

// room returns an error if the organization has the most budgets already.
func (s *service) room(ctx context.Context) error {
	all, err := s.store.List(ctx, identity.CallerOrg(ctx))
	if err == nil && len(all) >= budgeting.MaxBudgets {
		return fault.New(fault.Invalid, "the organization has %d budgets, which is the most; delete one first",
			len(all))
	}
	return err
}

// holds returns the writes that record a budget as a use of its scope, so that the scope cannot be deleted at the same
// time. They fail if the scope does not exist.
func (s *service) holds(ctx context.Context, b *budgeting.Budget) ([]table.Write, error) {
	org := identity.CallerOrg(ctx)
	none := fault.New(fault.Invalid, "scopeID: %.64q: there is no such %s; send the id of one that exists", b.ScopeID,
		b.ScopeType)
	switch b.ScopeType {
	case budgeting.CloudAccount:
		if id.IsValid("ca", b.ScopeID) {
			return inventory.HoldAccounts(org, []string{b.ScopeID})
		}
	case budgeting.ResourceGroup:
		if id.IsValid("grp", b.ScopeID) {
			return inventory.HoldGroup(org, b.ScopeID), nil
		}
	case budgeting.Team:
		if id.IsValid("team", b.ScopeID) {
			return []table.Write{teams.Hold(org, b.ScopeID)}, nil
		}
	case budgeting.Resource:
		found, err := s.inventory.ByUIDs(ctx, org, []string{b.ScopeID}, inventory.SeeEverything())
		if err != nil || len(found) > 0 {
			return nil, err
		}
		none = fault.New(fault.Invalid, "scopeID: %.64q: there is no such resource; send the native id of one that "+
			"exists, its uid", b.ScopeID)
	case budgeting.Org, budgeting.Tag:
		return nil, nil
	}
	return nil, none
}

func (s *service) get(ctx context.Context, in *BudgetInput) (Budget, error) {
	b, err := s.seen(ctx, in.BudgetID)
	if err != nil {
		return Budget{}, err
	}
	return s.show(ctx, b)
}

// seen returns a budget if the caller may see it.
func (s *service) seen(ctx context.Context, budgetID string) (budgeting.Budget, error) {
	if !id.IsValid("bud", budgetID) {
		return budgeting.Budget{}, budgeting.Missing(budgetID)
	}
	b, err := s.store.Read(ctx, identity.CallerOrg(ctx), budgetID)
	if err != nil {
		return b, err
	}
	sees, err := s.sight(ctx)
	if err == nil && !sees(b) {
		err = budgeting.Missing(budgetID)
	}
	return b, err
}

// sight returns a function that reports whether the caller may see a budget.
func (s *service) sight(ctx context.Context) (func(budgeting.Budget) bool, error) {
	c := identity.CallerFrom(ctx)
	sets, err := s.inventory.ResourceSets(ctx, c.Org, c.Scopes(reading))
	if err != nil {
		return nil, err
	}
	return func(b budgeting.Budget) bool { return b.SeenIn(c.Scopes(reading), sets[0]) }, nil
}

type listInput struct {
	rest.Page
	rest.Sort[budgeting.Budget, orders]
	ScopeType []string `query:"scope_type" maxItems:"6" enum:"org,cloud_account,resource_group,resource,team,tag" doc:"Only those of these kinds"`
	ScopeID   string   `query:"scope_id" maxLength:"1024" doc:"Only those for this account, group, resource, team or tag"`
}

func (s *service) list(ctx context.Context, in *listInput) (rest.List[Budget], error) {
	all, err := s.visible(ctx)
	if err != nil {
		return rest.List[Budget]{}, err
	}
	all = slices.DeleteFunc(all, func(b budgeting.Budget) bool {
		return !rest.Among(in.ScopeType, string(b.ScopeType)) || in.ScopeID != "" && in.ScopeID != b.ScopeID
	})
	in.Apply(all)
	page := rest.PageOf(all, in.Page)
	names, err := s.namesOf(ctx, page.Items...)
	return rest.MapItems(page, func(b budgeting.Budget) Budget { return newBudget(b, names) }), err
}

// visible returns the budgets that the caller may see, the oldest first.
func (s *service) visible(ctx context.Context) ([]budgeting.Budget, error) {
	sees, err := s.sight(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.store.List(ctx, identity.CallerOrg(ctx))
	return slices.DeleteFunc(all, func(b budgeting.Budget) bool { return !sees(b) }), err
}

// ChangedBudget is the body of PUT /budgets/{budgetID}.
type ChangedBudget struct {
	Name           rest.Patch[string]              `json:"name,omitzero" minLength:"1" maxLength:"128"`
	ScopeType      rest.Patch[budgeting.ScopeType] `json:"scopeType,omitzero" enum:"org,cloud_account,resource_group,resource,team,tag"`
	ScopeID        rest.Patch[string]              `json:"scopeID,omitzero" maxLength:"1024"`
	AmountUSD      rest.Patch[rest.USD]            `json:"amountUSD,omitzero"`
	Period         rest.Patch[budgeting.Period]    `json:"period,omitzero" enum:"month,quarter,year"`
	Thresholds     rest.Patch[[]int]               `json:"thresholds,omitzero" maxItems:"10" doc:"null: 50, 80, 100"`
	ForecastAlerts rest.Patch[bool]                `json:"forecastAlerts,omitzero"`
}

type updateInput struct {
	BudgetInput
	Body ChangedBudget
}

func (s *service) update(ctx context.Context, in *updateInput) (Budget, error) {
	old, err := s.seen(ctx, in.BudgetID)
	if err != nil {
		return Budget{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: old.ID, Before: newBudget(old, nil)})
	next := old
	if err = in.Body.apply(&next); err != nil {
		return Budget{}, err
	}
	next.UpdatedAt = s.p.Clock.Now()
	if err = check(&next); err != nil {
		return Budget{}, err
	}
	var holds []table.Write
	if next.ScopeType != old.ScopeType || next.ScopeID != old.ScopeID {
		if holds, err = s.holds(ctx, &next); err != nil {
			return Budget{}, err
		}
	}
	if next, err = s.store.Update(ctx, identity.CallerOrg(ctx), old, next, holds...); err != nil {
		return Budget{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: newBudget(next, nil)})
	return s.show(ctx, next)
}

// apply sets the fields that were sent.
func (c ChangedBudget) apply(to *budgeting.Budget) error {
	if err := rest.RefuseNull(map[string]bool{
		"scopeType": c.ScopeType.Null, "period": c.Period.Null,
		"amountUSD": c.AmountUSD.Null,
	}); err != nil {
		return err
	}
	if c.AmountUSD.Set() {
		amount, err := c.AmountUSD.Value.Read("amountUSD")
		if err != nil {
			return err
		}
		to.Amount = amount
	}
	c.Name.Apply(&to.Name)
	c.ScopeType.Apply(&to.ScopeType)
	c.ScopeID.Apply(&to.ScopeID)
	c.Period.Apply(&to.Period)
	c.Thresholds.Apply(&to.Thresholds)
	c.ForecastAlerts.Apply(&to.ForecastAlerts)
	return nil
}

func (s *service) remove(ctx context.Context, in *BudgetInput) (rest.Deleted, error) {
	b, err := s.seen(ctx, in.BudgetID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: b.ID, Before: newBudget(b, nil)})
	return rest.Deleted{ID: b.ID}, s.store.Delete(ctx, identity.CallerOrg(ctx), b)
}
