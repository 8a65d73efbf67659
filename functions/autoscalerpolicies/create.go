package autoscalerpolicies

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

const (
	maxName = 128 // characters
	// maxFound is the maximum size in bytes of the provider settings that are stored to restore a target. A row holds
	// 400,000.
	maxFound = 200_000
	// usualTarget and usualCooldown are the defaults if neither the client nor the target has a value.
	usualTarget   = 70  // percent
	usualCooldown = 300 // seconds
)

// NewAutoscalerPolicy is the body of POST /autoscaler-policies.
type NewAutoscalerPolicy struct {
	Name             string           `json:"name" minLength:"1" maxLength:"128"`
	Mode             readiness.Mode   `json:"mode,omitempty" enum:"monitor,recommend,autopilot" default:"recommend"`
	CloudAccountID   string           `json:"cloudAccountID" maxLength:"64"`
	Target           AutoscalerTarget `json:"target"`
	Min              *int64           `json:"min,omitempty" doc:"As found when it is left out"`
	Max              *int64           `json:"max,omitempty" doc:"As found when it is left out"`
	Desired          *int64           `json:"desired,omitempty" doc:"Default: the current size, limited to min and max"`
	TargetCPUPercent *int64           `json:"targetCPUPercent,omitempty" doc:"As found when it is left out, else 70"`
	CooldownSeconds  *int64           `json:"cooldownSeconds,omitempty" doc:"As found when it is left out, else 300"`
}

func (s *service) createPolicy(ctx context.Context, in *struct{ Body NewAutoscalerPolicy }) (AutoscalerPolicy, error) {
	now := s.p.Clock.Now()
	p := readiness.Policy{
		ID: id.New("asp", now), Name: in.Body.Name, Mode: cmp.Or(in.Body.Mode, readiness.Recommend),
		CloudAccountID: in.Body.CloudAccountID,
		Status:         readiness.PolicyActive, CreatedAt: now, UpdatedAt: now,
	}
	if err := execution.CheckActor(ctx); err != nil {
		return AutoscalerPolicy{}, err
	}
	account, err := s.findTarget(ctx, &p, in.Body.Target)
	if err == nil {
		err = s.checkActs(ctx, p)
	}
	if err != nil {
		return AutoscalerPolicy{}, err
	}
	if err := s.checkRoom(ctx, p); err != nil {
		return AutoscalerPolicy{}, err
	}
	if p.Found, err = s.adoptTarget(ctx, p, account); err != nil {
		return AutoscalerPolicy{}, err
	}
	in.Body.fillIn(&p)
	if err := checkPolicy(&p, account); err != nil {
		return AutoscalerPolicy{}, err
	}
	adopted := readiness.PolicyEntry{Kind: readiness.LogAdopted, By: identity.CallerFrom(ctx).Email, After: &p.Found}
	held, err := inventory.HoldAccounts(identity.CallerOrg(ctx), []string{p.CloudAccountID})
	if err != nil {
		return AutoscalerPolicy{}, err
	}
	if p, err = s.store.Create(ctx, identity.CallerOrg(ctx), p, []readiness.PolicyEntry{adopted}, held...); err != nil {
		return AutoscalerPolicy{}, err
	}
	p, err = s.autopilot(ctx, p, account)
	audit.NoteChange(ctx, audit.Change{Target: p.ID, After: newPolicy(p)})
	return newPolicy(p), err
}

// findTarget finds the target in the inventory, and its account.
func (s *service) findTarget(ctx context.Context, p *readiness.Policy, t AutoscalerTarget) (inventory.Account,
	error,
) {
	r, account, err := s.findResource(ctx, writing, p.CloudAccountID, t)
	p.Target = readiness.PolicyTarget{Type: r.Type, UID: r.UID, Region: r.Region}
	return account, err
}

// findResource finds a resource of an account, and the account. The caller must hold the policy on the resource.
func (s *service) findResource(ctx context.Context, policy, accountID string, t AutoscalerTarget) (inventory.Listed,
	inventory.Account, error,
) {
	c, none := identity.CallerFrom(ctx), inventory.Account{}
	if !id.IsValid("ca", accountID) {
		return inventory.Listed{}, none,
			fault.New(fault.Invalid, "cloudAccountID: %.64q: there is no such cloud account", accountID)
	}
	found, err := s.inventory.ByUIDs(ctx, c.Org, []string{t.UID}, inventory.SightOf(c, policy))
	if err != nil {
		return inventory.Listed{}, none, err
	}
	i := slices.IndexFunc(found, func(r inventory.Listed) bool {
		return r.UID == t.UID && r.CloudAccountID == accountID
	})
	switch {
	case i < 0:
		return inventory.Listed{}, none,
			fault.New(fault.Invalid,
				"target.uid: %.300q: cloud account %s has no such resource in the inventory; discover it first", t.UID,
				accountID)
	case found[i].Type != t.Type:
		return found[i], none,
			fault.New(fault.Invalid, "target.type: %.300s is of type %s, not %.64s", t.UID, found[i].Type, t.Type)
	case t.Region != "" && found[i].Region != t.Region:
		return found[i], none,
			fault.New(fault.Invalid, "target.region: %.300s is in %s, not in %.64s", t.UID, found[i].Region, t.Region)
	}
	account, err := s.inventory.ReadAccount(ctx, c.Org, accountID)
	return found[i], account, err
}

// checkRoom refuses more policies than the maximum, and a policy whose name or target is taken, before the cloud is
// asked.
func (s *service) checkRoom(ctx context.Context, p readiness.Policy) error {
	all, err := s.store.List(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return err
	}
	if err = readiness.CheckRoom(all); err != nil {
		return err
	}
	for i := range all {
		if all[i].Target.UID == p.Target.UID && all[i].Target.Type == p.Target.Type {
			return fault.New(fault.Conflict,
				"target.uid: %.300s has the autoscaler policy %s (%s) already: change that one, or delete it first",
				p.Target.UID, all[i].ID, all[i].Name)
		}
	}
	return nil
}

// adoptTarget asks the cloud for the current scaling of the target. It refuses a size of 0, because the target would
// later be restored to it.
func (s *service) adoptTarget(ctx context.Context, p readiness.Policy, account inventory.Account) (cloud.Autoscaling,
	error,
) {
	found, err := s.askScaling(ctx, p.Target, account)
	switch {
	case fault.Is(err, fault.NotFound):
		return found, fault.NewWithCause(fault.Invalid, err, "target.uid: %s", fault.Message(err))
	case err != nil:
		return found, err
	case found.RunsNothing():
		return found, fault.Wrap("target.uid", readiness.CheckRunning(p.Target.UID, found))
	case len(found.Native) > maxFound:
		return found, fault.New(fault.Invalid, "target.uid: the scaling of %.300s takes %d bytes to remember; "+
			"at most %d", p.Target.UID, len(found.Native), maxFound)
	}
	return found, nil
}

// fillIn copies the client's values to a policy, and the found values where the client sent none.
func (n NewAutoscalerPolicy) fillIn(p *readiness.Policy) {
	p.Min, p.Max = valueOr(n.Min, p.Found.Min), valueOr(n.Max, p.Found.Max)
	p.Desired = valueOr(n.Desired, min(max(p.Found.Desired, p.Min), p.Max))
	p.TargetCPUPercent = valueOr(n.TargetCPUPercent, valueOr(p.Found.TargetCPUPercent, usualTarget))
	p.CooldownSeconds = valueOr(n.CooldownSeconds, valueOr(p.Found.CooldownSeconds, usualCooldown))
}

func valueOr(v *int64, otherwise int64) int64 {
	if v == nil {
		return otherwise
	}
	return *v
}

// checkAll reads the account of a policy and then calls checkPolicy.
func (s *service) checkAll(ctx context.Context, p *readiness.Policy) (inventory.Account, error) {
	account, err := s.readAccount(ctx, *p)
	if err != nil {
		return account, err
	}
	return account, checkPolicy(p, account)
}

// checkPolicy normalizes the name, and refuses contradictory sizes and a mode that the account does not allow.
func checkPolicy(p *readiness.Policy, account inventory.Account) (err error) {
	if p.Name, err = displayname.CleanName("name", p.Name, maxName); err != nil {
		return err
	}
	if err := p.Wanted().Check(); err != nil {
		return fault.NewWithCause(fault.Invalid, err, "%s", strings.TrimPrefix(err.Error(), "SetAutoscaling: "))
	}
	if p.Mode == readiness.Autopilot && account.ReadOnly() {
		return fault.New(fault.Invalid,
			"mode: autopilot is more than cloud account %s allows, which is read_only: send monitor or recommend, or "+
				"make the account read_write", account.ID)
	}
	return nil
}
