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
	// maxFound is how many bytes may be remembered to give a target back: a row holds 400,000.
	maxFound = 200_000
	// usualTarget and usualCooldown are taken where neither the client nor the target says.
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
	Desired          *int64           `json:"desired,omitempty" doc:"As found when it is left out, no less than min and no more than max"`
	TargetCPUPercent *int64           `json:"targetCPUPercent,omitempty" doc:"As found when it is left out, else 70"`
	CooldownSeconds  *int64           `json:"cooldownSeconds,omitempty" doc:"As found when it is left out, else 300"`
}

func (s *service) create(ctx context.Context, in *struct{ Body NewAutoscalerPolicy }) (AutoscalerPolicy, error) {
	now := s.p.Clock.Now()
	p := readiness.Policy{
		ID: id.New("asp", now), Name: in.Body.Name, Mode: cmp.Or(in.Body.Mode, readiness.Recommend),
		CloudAccountID: in.Body.CloudAccountID,
		Status:         readiness.PolicyActive, CreatedAt: now, UpdatedAt: now,
	}
	if err := execution.CheckActor(ctx); err != nil {
		return AutoscalerPolicy{}, err
	}
	account, err := s.find(ctx, &p, in.Body.Target)
	if err == nil {
		err = s.checkActs(ctx, p)
	}
	if err != nil {
		return AutoscalerPolicy{}, err
	}
	if err := s.room(ctx, p); err != nil {
		return AutoscalerPolicy{}, err
	}
	if p.Found, err = s.adopt(ctx, p, account); err != nil {
		return AutoscalerPolicy{}, err
	}
	in.Body.fill(&p)
	if err := check(&p, account); err != nil {
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

// find finds the target in the inventory, and its account.
func (s *service) find(ctx context.Context, p *readiness.Policy, t AutoscalerTarget) (inventory.Account, error) {
	r, account, err := s.resource(ctx, writing, p.CloudAccountID, t)
	p.Target = readiness.PolicyTarget{Type: r.Type, UID: r.UID, Region: r.Region}
	return account, err
}

// resource finds a resource of an account that the caller holds the policy on, and that account.
//
//nolint:revive // who asks, and for what
func (s *service) resource(ctx context.Context, policy, accountID string, t AutoscalerTarget) (inventory.Listed,
	inventory.Account, error) {
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

// room refuses a policy too many, and one whose name or target is taken, before the cloud is asked.
func (s *service) room(ctx context.Context, p readiness.Policy) error {
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

// adopt asks the cloud how the target is scaled now. A size of 0 is not adopted: it would be given back as what the target was.
func (s *service) adopt(ctx context.Context, p readiness.Policy, account inventory.Account) (cloud.Autoscaling,
	error) {
	found, err := s.ask(ctx, p.Target, account)
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

// fill gives a policy what the client says, and what was found where it says nothing.
func (n NewAutoscalerPolicy) fill(p *readiness.Policy) {
	p.Min, p.Max = or(n.Min, p.Found.Min), or(n.Max, p.Found.Max)
	p.Desired = or(n.Desired, min(max(p.Found.Desired, p.Min), p.Max))
	p.TargetCPUPercent = or(n.TargetCPUPercent, or(p.Found.TargetCPUPercent, usualTarget))
	p.CooldownSeconds = or(n.CooldownSeconds, or(p.Found.CooldownSeconds, usualCooldown))
}

func or(v *int64, otherwise int64) int64 {
	if v == nil {
		return otherwise
	}
	return *v
}

// checkAll is check for a policy whose account is to be read.
func (s *service) checkAll(ctx context.Context, p *readiness.Policy) (inventory.Account, error) {
	account, err := s.account(ctx, *p)
	if err != nil {
		return account, err
	}
	return account, check(p, account)
}

// check brings the name into shape, and refuses sizes that contradict each other and a mode above what the account allows.
func check(p *readiness.Policy, account inventory.Account) (err error) {
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
