package readiness

import (
	"context"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// MaxPolicies is the maximum number of policies in an organization.
const MaxPolicies = 500

// claimLength is how long an apply blocks other applies. It is longer than the timeouts of the connector and its
// caller.
const claimLength = time.Minute

// PolicyStore stores the policies of organizations.
type PolicyStore struct {
	table table.Store
	clock clock.Clock
}

// NewPolicyStore returns a PolicyStore on t.
func NewPolicyStore(t table.Store, c clock.Clock) *PolicyStore { return &PolicyStore{t, c} }

// List lists the policies of an organization, oldest first, at most MaxPolicies. It takes one round trip per
// megabyte.
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

// Get reads a policy. It returns fault.NotFound when it does not exist. It takes one round trip.
func (s *PolicyStore) Get(ctx context.Context, org, policyID string) (Policy, error) {
	p, err := table.Read[Policy](ctx, s.table, PolicyKey(org, policyID))
	if fault.Is(err, fault.NotFound) {
		return p, MissingPolicy(policyID)
	}
	return p, fault.Wrap("read autoscaler policy "+policyID, err)
}

// MissingPolicy returns the error for a policy that does not exist.
func MissingPolicy(policyID string) error {
	return fault.New(fault.NotFound, "autoscaler policy %.64q does not exist", policyID)
}

// GetMany reads policies by ID and omits missing ones. It takes one round trip per hundred.
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

// Hold returns the write, for a transaction, that gives the capacity of a policy to an event readiness plan. It fails
// when the policy does not exist, another plan holds it, or an apply is under way. It is idempotent for the same
// plan.
func (s *PolicyStore) Hold(org, policyID, planID string) table.Write {
	return table.Update(PolicyKey(org, policyID), []table.Change{table.Set("planID", planID), table.Add("version", 1)},
		table.Exists(),
		table.Any(table.Lacks("planID"), table.Equal("planID", planID)), s.unclaimed())
}

// Release returns the write, for a transaction, that ends a plan's hold of a policy. It fails when the plan does not
// hold it.
func (s *PolicyStore) Release(org, policyID, planID string) table.Write {
	return table.Update(PolicyKey(org, policyID), []table.Change{table.Remove("planID"), table.Add("version", 1)},
		table.Equal("planID", planID))
}

// unclaimed returns the condition that no apply is under way.
func (s *PolicyStore) unclaimed() table.Cond {
	return table.Any(table.Lacks("claimedUntil"), table.Less("claimedUntil", s.clock.Now().Unix()))
}

// CheckRoom returns fault.Invalid when the organization has MaxPolicies.
func CheckRoom(all []Policy) error {
	if len(all) < MaxPolicies {
		return nil
	}
	return fault.New(fault.Invalid, "the organization has %d autoscaler policies, which is the most; delete one first",
		len(all))
}

// Create stores a new policy with the first entries of its log, together with the extra writes, which count the
// policy as a use of its account. It returns fault.Conflict when another policy has its name or its target or when a
// condition of an extra write fails, and fault.Invalid when the organization has MaxPolicies.
func (s *PolicyStore) Create(ctx context.Context, org string, p Policy, log []PolicyEntry,
	extra ...table.Write,
) (Policy, error) {
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
func (s *PolicyStore) create(ctx context.Context, org string, p Policy, with []table.Write,
	log []PolicyEntry,
) (Policy, error) {
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

// Claim begins an apply. Until Save is called or a minute has passed, no other apply begins and no plan takes the
// policy. It returns fault.Conflict when the policy has changed since it was read.
func (s *PolicyStore) Claim(ctx context.Context, org string, p Policy) (Policy, error) {
	next := p
	next.ClaimedUntil = s.clock.Now().Add(claimLength).Unix()
	return s.replace(ctx, org, policyChange{old: p, next: next}, s.unclaimed(), table.Lacks("planID"))
}

// Save replaces old, as it was read or claimed, by next, and ends a claim. It returns fault.Conflict when old has
// changed since, or when another policy has the new name.
func (s *PolicyStore) Save(ctx context.Context, org string, old, next Policy, log ...PolicyEntry) (Policy, error) {
	next.ClaimedUntil = 0
	return s.replace(ctx, org, policyChange{old: old, next: next, log: log})
}

// policyChange is the replacement of a policy, as it was read, by its next version, with entries for its log.
type policyChange struct {
	old, next Policy
	log       []PolicyEntry
}

// replace stores the next version of a policy in one transaction with its log, if the old version and the conditions
// still hold.
func (s *PolicyStore) replace(ctx context.Context, org string, c policyChange, conds ...table.Cond) (Policy, error) {
	old, next := c.old, c.next
	next.Version = old.Version + 1
	put, err := table.PutFields(PolicyKey(org, next.ID), next, append(conds, table.Equal("version", old.Version))...)
	if err != nil {
		return next, err
	}
	renamed, err := policyNames(org).Rename(old.Name, next.Name, next.ID)
	if err != nil {
		return next, err
	}
	return s.commit(ctx, org, next, append([]table.Write{put}, renamed...), c.log)
}

// Delete deletes a policy, as it was read or claimed, together with the extra writes. It returns fault.Conflict when
// the policy has changed since or a condition of an extra write fails. The log remains until it expires.
func (s *PolicyStore) Delete(ctx context.Context, org string, p Policy, log []PolicyEntry,
	extra ...table.Write,
) error {
	_, err := s.commit(ctx, org, p, append([]table.Write{
		table.Delete(PolicyKey(org, p.ID), table.Equal("version", p.Version)), policyNames(org).Release(p.Name),
		table.Delete(targetKey(org, p.Target)),
	}, extra...), log)
	return err
}

// commit makes the writes and adds log to the policy's log, in one transaction. The first write must be that of the
// policy.
func (s *PolicyStore) commit(ctx context.Context, org string, p Policy, ws []table.Write,
	log []PolicyEntry,
) (Policy, error) {
	for i, e := range log {
		it, err := e.item(org, p, i, s.clock.Now())
		if err != nil {
			return p, err
		}
		ws = append(ws, table.Put(it))
	}
	err := s.table.Transact(ctx, ws...)
	return p, table.ExplainLost(err, "write autoscaler policy "+p.ID, func(lost *table.ConditionError) error {
		return refused(org, lost, &p)
	})
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

// changed returns the error for a write that failed because the policy is now old.
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

// PolicyHeldBy returns the error for an operation that is refused while a plan holds the capacity of a policy.
func PolicyHeldBy(p Policy) error {
	return fault.New(fault.Conflict,
		"the event readiness plan %s has the capacity of autoscaler policy %s: wait for its end, or cancel it",
		p.PlanID, p.ID)
}
