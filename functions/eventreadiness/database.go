package eventreadiness

import (
	"context"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/fault"
)

// DatabaseClass is the instance class that a database should have.
type DatabaseClass struct {
	ResourceID       string          `json:"resourceID"`
	ResourceUID      string          `json:"resourceUID"`
	Current          readiness.Class `json:"current"`
	Recommended      readiness.Class `json:"recommended" doc:"The current one where that is large enough"`
	Multiplier       rest.Number     `json:"multiplier"`
	IsEstimated      bool            `json:"isEstimated"`
	EstimationReason *string         `json:"estimationReason" doc:"null when it is not estimated"`
}

type databaseInput struct {
	ResourceID string `query:"resource_id" maxLength:"64" doc:"A database of the inventory"`
	PolicyID   string `query:"policy_id" maxLength:"64" doc:"Or a policy whose target is a database"`
	Multiplier string `query:"multiplier" required:"true" minLength:"1" maxLength:"64" doc:"How many times the usual load: a decimal above 0, at most 100"`
}

func (s *service) calculateDatabase(ctx context.Context, in *databaseInput) (DatabaseClass, error) {
	m, err := multiplierIn(in.Multiplier)
	if err != nil {
		return DatabaseClass{}, err
	}
	r, err := s.databaseOf(ctx, in)
	if err != nil {
		return DatabaseClass{}, err
	}
	return s.stepUp(ctx, r, m)
}

// databaseOf returns the database that a query names.
func (s *service) databaseOf(ctx context.Context, in *databaseInput) (inventory.Listed, error) {
	c := identity.CallerFrom(ctx)
	if (in.ResourceID == "") == (in.PolicyID == "") {
		return inventory.Listed{}, fault.New(fault.Invalid, "resource_id, policy_id: send one of them")
	}
	if in.ResourceID != "" {
		r, err := s.inventory.ByID(ctx, c.Org, in.ResourceID, inventory.Visibility{Resources: c.Scopes(reading)})
		if err == nil && !slices.Contains(readiness.DatabaseTypes, r.Type) {
			err = fault.New(fault.Invalid, "resource_id: %.64q is of type %s, which has no class to step up",
				in.ResourceID, r.Type)
		}
		return r, err
	}
	sees, err := s.policiesInSight(ctx, reading)
	if err != nil {
		return inventory.Listed{}, err
	}
	p, err := s.visiblePolicy(ctx, sees, in.PolicyID)
	if err != nil {
		return inventory.Listed{}, err
	}
	if !slices.Contains(readiness.DatabaseTypes, p.Target.Type) {
		return inventory.Listed{},
			fault.New(fault.Invalid,
				"policy_id: the target of %.64q is a group of type %s, and no database: name a database by resource_id",
				in.PolicyID, p.Target.Type)
	}
	return s.byUID(ctx, p.Target.UID)
}

func (s *service) byUID(ctx context.Context, uid string) (inventory.Listed, error) {
	found, err := s.inventory.ByUIDs(ctx, identity.CallerOrg(ctx), []string{uid}, inventory.SeeEverything())
	if err == nil && len(found) == 0 {
		err = fault.New(fault.NotFound, "resource %.256q is not in the inventory", uid)
	}
	if err != nil {
		return inventory.Listed{}, err
	}
	return found[0], nil
}

// stepUp recommends a class for a database.
func (s *service) stepUp(ctx context.Context, r inventory.Listed, m readiness.Multiplier) (DatabaseClass, error) {
	out := DatabaseClass{ResourceID: r.ID, ResourceUID: r.UID, Multiplier: rest.NumberOf(m.Amount())}
	var ok bool
	if out.Current, ok = readiness.ClassOf(r.Type, r.InstanceType); !ok {
		return out, fault.New(
			fault.Invalid, "resource_id: the class %.64q of %s cannot be read: name a database with an instance class",
			r.InstanceType, r.ID)
	}
	average, err := s.averageCPU(ctx,
		measurement.Of{Org: identity.CallerOrg(ctx), AccountID: r.CloudAccountID, UID: r.UID},
		r.Type)
	if err != nil {
		return out, err
	}
	t := readiness.Target{AverageCPU: average, TargetCPU: readiness.DefaultTarget}
	c, _ := t.CPU()
	out.EstimationReason = estimationReason(t)
	out.IsEstimated = out.EstimationReason != nil
	pair := pricing.ProviderRegion{Provider: r.Provider, Region: r.Region}
	tables, err := s.prices.Tables(ctx, []pricing.ProviderRegion{pair})
	if err != nil {
		return out, err
	}
	var offered []readiness.Class
	if t := tables[pair]; t != nil {
		offered = readiness.ClassesIn(t, r.Type)
	}
	if out.Recommended, ok = readiness.StepUp(out.Current, readiness.ByMultiplier(m, c), offered); !ok {
		return out, fault.New(fault.Invalid, "multiplier: of the %d classes with a known price in %s none of the "+
			"family of %s is large enough for %s times the load",
			len(offered), r.Region, out.Current.Name, m)
	}
	return out, nil
}

// DatabaseImpact is the change of a database's tier that a plan would need.
type DatabaseImpact struct {
	PolicyID       string          `json:"policyId"`
	Current        readiness.Class `json:"current"`
	Recommended    readiness.Class `json:"recommended"`
	VCPUDelta      int64           `json:"vCPUDelta"`
	MemoryMiBDelta int64           `json:"memoryMiBDelta"`
	IOPSDelta      *int64          `json:"iopsDelta" doc:"null if the IOPS of the database are not measured"`
}

// databaseImpact estimates the tier changes for the targets of a plan that are databases.
func (s *service) databaseImpact(ctx context.Context, in *EventPlanPath) ([]DatabaseImpact, error) {
	p, err := s.visiblePlan(ctx, in.EventID)
	if err != nil {
		return nil, err
	}
	policies, err := s.policies.GetMany(ctx, p.Org, p.PolicyIDs()...)
	if err != nil {
		return nil, err
	}
	out := []DatabaseImpact{}
	for _, t := range p.Targets {
		of := policies[t.PolicyID].Target
		if !slices.Contains(readiness.DatabaseTypes, of.Type) {
			continue
		}
		r, err := s.byUID(ctx, of.UID)
		if err != nil {
			return nil, err
		}
		c, err := s.stepUp(ctx, r, p.ExpectedMultiplier)
		if err != nil {
			return nil, err
		}
		out = append(out, DatabaseImpact{
			PolicyID: t.PolicyID, Current: c.Current, Recommended: c.Recommended,
			VCPUDelta:      c.Recommended.VCPUs - c.Current.VCPUs,
			MemoryMiBDelta: c.Recommended.MemoryMiB - c.Current.MemoryMiB,
		})
	}
	return out, nil
}
