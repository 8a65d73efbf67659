package autoscalerpolicies

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/id"
)

// AutoscalerPolicy is the client's view of an autoscaler policy.
type AutoscalerPolicy struct {
	ID               string             `json:"id" example:"asp_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Name             string             `json:"name"`
	Mode             readiness.Mode     `json:"mode" enum:"monitor,recommend,autopilot"`
	CloudAccountID   string             `json:"cloudAccountID"`
	Target           AutoscalerTarget   `json:"target"`
	Min              int64              `json:"min"`
	Max              int64              `json:"max"`
	Desired          int64              `json:"desired"`
	TargetCPUPercent int64              `json:"targetCPUPercent"`
	CooldownSeconds  int64              `json:"cooldownSeconds"`
	Status           string             `json:"status" enum:"active,paused,error,held"`
	Note             *string            `json:"note" doc:"Why the status is error"`
	HeldBy           *string            `json:"heldBy" doc:"The event readiness plan that has the capacity"`
	Found            AutoscalerScaling  `json:"found" doc:"As it was adopted; given back when the policy is deleted"`
	Applied          *AutoscalerScaling `json:"applied" doc:"As it was when it was last applied"`
	AppliedAt        *time.Time         `json:"appliedAt"`
	CreatedAt        time.Time          `json:"createdAt"`
	UpdatedAt        time.Time          `json:"updatedAt"`
}

// AutoscalerTarget is the target of a policy.
type AutoscalerTarget struct {
	Type   string `json:"type" enum:"aws-asg,aws-ecs,gcp-mig,azure-vmss,kubernetes-deployment"`
	UID    string `json:"uid" minLength:"1" maxLength:"1024" doc:"Native id"`
	Region string `json:"region" required:"false" maxLength:"64" doc:"That of the resource when it is left out"`
}

// AutoscalerScaling is the scaling of a target.
type AutoscalerScaling struct {
	Min              int64  `json:"min"`
	Max              int64  `json:"max"`
	Desired          int64  `json:"desired"`
	TargetCPUPercent *int64 `json:"targetCPUPercent" doc:"null: no rule for the CPU"`
	CooldownSeconds  *int64 `json:"cooldownSeconds" doc:"null: the provider's own"`
}

func newScaling(a cloud.Autoscaling) AutoscalerScaling {
	return AutoscalerScaling{a.Min, a.Max, a.Desired, a.TargetCPUPercent, a.CooldownSeconds}
}

func newOptionalScaling(a *cloud.Autoscaling) *AutoscalerScaling {
	if a == nil {
		return nil
	}
	out := newScaling(*a)
	return &out
}

func newPolicy(p readiness.Policy) AutoscalerPolicy {
	out := AutoscalerPolicy{
		ID: p.ID, Name: p.Name, Mode: p.Mode, CloudAccountID: p.CloudAccountID, Target: AutoscalerTarget(p.Target),
		Min: p.Min, Max: p.Max, Desired: p.Desired,
		TargetCPUPercent: p.TargetCPUPercent, CooldownSeconds: p.CooldownSeconds, Status: p.ToldStatus(),
		Note: rest.Optional(p.Note), HeldBy: rest.Optional(p.PlanID),
		Found: newScaling(p.Found), Applied: newOptionalScaling(p.Applied), CreatedAt: p.CreatedAt,
		UpdatedAt: p.UpdatedAt,
	}
	if !p.AppliedAt.IsZero() {
		out.AppliedAt = &p.AppliedAt
	}
	return out
}

type listInput struct {
	rest.Page
	rest.Sort[readiness.Policy, orders]
	CloudAccountID string   `query:"cloud_account_id" maxLength:"64" doc:"Only those of this account"`
	Status         []string `query:"status" maxItems:"4" enum:"active,paused,error,held" doc:"Only these statuses"`
	Mode           []string `query:"mode" maxItems:"3" enum:"monitor,recommend,autopilot" doc:"Only these modes"`
}

func (s *service) listPolicies(ctx context.Context, in *listInput) (rest.List[AutoscalerPolicy], error) {
	sees, err := s.targetSight(ctx, reading)
	if err != nil {
		return rest.List[AutoscalerPolicy]{}, err
	}
	all, err := s.store.List(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return rest.List[AutoscalerPolicy]{}, err
	}
	all = slices.DeleteFunc(all, func(p readiness.Policy) bool {
		return !sees(p.Target.UID) || in.CloudAccountID != "" && in.CloudAccountID != p.CloudAccountID ||
			!rest.Among(in.Status, p.ToldStatus()) || !rest.Among(in.Mode, string(p.Mode))
	})
	in.Apply(all)
	return rest.MapItems(rest.PageOf(all, in.Page), newPolicy), nil
}

// targetSight returns a function that reports whether the caller holds the policy on the resource with a native ID.
func (s *service) targetSight(ctx context.Context, policy string) (func(uid string) bool, error) {
	c := identity.CallerFrom(ctx)
	sets, err := s.inventory.ResourceSets(ctx, c.Org, c.Scopes(policy))
	if err != nil {
		return nil, err
	}
	return sets[0].HasUID, nil
}

// readPolicy reads an autoscaler policy on whose target the caller holds the given permission.
func (s *service) readPolicy(ctx context.Context, policy, policyID string) (readiness.Policy, error) {
	if !id.IsValid("asp", policyID) {
		return readiness.Policy{}, readiness.MissingPolicy(policyID)
	}
	p, err := s.store.Get(ctx, identity.CallerOrg(ctx), policyID)
	if err != nil {
		return p, err
	}
	sees, err := s.targetSight(ctx, policy)
	if err == nil && !sees(p.Target.UID) {
		err = readiness.MissingPolicy(policyID)
	}
	return p, err
}

func (s *service) getPolicy(ctx context.Context, in *PolicyInput) (AutoscalerPolicy, error) {
	p, err := s.readPolicy(ctx, reading, in.PolicyID)
	return newPolicy(p), err
}

// ChangedAutoscalerPolicy is the body of PUT /autoscaler-policies/{policyID}.
type ChangedAutoscalerPolicy struct {
	Name             rest.Patch[string]         `json:"name,omitzero" minLength:"1" maxLength:"128"`
	Mode             rest.Patch[readiness.Mode] `json:"mode,omitzero" enum:"monitor,recommend,autopilot"`
	Min              rest.Patch[int64]          `json:"min,omitzero"`
	Max              rest.Patch[int64]          `json:"max,omitzero"`
	Desired          rest.Patch[int64]          `json:"desired,omitzero"`
	TargetCPUPercent rest.Patch[int64]          `json:"targetCPUPercent,omitzero"`
	CooldownSeconds  rest.Patch[int64]          `json:"cooldownSeconds,omitzero"`
}

type updateInput struct {
	PolicyInput
	Body ChangedAutoscalerPolicy
}

func (s *service) updatePolicy(ctx context.Context, in *updateInput) (AutoscalerPolicy, error) {
	old, err := s.readPolicy(ctx, writing, in.PolicyID)
	if err != nil {
		return AutoscalerPolicy{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: old.ID, Before: newPolicy(old)})
	if old.PlanID != "" {
		return AutoscalerPolicy{}, readiness.PolicyHeldBy(old)
	}
	next := old
	if err = in.Body.applyTo(&next); err != nil {
		return AutoscalerPolicy{}, err
	}
	next.UpdatedAt = s.p.Clock.Now()
	account, err := s.checkAll(ctx, &next)
	if err == nil && next.Mode == readiness.Autopilot {
		err = s.checkActs(ctx, next) // before it is saved: it is applied at once, and again whenever it is resumed
	}
	if err != nil {
		return AutoscalerPolicy{}, err
	}
	if next, err = s.store.Save(ctx, identity.CallerOrg(ctx), old, next); err != nil {
		return AutoscalerPolicy{}, err
	}
	next, err = s.autopilot(ctx, next, account)
	audit.NoteChange(ctx, audit.Change{After: newPolicy(next)})
	return newPolicy(next), err
}

// applyTo changes the fields that were sent. null is refused.
func (c ChangedAutoscalerPolicy) applyTo(to *readiness.Policy) error {
	if err := rest.RefuseNull(map[string]bool{
		"name": c.Name.Null, "mode": c.Mode.Null, "min": c.Min.Null, "max": c.Max.Null, "desired": c.Desired.Null,
		"targetCPUPercent": c.TargetCPUPercent.Null, "cooldownSeconds": c.CooldownSeconds.Null,
	}); err != nil {
		return err
	}
	c.Name.Apply(&to.Name)
	c.Mode.Apply(&to.Mode)
	c.Min.Apply(&to.Min)
	c.Max.Apply(&to.Max)
	c.Desired.Apply(&to.Desired)
	c.TargetCPUPercent.Apply(&to.TargetCPUPercent)
	c.CooldownSeconds.Apply(&to.CooldownSeconds)
	return nil
}

// AutoscalerEntry is an entry of the log of a policy.
type AutoscalerEntry struct {
	ID      string             `json:"id"`
	Kind    string             `json:"kind" enum:"adopted,applied,drifted,restored,refused,paused,resumed"`
	At      time.Time          `json:"at"`
	By      *string            `json:"by" doc:"The user who asked for it"`
	Message *string            `json:"message"`
	Before  *AutoscalerScaling `json:"before"`
	After   *AutoscalerScaling `json:"after"`
}

type logsInput struct {
	PolicyInput
	rest.Page
}

func (s *service) listLogs(ctx context.Context, in *logsInput) (rest.List[AutoscalerEntry], error) {
	p, err := s.readPolicy(ctx, reading, in.PolicyID)
	if err != nil {
		return rest.List[AutoscalerEntry]{}, err
	}
	all, err := s.store.Log(ctx, identity.CallerOrg(ctx), p.ID)
	return rest.MapItems(rest.PageOf(all, in.Page), newEntry), err
}

func newEntry(e readiness.PolicyEntry) AutoscalerEntry {
	return AutoscalerEntry{
		e.ID, e.Kind, e.At, rest.Optional(e.By), rest.Optional(e.Message),
		newOptionalScaling(e.Before), newOptionalScaling(e.After),
	}
}
