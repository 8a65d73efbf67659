package anomalies

import (
	"context"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// AnomalyFloors are the smallest excess a day that is an anomaly, by kind of scope.
type AnomalyFloors struct {
	Org           string `json:"org"`
	CloudAccount  string `json:"cloud_account"`
	Team          string `json:"team"`
	ResourceGroup string `json:"resource_group"`
	Resource      string `json:"resource"`
}

// AnomalySettings are the conditions for an anomaly.
type AnomalySettings struct {
	anomaly.Gates
	FloorsUSD     AnomalyFloors `json:"floorsUSD"`
	AnomalyMinUSD string        `json:"anomalyMinUSD" doc:"The least baseline a day: a setting of the organization, PUT /organisation"`
}

func newSettings(r *anomaly.Rules) AnomalySettings {
	f := r.FloorsUSD
	return AnomalySettings{r.Gates, AnomalyFloors{
		Org: f[anomaly.Org].Fixed(2), CloudAccount: f[anomaly.CloudAccount].Fixed(2), Team: f[anomaly.Team].Fixed(2),
		ResourceGroup: f[anomaly.ResourceGroup].Fixed(2), Resource: f[anomaly.Resource].Fixed(2),
	}, r.MinUSD.Fixed(2)}
}

func (s *service) getSettings(ctx context.Context, _ *struct{}) (AnomalySettings, error) {
	r, err := s.store.ReadRules(ctx, identity.CallerOrg(ctx))
	return newSettings(&r), err
}

// ChangedAnomalyFloors are the floors in a change.
type ChangedAnomalyFloors struct {
	Org           rest.Patch[rest.USD] `json:"org,omitzero"`
	CloudAccount  rest.Patch[rest.USD] `json:"cloud_account,omitzero"`
	Team          rest.Patch[rest.USD] `json:"team,omitzero"`
	ResourceGroup rest.Patch[rest.USD] `json:"resource_group,omitzero"`
	Resource      rest.Patch[rest.USD] `json:"resource,omitzero"`
}

// ChangedAnomalySettings is the body of PUT /reports/anomaly-settings.
type ChangedAnomalySettings struct {
	UsageOnly       rest.Patch[bool]     `json:"usageOnly,omitzero"`
	SettledDays     rest.Patch[bool]     `json:"settledDays,omitzero"`
	WeekdayBaseline rest.Patch[bool]     `json:"weekdayBaseline,omitzero"`
	MinimumHistory  rest.Patch[bool]     `json:"minimumHistory,omitzero"`
	NoiseBand       rest.Patch[bool]     `json:"noiseBand,omitzero"`
	Floors          rest.Patch[bool]     `json:"floors,omitzero"`
	Latch           rest.Patch[bool]     `json:"latch,omitzero"`
	Nesting         rest.Patch[bool]     `json:"nesting,omitzero"`
	NewSpend        rest.Patch[bool]     `json:"newSpend,omitzero"`
	FloorsUSD       ChangedAnomalyFloors `json:"floorsUSD,omitzero"`
}

func (s *service) updateSettings(ctx context.Context, in *struct{ Body ChangedAnomalySettings }) (AnomalySettings,
	error,
) {
	r, err := s.store.ReadRules(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return AnomalySettings{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: "anomaly-settings", Before: newSettings(&r)})
	in.Body.switchGates(&r.Gates)
	if err = in.Body.FloorsUSD.apply(r.FloorsUSD); err != nil {
		return AnomalySettings{}, err
	}
	if err = s.store.WriteSettings(ctx, identity.CallerOrg(ctx), &r); err != nil {
		return AnomalySettings{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: newSettings(&r)})
	return newSettings(&r), nil
}

// switchGates sets the gates that were sent.
func (c *ChangedAnomalySettings) switchGates(to *anomaly.Gates) {
	usual := anomaly.DefaultSettings().Gates
	for _, g := range []struct {
		sent  rest.Patch[bool]
		gate  *bool
		usual bool
	}{
		{c.UsageOnly, &to.UsageOnly, usual.UsageOnly},
		{c.SettledDays, &to.SettledDays, usual.SettledDays},
		{c.WeekdayBaseline, &to.WeekdayBaseline, usual.WeekdayBaseline},
		{c.MinimumHistory, &to.MinimumHistory, usual.MinimumHistory},
		{c.NoiseBand, &to.NoiseBand, usual.NoiseBand},
		{c.Floors, &to.Floors, usual.Floors},
		{c.Latch, &to.Latch, usual.Latch},
		{c.Nesting, &to.Nesting, usual.Nesting},
		{c.NewSpend, &to.NewSpend, usual.NewSpend},
	} {
		if g.sent.Null {
			*g.gate = g.usual
		} else {
			g.sent.Apply(g.gate)
		}
	}
}

var mostFloor = money.FromInt(1_000_000_000)

func (c *ChangedAnomalyFloors) apply(to map[anomaly.ScopeType]money.Amount) error {
	for scope, sent := range map[anomaly.ScopeType]rest.Patch[rest.USD]{
		anomaly.Org: c.Org, anomaly.CloudAccount: c.CloudAccount, anomaly.Team: c.Team,
		anomaly.ResourceGroup: c.ResourceGroup, anomaly.Resource: c.Resource,
	} {
		field := "floorsUSD." + string(scope)
		switch {
		case sent.Null:
			to[scope] = anomaly.DefaultSettings().FloorsUSD[scope]
		case sent.Set():
			a, err := sent.Value.Read(field)
			if err != nil {
				return err
			}
			if a.Sign() < 0 || a.Cmp(mostFloor) > 0 || a != a.Round(2) {
				return fault.New(fault.Invalid, "%s: %s is no amount from 0 to 1000000000 with at most two decimals",
					field, a)
			}
			to[scope] = a
		}
	}
	return nil
}
