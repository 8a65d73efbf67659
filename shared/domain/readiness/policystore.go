package readiness

import (
	"context"
	"errors"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// MaxPolicies is how many policies an organization may have.
const MaxPolicies = 500

// claimLength is how long an apply may take before another one may begin: longer than the connector and its caller wait.
const claimLength = time.Minute

// PolicyStore keeps the policies of organizations.
type PolicyStore struct {
	table table.Store
	clock clock.Clock
}

// NewPolicyStore returns the Store on t.
func NewPolicyStore(t table.Store, c clock.Clock) *PolicyStore { return &PolicyStore{t, c} }

// List lists the policies of an organization, oldest first: never more than MaxPolicies, in one round trip for each megabyte.
func (s *PolicyStore) List(ctx context.Context, org string) ([]Policy, error) {
	var out []Policy
	for q := (table.Query{PK: PolicyKey(org, "").PK, Prefix: "asp_", Limit: MaxPolicies}); ; {
		page, next, err := table.ReadPage[Policy](ctx, s.table, q)
		if err != nil {
			return nil, fault.Wrap("list autoscaler policies of "+org, err)
		}
		out = append(out, page...)
		if q.Cursor = next; next == "" {
			return out, nil
		}
	}
}

// Get reads a policy; fault.NotFound when there is none. One round trip.
func (s *PolicyStore) Get(ctx context.Context, org, policyID string) (Policy, error) {
	p, err := table.Read[Policy](ctx, s.table, PolicyKey(org, policyID))
	if fault.Is(err, fault.NotFound) {
		return p, MissingPolicy(policyID)
	}
	return p, fault.Wrap("read autoscaler policy "+policyID, err)
}

// MissingPolicy is the error of a policy that does not exist.
func MissingPolicy(policyID string) error {
	return fault.New(fault.NotFound, "autoscaler policy %.64q does not exist", policyID)
}

// GetMany reads policies by their ids; those that do not exist are left out. One round trip for each hundred.
func (s *PolicyStore) GetMany(ctx context.Context, org string, policyIDs ...string) (map[string]Policy, error) {
	out := map[string]Policy{}
	keys := make([]table.Key, len(policyIDs))
	for i, id := range policyIDs {
		keys[i] = PolicyKey(org, id)
	}
	if len(keys) == 0 {
		return out, nil
	}
	items, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fault.Wrap("read autoscaler policies of "+org, err)
	}
	for _, it := range items {
		p, err := table.Decode[Policy](it)
		if err != nil {
			return nil, err
		}
		out[p.ID] = p
	}
	return out, nil
}

// Hold returns the write, for a transaction, that gives the capacity of a policy to an event readiness plan. Its condition fails when there is
// no such policy, another plan has it, or an apply is under way; a plan that has it already may take it again.
func (s *PolicyStore) Hold(org, policyID, planID string) table.Write {
	return table.Update(PolicyKey(org, policyID), []table.Change{table.Set("planID", planID), table.Add("version", 1)},
		table.Exists(),
		table.Any(table.Lacks("planID"), table.Equal("planID", planID)), s.unclaimed())
}

// Release returns the write, for a transaction, that takes a policy from a plan. Its condition fails when the plan does not have it.
func (s *PolicyStore) Release(org, policyID, planID string) table.Write {
	return table.Update(PolicyKey(org, policyID), []table.Change{table.Remove("planID"), table.Add("version", 1)},
		table.Equal("planID", planID))
}

// unclaimed demands that no apply is under way.
func (s *PolicyStore) unclaimed() table.Cond {
	return table.Any(table.Lacks("claimedUntil"), table.Less("claimedUntil", s.clock.Now().Unix()))
}

// CheckRoom refuses one policy more than MaxPolicies: fault.Invalid.
func CheckRoom(all []Policy) error {
	if len(all) < MaxPolicies {
		return nil
	}
	return fault.New(fault.Invalid, "the organization has %d autoscaler policies, which is the most; delete one first",
		len(all))
}

// Create stores a new policy with the first entries of its log, and does the extra writes with it, which count the
// policy as a use of its account. It returns fault.Conflict when another policy has its name or its target or a
// condition of an extra write does not hold, and fault.Invalid when the organization has MaxPolicies.
func (s *PolicyStore) Create(ctx context.Context, org string, p Policy, log []PolicyEntry, extra ...table.Write) (Policy,
	error) { //nolint:revive // as Delete
	limited := table.LimitedList{PK: PolicyKey(org, "").PK, Noun: "autoscaler policies"}
	err := limited.Add(ctx, s.table, func(take table.Write) error {
		all, err := s.List(ctx, org)
		if err == nil {
			err = CheckRoom(all)
		}
		if err == nil {
			p, err = s.create(ctx, org, p, append([]table.Write{take}, extra...), log)
		}
		return err
	})
	return p, err
}

// create stores a policy in one transaction with other writes.
//
//nolint:revive // as Create
func (s *PolicyStore) create(ctx context.Context, org string, p Policy, with []table.Write, log []PolicyEntry) (Policy, error) {
	p.Version = 1
	put, err := table.PutFields(PolicyKey(org, p.ID), p, table.Absent())
	if err != nil {
		return p, err
	}
	name, err := policyNames(org).Claim(p.Name, p.ID)
	if err != nil {
		return p, err
	}
	it, err := table.NewItem(targetKey(org, p.Target), map[string]string{"id": p.ID})
	if err != nil {
		return p, err
	}
	ws := []table.Write{put, name, table.Put(it, table.Absent())}
	return s.commit(ctx, org, p, append(ws, with...), log)
}

// Claim lets one apply begin: until it is saved, or a minute has passed, no other one does, and no plan takes the policy. fault.Conflict when
// the policy is not as it was read.
func (s *PolicyStore) Claim(ctx context.Context, org string, p Policy) (Policy, error) {
	next := p
	next.ClaimedUntil = s.clock.Now().Add(claimLength).Unix()
	return s.replace(ctx, org, p, next, nil, s.unclaimed(), table.Lacks("planID"))
}

// Save replaces old, as it was read or claimed, by next, and ends a claim; fault.Conflict when old has changed since, or another one has the new name.
func (s *PolicyStore) Save(ctx context.Context, org string, old, next Policy, log ...PolicyEntry) (Policy, error) {
	next.ClaimedUntil = 0
	return s.replace(ctx, org, old, next, log)
}

//nolint:revive // what is replaced by what, while what holds
func (s *PolicyStore) replace(ctx context.Context, org string, old, next Policy, log []PolicyEntry, conds ...table.Cond) (Policy,
	error) {
	next.Version = old.Version + 1
	put, err := table.PutFields(PolicyKey(org, next.ID), next, append(conds, table.Equal("version", old.Version))...)
	if err != nil {
		return next, err
	}
	renamed, err := policyNames(org).Rename(old.Name, next.Name, next.ID)
	if err != nil {
		return next, err
	}
	return s.commit(ctx, org, next, append([]table.Write{put}, renamed...), log)
}

// Delete deletes a policy as it was read or claimed, and does the extra writes with it; fault.Conflict when it has
// changed since, or a condition of an extra write does not hold. Its log goes with its time.
func (s *PolicyStore) Delete(ctx context.Context, org string, p Policy, log []PolicyEntry, extra ...table.Write) error { //nolint:revive // as Save
	_, err := s.commit(ctx, org, p, append([]table.Write{
		table.Delete(PolicyKey(org, p.ID), table.Equal("version", p.Version)), policyNames(org).Release(p.Name),
		table.Delete(targetKey(org, p.Target)),
	}, extra...), log)
	return err
}

// commit makes the writes, the first of which is of the policy, and adds to its log.
//
//nolint:revive // one policy and what is written of it
func (s *PolicyStore) commit(ctx context.Context, org string, p Policy, ws []table.Write, log []PolicyEntry) (Policy, error) {
	for i, e := range log {
		it, err := e.item(org, p, i, s.clock.Now())
		if err != nil {
			return p, err
		}
		ws = append(ws, table.Put(it))
	}
	err := s.table.Transact(ctx, ws...)
	if table.IsTurnLost(err) {
		return p, err
	}
	if lost, ok := errors.AsType[*table.ConditionError](err); ok {
		return p, refused(org, lost, &p)
	}
	return p, fault.Wrap("write autoscaler policy "+p.ID, err)
}

func refused(org string, lost *table.ConditionError, p *Policy) error {
	if old, ok := lost.Old(0); ok {
		return changed(old, p)
	}
	if taken := policyNames(org).Refusal(lost, p.Name); taken != nil {
		return taken
	}
	if _, ok := lost.Old(2); ok {
		return fault.New(fault.Conflict,
			"target.uid: %.300s has an autoscaler policy already: change that one, or delete it first", p.Target.UID)
	}
	return fault.New(fault.Conflict,
		"the cloud account or an event readiness plan of autoscaler policy %s was changed meanwhile; try again", p.ID)
}

// changed tells why a policy could not be written that is old now.
func changed(old table.Item, p *Policy) error {
	now, err := table.Decode[Policy](old)
	switch {
	case old.Data == nil || err != nil:
		return MissingPolicy(p.ID)
	case now.PlanID != "":
		return PolicyHeldBy(now)
	case now.ClaimedUntil != 0:
		return fault.New(fault.Conflict,
			"autoscaler policy %s is being applied by someone else; wait a minute and try again", p.ID)
	}
	return fault.New(fault.Conflict,
		"autoscaler policy %s was changed by someone else meanwhile; read it and try again", p.ID)
}

// PolicyHeldBy is the error of what cannot be done while a plan has the capacity of a policy.
func PolicyHeldBy(p Policy) error {
	return fault.New(fault.Conflict,
		"the event readiness plan %s has the capacity of autoscaler policy %s: wait for its end, or cancel it",
		p.PlanID, p.ID)
}
