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

// MaxOrganisations is the maximum number of cloud organizations in one of our organizations; one read returns all.
const MaxOrganisations = 20

// MemberRole is the default role to assume in each member of an AWS organization. The StackSet of the onboarding
// creates it.
const MemberRole = "lamplighter"

// The partitions of cloud organizations, of their members, and of their due times.
const (
	OrganisationPartition    table.Partition = "ORG#*#CORG"
	MemberPartition          table.Partition = "ORG#*#CORGMEMBER"
	OrganisationDuePartition table.Partition = OrganisationDuePrefix + "*"
)

// Organisation is a connected organization of a cloud. Sealed holds the credentials to list its members.
type Organisation struct {
	ID              string          `json:"id"` // corg_…
	Provider        string          `json:"provider"`
	NativeID        string          `json:"nativeID"` // "o-…", the id of a management group, "folders/1"
	Name            string          `json:"name"`
	AuthMethod      string          `json:"authMethod"`
	PermissionLevel string          `json:"permissionLevel"` // of each member: read_only, read_write
	Regions         []string        `json:"regions,omitempty"`
	EndpointURL     string          `json:"endpointURL,omitempty"`
	MemberRole      string          `json:"memberRole,omitempty"` // AWS: the role to assume in each member
	Include         MemberSelection `json:"include,omitzero"`
	Exclude         MemberSelection `json:"exclude,omitzero"`
	// incremented by changes that its members adopt: credentials, level, regions
	Revision     int       `json:"revision,omitempty"`
	Selected     int       `json:"selected,omitempty"` // incremented by changes of Include and Exclude
	Sealed       []byte    `json:"sealed,omitempty"`
	Status       string    `json:"status"` // as for an account
	Error        string    `json:"error,omitempty"`
	Sync         Sync      `json:"sync,omitzero"`
	JobID        string    `json:"jobID,omitempty"` // of Sync; each write of Sync requires this ID
	LastSyncedAt time.Time `json:"lastSyncedAt,omitzero"`
	// Pending is the state after the last synchronization. ConfirmationID is the ID that a person confirms, or empty.
	Pending        PendingEnding      `json:"pending,omitzero"`
	ConfirmationID string             `json:"confirmationID,omitempty"`
	Confirmed      EndingConfirmation `json:"confirmed,omitzero"`
	// the last mail to owners about members that wait for a confirmation
	OwnersToldAt time.Time `json:"ownersToldAt,omitzero"`
	CreatedAt    time.Time `json:"createdAt"`
	UpdatedAt    time.Time `json:"updatedAt"`
}

// Sync is the last synchronization.
type Sync struct {
	JobID       string               `json:"jobID,omitempty"`
	Status      string               `json:"status,omitempty"` // running, succeeded, failed
	Error       string               `json:"error,omitempty"`
	Members     map[MemberStatus]int `json:"members,omitempty"` // the number of members by status
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

// MemberStatus is the status of a member.
type MemberStatus string

// The statuses of members.
const (
	MemberConnected MemberStatus = "connected" // it is a cloud account
	MemberDuplicate MemberStatus = "duplicate" // it is a cloud account, but connected another way; Error says how
	MemberRefused   MemberStatus = "refused"   // it refuses access; Error is the cloud's message
	MemberExcluded  MemberStatus = "excluded"  // it is not selected
	MemberClosed    MemberStatus = "closed"    // it is suspended or being closed
	MemberLeft      MemberStatus = "left"      // it does not belong to the organization any more
	MemberRemoved   MemberStatus = "removed"   // its cloud account was deleted here, and is not connected again
)

// MemberStatuses are all statuses.
var MemberStatuses = []MemberStatus{
	MemberConnected, MemberDuplicate, MemberRefused, MemberExcluded, MemberClosed,
	MemberLeft, MemberRemoved,
}

// Member is an account of the organization and its status.
type Member struct {
	NativeID  string       `json:"nativeID"`
	Name      string       `json:"name"`
	Unit      string       `json:"unit,omitempty"` // its path from the root: "Root/Prod"
	Status    MemberStatus `json:"status"`
	AccountID string       `json:"accountID,omitempty"` // ca_…, empty until it is connected
	Revision  int          `json:"revision,omitempty"`  // Organisation.Revision when its account was opened
	Error     string       `json:"error,omitempty"`
	// Ending is closed, left or excluded, according to the listings since MissingSince, while the account is
	// connected.
	Ending       MemberStatus `json:"ending,omitempty"`
	MissingSince time.Time    `json:"missingSince,omitzero"`
	Awaits       string       `json:"awaits,omitempty"`   // the ID of the confirmation that its disconnection requires
	EndedAt      time.Time    `json:"endedAt,omitzero"`   // when its account was disconnected without a confirmation
	Selected     int          `json:"selected,omitempty"` // Organisation.Selected when the selection last included it
}

// MemberSelection selects members by ID, by unit (its ID or its name) and by tag ("key" or "key=value"). The zero
// value selects none.
type MemberSelection struct {
	IDs   []string `json:"ids,omitempty"`
	Units []string `json:"units,omitempty"`
	Tags  []string `json:"tags,omitempty"`
}

// IsEmpty reports whether the selection is empty.
func (s MemberSelection) IsEmpty() bool { return len(s.IDs)+len(s.Units)+len(s.Tags) == 0 }

// maxWord is the maximum length of an ID, unit or tag, in bytes.
const maxWord = 300

// Check validates the words of the selection. The error is fault.Invalid and names the field.
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

// Names reports whether the selection includes m.
func (s MemberSelection) Names(m cloud.Member) bool {
	// Azure IDs are case-insensitive; IDs of the other clouds exist in one case only
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

// Wants reports whether the member is to be connected: it is included, or Include is empty, and it is not excluded.
func (o Organisation) Wants(m cloud.Member) bool {
	return (o.Include.IsEmpty() || o.Include.Names(m)) && !o.Exclude.Names(m)
}

// AsksTags reports whether the selection depends on tags of members.
func (o Organisation) AsksTags() bool { return len(o.Include.Tags)+len(o.Exclude.Tags) > 0 }

// Account returns the organization in the form of an account, to open it. Its credentials are sealed like those of an
// account.
func (o Organisation) Account() inventory.Account {
	return inventory.Account{
		ID: o.ID, Provider: o.Provider, Organisation: o.NativeID, AuthMethod: o.AuthMethod, Regions: o.Regions,
		EndpointURL: o.EndpointURL, Sealed: o.Sealed,
	}
}

// OrganisationKey returns the key of an organization.
func OrganisationKey(org, id string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "CORG", SK: id}
}

// MemberKey returns the key of a member.
func MemberKey(org, id, native string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "CORGMEMBER", SK: id + "#" + native}
}

// ListOrganisations returns the cloud organizations, oldest first.
func ListOrganisations(ctx context.Context, s table.Store, org string) ([]Organisation, error) {
	all, _, err := table.ReadPage[Organisation](ctx, s,
		table.Query{PK: OrganisationKey(org, "").PK, Limit: MaxOrganisations + 1})
	if err != nil {
		return nil, fmt.Errorf("list cloud organisations of %s: %w", org, err)
	}
	return all, nil
}

// ListMembers returns all members of an organization, ordered by native ID.
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
