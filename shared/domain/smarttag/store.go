package smarttag

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Partition holds the policies and the accepted tags of an organization.
const Partition table.Partition = "ORG#*#SMARTTAG"

// MaxAccepted is how many tags an organization accepts at most: all of them are read with each report by tags.
const MaxAccepted = 20_000

const (
	policyPrefix = "P#" // P#<policy>
	acceptPrefix = "A#" // A#<n>: the accepted tags of the resources whose ids fall to n
	shelves      = 64
)

// Store keeps the smart tags of organizations.
type Store struct{ table table.Store }

// NewStore makes a Store.
func NewStore(t table.Store) Store { return Store{t} }

func key(org, sk string) table.Key { return table.Key{PK: table.OrgPK(org) + "SMARTTAG", SK: sk} }

// shelf is a set of accepted tags: by resource, and by key, their values.
type shelf struct {
	Version int64                        `json:"version"`
	Tags    map[string]map[string]string `json:"tags"`
}

// State is the policies of an organization, oldest first, and the tags that it has accepted.
type State struct {
	Policies []Policy
	accepted map[string]map[string]string
}

// Read reads all policies and accepted tags of an organization. It takes one round trip per megabyte.
func (s Store) Read(ctx context.Context, org string) (*State, error) {
	out := &State{accepted: map[string]map[string]string{}}
	q := table.Query{PK: key(org, "").PK, Limit: table.MaxPage}
	for {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("read smart tags of %s: %w", org, err)
		}
		for _, it := range page.Items {
			if err = out.take(it); err != nil {
				return nil, fmt.Errorf("read %s of %s: %w", it.SK, org, err)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out, nil
		}
	}
}

func (st *State) take(it table.Item) error {
	if strings.HasPrefix(it.SK, policyPrefix) {
		p, err := table.Decode[Policy](it)
		st.Policies = append(st.Policies, p)
		return err
	}
	if table.IsTurn(it) {
		return nil
	}
	sh, err := table.Decode[shelf](it)
	maps.Copy(st.accepted, sh.Tags)
	return err
}

// Accepted reports whether a tag is accepted with its current value. Another value must be accepted anew.
func (st *State) Accepted(d *Derived) bool { return st.accepted[d.UID][d.Key] == d.Value }

// Empty reports whether no tag can be in force, because there are no policies or no accepted tags. Then resources need
// not be read.
func (st *State) Empty() bool { return len(st.Policies) == 0 || len(st.accepted) == 0 }

// Size counts the accepted tags, including those that are no longer derived.
func (st *State) Size() int {
	n := 0
	for _, tags := range st.accepted {
		n += len(tags)
	}
	return n
}

// Tags returns the accepted tags of a resource that are currently derived. The map may be empty, but not nil.
func (st *State) Tags(r *inventory.Resource) map[string]string {
	out := map[string]string{}
	if len(st.accepted[r.UID]) == 0 {
		return out
	}
	for _, d := range Derive(st.Policies, r) {
		if st.Accepted(&d) {
			out[d.Key] = d.Value
		}
	}
	return out
}

// UIDs returns the native ids of the resources with accepted tags, in ascending order.
func (st *State) UIDs() []string { return slices.Sorted(maps.Keys(st.accepted)) }

// Policy returns a policy, or fault.NotFound.
func (st *State) Policy(policyID string) (Policy, error) {
	i := slices.IndexFunc(st.Policies, func(p Policy) bool { return p.ID == policyID })
	if i < 0 {
		return Policy{}, fault.New(fault.NotFound, "smart tag policy %.64q does not exist", policyID)
	}
	return st.Policies[i], nil
}

// Limited returns the policies of an organization as a list of MaxPolicies at most.
func Limited(org string) table.LimitedList {
	return table.LimitedList{PK: key(org, "").PK, Noun: "smart tag policies"}
}

// Add writes a new policy, together with take, the write of Limited.
func (s Store) Add(ctx context.Context, org string, p Policy, take table.Write) error {
	put, err := table.PutFields(key(org, policyPrefix+p.ID), p, table.Absent())
	if err != nil {
		return err
	}
	return changed(p.ID, s.write(ctx, org, put, take))
}

// Put writes a policy over its previous version. It returns fault.Conflict if the policy has changed meanwhile.
func (s Store) Put(ctx context.Context, org string, p Policy) error {
	cond := table.Absent()
	if p.Version > 1 {
		cond = table.Equal("version", p.Version-1)
	}
	put, err := table.PutFields(key(org, policyPrefix+p.ID), p, cond)
	if err != nil {
		return err
	}
	return changed(p.ID, s.write(ctx, org, put))
}

// write makes changes together with the new version.
func (s Store) write(ctx context.Context, org string, changes ...table.Write) error {
	version, err := inventory.NoteSmartTags(org, rand.Text())
	if err != nil {
		return err
	}
	return s.table.Transact(ctx, append(changes, version)...)
}

// Delete removes a policy as it was read. Its tags are no longer derived.
func (s Store) Delete(ctx context.Context, org string, p Policy) error {
	return changed(p.ID,
		s.write(ctx, org, table.Delete(key(org, policyPrefix+p.ID), table.Equal("version", p.Version))))
}

func changed(policyID string, err error) error {
	if _, lost := errors.AsType[*table.ConditionError](err); lost {
		return fault.NewWithCause(fault.Conflict, err,
			"smart tag policy %s was changed by someone else meanwhile; read it and try again", policyID)
	}
	return fault.Wrap("write smart tag policy "+policyID, err)
}

// Accept accepts tags with their values.
func (s Store) Accept(ctx context.Context, org string, tags []Derived) error {
	return s.change(ctx, org, tags, func(of map[string]map[string]string, d *Derived) {
		if of[d.UID] == nil {
			of[d.UID] = map[string]string{}
		}
		of[d.UID][d.Key] = d.Value
	})
}

// Revoke removes acceptances of tags, for any values.
func (s Store) Revoke(ctx context.Context, org string, tags []Derived) error {
	return s.change(ctx, org, tags, func(of map[string]map[string]string, d *Derived) {
		if delete(of[d.UID], d.Key); len(of[d.UID]) == 0 {
			delete(of, d.UID)
		}
	})
}

// tagEdit adds a tag to the accepted tags of a shelf, which are values by resource UID and tag key, or removes it.
type tagEdit func(accepted map[string]map[string]string, tag *Derived)

// change applies edit to the shelves of tags, one after another. Each change of a shelf is atomic.
func (s Store) change(ctx context.Context, org string, tags []Derived, edit tagEdit) error {
	on := map[uint32][]Derived{}
	for _, d := range tags {
		h := fnv.New32a()
		_, _ = h.Write([]byte(d.UID)) // a hash never fails
		n := h.Sum32() % shelves
		on[n] = append(on[n], d)
	}
	for _, n := range slices.Sorted(maps.Keys(on)) {
		if err := s.changeShelf(ctx, org, n, on[n], edit); err != nil {
			return fmt.Errorf("change the smart tags of %s: %w", org, err)
		}
	}
	return nil
}

// tries is how often a change is tried when there are concurrent changes.
const tries = 8

// changeShelf applies edit to shelf n for each of tags, in one conditional write. It tries again after a concurrent
// change of the shelf.
func (s Store) changeShelf(ctx context.Context, org string, n uint32, tags []Derived, edit tagEdit) error {
	k := key(org, fmt.Sprintf("%s%02d", acceptPrefix, n))
	for range tries {
		sh, err := table.Read[shelf](ctx, s.table, k)
		cond := table.Equal("version", sh.Version)
		if fault.Is(err, fault.NotFound) {
			cond, err = table.Absent(), nil
		}
		if err != nil {
			return err
		}
		next := shelf{sh.Version + 1, sh.Tags}
		if next.Tags == nil {
			next.Tags = map[string]map[string]string{}
		}
		for i := range tags {
			edit(next.Tags, &tags[i])
		}
		put, err := table.PutFields(k, next, cond)
		if err != nil {
			return err
		}
		err = s.write(ctx, org, put)
		if _, moved := errors.AsType[*table.ConditionError](err); !moved {
			return err
		}
	}
	return fault.New(fault.Conflict, "the smart tags are being changed by others; try again")
}
