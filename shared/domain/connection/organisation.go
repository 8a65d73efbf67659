// Package cloudorganisation keeps the record of each connected organization of a cloud (an AWS organization, a management group, a
// folder), which of its members are wanted, and what became of each. The operations that connect one and the worker that
// synchronizes it meet here.
package connection

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// MaxOrganisations is how many an organization of ours can have: a list of them is one read.
const MaxOrganisations = 20

// MemberRole is the role that is assumed in each member of an AWS organization where the connection names none: the one that the StackSet
// of the onboarding makes.
const MemberRole = "lamplighter"

// The partitions of the records, of their members, and of when they are due.
const (
	OrganisationPartition    table.Partition = "ORG#*#CORG"
	MemberPartition          table.Partition = "ORG#*#CORGMEMBER"
	OrganisationDuePartition table.Partition = OrganisationDuePrefix + "*"
)

// Organisation is a connected organization of a cloud. Sealed are the credentials that list its members.
type Organisation struct {
	ID              string          `json:"id"` // corg_…
	Provider        string          `json:"provider"`
	NativeID        string          `json:"nativeID"` // "o-…", the id of a management group, "folders/1"
	Name            string          `json:"name"`
	AuthMethod      string          `json:"authMethod"`
	PermissionLevel string          `json:"permissionLevel"` // of each member: read_only, read_write
	Regions         []string        `json:"regions,omitempty"`
	EndpointURL     string          `json:"endpointURL,omitempty"`
	MemberRole      string          `json:"memberRole,omitempty"` // of AWS: the role that is assumed in each member
	Include         MemberSelection `json:"include,omitzero"`
	Exclude         MemberSelection `json:"exclude,omitzero"`
	// counts the changes of what members take over: credentials, level, regions
	Revision     int       `json:"revision,omitempty"`
	Selected     int       `json:"selected,omitempty"` // counts the changes of Include and Exclude
	Sealed       []byte    `json:"sealed,omitempty"`
	Status       string    `json:"status"` // as of an account
	Error        string    `json:"error,omitempty"`
	Sync         Sync      `json:"sync,omitzero"`
	JobID        string    `json:"jobID,omitempty"` // of Sync: what changes of it are conditioned on
	LastSyncedAt time.Time `json:"lastSyncedAt,omitzero"`
	// PendingEnding is as of the last synchronization. ConfirmationID is empty, or what a person confirms.
	Pending        PendingEnding      `json:"pending,omitzero"`
	ConfirmationID string             `json:"confirmationID,omitempty"`
	Confirmed      EndingConfirmation `json:"confirmed,omitzero"`
	// when owners were last mailed that members wait for a confirmation
	OwnersToldAt time.Time `json:"ownersToldAt,omitzero"`
	CreatedAt    time.Time `json:"createdAt"`
	UpdatedAt    time.Time `json:"updatedAt"`
}

// Sync is the newest synchronization.
type Sync struct {
	JobID       string               `json:"jobID,omitempty"`
	Status      string               `json:"status,omitempty"` // running, succeeded, failed
	Error       string               `json:"error,omitempty"`
	Members     map[MemberStatus]int `json:"members,omitempty"` // how many there are of each status
	StartedAt   time.Time            `json:"startedAt,omitzero"`
	CompletedAt time.Time            `json:"completedAt,omitzero"`
	Cursor      SyncCursor           `json:"cursor,omitzero"`
}

// The statuses of a synchronization.
const (
	SyncRunning   = "running"
	SyncSucceeded = "succeeded"
	SyncFailed    = "failed"
)

// MemberStatus is what became of a member.
type MemberStatus string

// The statuses of members.
const (
	MemberConnected MemberStatus = "connected" // it is a cloud account
	MemberDuplicate MemberStatus = "duplicate" // it is a cloud account that was connected otherwise; Error says how
	MemberRefused   MemberStatus = "refused"   // it does not let us in; Error is the cloud's word
	MemberExcluded  MemberStatus = "excluded"  // it is not wanted
	MemberClosed    MemberStatus = "closed"    // it is suspended or being closed
	MemberLeft      MemberStatus = "left"      // it belongs to the organization no more
	MemberRemoved   MemberStatus = "removed"   // its cloud account was deleted here, and stays so
)

// MemberStatuses are all that there are.
var MemberStatuses = []MemberStatus{MemberConnected, MemberDuplicate, MemberRefused, MemberExcluded, MemberClosed, MemberLeft, MemberRemoved}

// Member is an account of the organization, and what became of it.
type Member struct {
	NativeID  string       `json:"nativeID"`
	Name      string       `json:"name"`
	Unit      string       `json:"unit,omitempty"` // its way from the root: "Root/Prod"
	Status    MemberStatus `json:"status"`
	AccountID string       `json:"accountID,omitempty"` // ca_…, once it was connected
	Revision  int          `json:"revision,omitempty"`  // of the organization, that its account was opened with
	Error     string       `json:"error,omitempty"`
	// Ending is closed, left or excluded, as the listings since MissingSince say, while the account is still connected.
	Ending       MemberStatus `json:"ending,omitempty"`
	MissingSince time.Time    `json:"missingSince,omitzero"`
	Awaits       string       `json:"awaits,omitempty"`   // the ID of the confirmation that disconnecting it waits for
	EndedAt      time.Time    `json:"endedAt,omitzero"`   // when its account was disconnected without a confirmation
	Selected     int          `json:"selected,omitempty"` // Organisation.Selected when the selection last named it
}

// MemberSelection names members by id, by unit (its id or its name) and by tag ("key" or "key=value"). The zero value names none.
type MemberSelection struct {
	IDs   []string `json:"ids,omitempty"`
	Units []string `json:"units,omitempty"`
	Tags  []string `json:"tags,omitempty"`
}

// IsEmpty reports whether it names nothing.
func (s MemberSelection) IsEmpty() bool { return len(s.IDs)+len(s.Units)+len(s.Tags) == 0 }

// maxWord bounds one id, unit or tag.
const maxWord = 300

// Check refuses words that can name nothing, and says in which field: fault.Invalid.
func (s MemberSelection) Check(field string) error {
	for part, words := range map[string][]string{"ids": s.IDs, "units": s.Units, "tags": s.Tags} {
		for _, w := range words {
			if key, _, _ := strings.Cut(w, "="); key == "" || len(w) > maxWord {
				return fault.New(fault.Invalid, "%s.%s: %.64q names nothing", field, part, w)
			}
		}
	}
	return nil
}

// Names reports whether m is among those named.
func (s MemberSelection) Names(m cloud.Member) bool {
	// Azure's ids are the same in either case, and those of others in one alone
	is := func(id string) func(string) bool {
		return func(word string) bool { return strings.EqualFold(word, id) }
	}
	if slices.ContainsFunc(s.IDs, is(m.NativeID)) {
		return true
	}
	for _, u := range m.Units {
		if slices.ContainsFunc(s.Units, is(u.ID)) || slices.Contains(s.Units, u.Name) {
			return true
		}
	}
	for _, t := range s.Tags {
		key, value, valued := strings.Cut(t, "=")
		if got, ok := m.Tags[key]; ok && (!valued || got == value) {
			return true
		}
	}
	return false
}

// Wants reports whether the member is to be connected: it is included, as all are when nothing is, and not excluded.
func (o Organisation) Wants(m cloud.Member) bool {
	return (o.Include.IsEmpty() || o.Include.Names(m)) && !o.Exclude.Names(m)
}

// AsksTags reports whether the tags of members decide.
func (o Organisation) AsksTags() bool { return len(o.Include.Tags)+len(o.Exclude.Tags) > 0 }

// Account returns the connection as an account, which is how it is opened; its credentials are sealed as those of one.
func (o Organisation) Account() inventory.Account {
	return inventory.Account{
		ID: o.ID, Provider: o.Provider, Organisation: o.NativeID, AuthMethod: o.AuthMethod, Regions: o.Regions,
		EndpointURL: o.EndpointURL, Sealed: o.Sealed,
	}
}

// OrganisationKey returns where an organization is stored.
func OrganisationKey(org, id string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "CORG", SK: id}
}

// MemberKey returns where a member is stored.
func MemberKey(org, id, native string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "CORGMEMBER", SK: id + "#" + native}
}

// ListOrganisations reads the organizations, oldest first.
func ListOrganisations(ctx context.Context, s table.Store, org string) ([]Organisation, error) {
	all, _, err := table.ReadPage[Organisation](ctx, s, table.Query{PK: OrganisationKey(org, "").PK, Limit: MaxOrganisations + 1})
	if err != nil {
		return nil, fmt.Errorf("list cloud organisations of %s: %w", org, err)
	}
	return all, nil
}

// ListMembers reads all members of an organization, by their native ids.
func ListMembers(ctx context.Context, s table.Store, org, id string) ([]Member, error) {
	q := table.Query{PK: MemberKey(org, id, "").PK, Prefix: id + "#", Limit: 1000}
	var out []Member
	for {
		page, next, err := table.ReadPage[Member](ctx, s, q)
		if err != nil {
			return nil, fmt.Errorf("list members of %s: %w", id, err)
		}
		out = append(out, page...)
		if q.Cursor = next; next == "" {
			slices.SortFunc(out, func(a, b Member) int { return cmp.Compare(a.NativeID, b.NativeID) })
			return out, nil
		}
	}
}

// PutMember returns the write that stores a member.
func PutMember(org, id string, m Member) (table.Write, error) {
	it, err := table.NewItem(MemberKey(org, id, m.NativeID), m)
	return table.Put(it), err
}
