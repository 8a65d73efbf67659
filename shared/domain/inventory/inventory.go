// Package inventory keeps the resources in the clouds of organizations: the records that discovery writes, actions
// change and readers list, the groups and teams of resources, and the rights to see them. Every page of a long list
// costs two round trips, because package index holds the listed fields.
package inventory

import (
	"cmp"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Account is a connected cloud account. Sealed are its credentials: only workers can open them.
type Account struct {
	ID       string `json:"id"`
	Provider string `json:"provider"`
	// the native account, subscription or project number
	CloudAccountID string `json:"cloudAccountID"`
	// the native id of a whole organization, for its connection; never stored
	Organisation    string `json:"organisation,omitempty"`
	Name            string `json:"name"`
	AuthMethod      string `json:"authMethod"`
	PermissionLevel string `json:"permissionLevel"` // read_only, read_write
	// prod or nonprod: the environment of resources whose tags name none; "" if they are of several
	Environment string             `json:"environment,omitempty"`
	Regions     []string           `json:"regions,omitempty"`
	EndpointURL string             `json:"endpointURL,omitempty"`
	Billing     cloud.BillSettings `json:"billing,omitzero"` // where its bills are; empty settings are discovered
	Sealed      []byte             `json:"sealed,omitempty"`
	Status      string             `json:"status"` // connecting, connected, degraded, disconnected
	Error       string             `json:"error,omitempty"`
	// the cloud has not confirmed yet that the credentials open this account: Clouds.Connect checks it each time
	Unverified bool `json:"unverified,omitempty"`
	// closed, left, excluded: why the synchronization of its organization disconnected it
	Ended            string    `json:"ended,omitempty"`
	LastDiscoveredAt time.Time `json:"lastDiscoveredAt,omitzero"`
	SeenFrom         time.Time `json:"seenFrom,omitzero"`     // when the pass began that saw all of it last
	LastSyncedAt     time.Time `json:"lastSyncedAt,omitzero"` // when its bills were last read
	ResourceCount    int       `json:"resourceCount"`
	// the discovery under way (shared/domain/discovery)
	JobID string `json:"jobID,omitempty"`
	// registrations of its clusters: rows at ClusterKey
	Clusters int `json:"clusters,omitempty"`
	// how often resources of it were put into groups and teams: HoldAccounts
	Uses int64 `json:"uses,omitempty"`
	// corg_…, of the cloud's organization that it was connected through
	OrganisationID string `json:"organisationID,omitempty"`
	// corg_…, of the deleted cloud organization that it was connected through
	ReleasedFrom string    `json:"releasedFrom,omitempty"`
	CreatedAt    time.Time `json:"createdAt"`
	UpdatedAt    time.Time `json:"updatedAt"`
}

// ReadOnly reports whether the account may never be acted on.
func (a Account) ReadOnly() bool { return a.PermissionLevel == "read_only" }

// Disconnection returns why the account cannot be opened any more, or "" while it is connected.
func (a Account) Disconnection() string {
	if a.Status != AccountDisconnected {
		return ""
	}
	return "its cloud account is disconnected: " + cmp.Or(a.Error, "the cloud does not accept its credentials")
}

// RefuseEnded returns the error of a request to open the account, when the synchronization of its cloud organisation
// has disconnected it: fault.Conflict. It returns nil for any other account.
func (a Account) RefuseEnded() error {
	if a.Ended == "" {
		return nil
	}
	return fault.New(fault.Conflict,
		"cloud account %s is disconnected: %s; a synchronization of cloud organisation %s connects it again "+
			"when the cloud lists it as open and include and exclude select it", a.ID, a.Error, a.OrganisationID)
}

// Resource is the record of one resource. ActionID and ActionType are the action in flight, empty when there is none.
type Resource struct {
	ID             string            `json:"id"`  // res_…
	UID            string            `json:"uid"` // native identifier
	Name           string            `json:"name"`
	Type           string            `json:"type"`
	Provider       string            `json:"provider"`
	CloudAccountID string            `json:"cloudAccountID"` // ca_…
	Region         string            `json:"region"`
	Zone           string            `json:"zone,omitempty"`
	Status         cloud.Status      `json:"status"`
	InstanceType   string            `json:"instanceType,omitempty"`
	Capacity       map[string]int64  `json:"capacity,omitempty"`
	Tags           map[string]string `json:"tags,omitempty"`
	ParentUID      string            `json:"parentUID,omitempty"`
	Unschedulable  string            `json:"unschedulable,omitempty"`
	ActionID       string            `json:"actionID,omitempty"`
	ActionType     cloud.Verb        `json:"actionType,omitempty"`
	// Unix microseconds of the observation behind Status: the newest wins
	StatusAt     int64       `json:"statusAt"`
	Scan         string      `json:"scan,omitempty"`
	Facts        cloud.Facts `json:"facts,omitempty"` // only in the record; the index knows their sum
	FactsSum     int64       `json:"-"`               // cloud.Facts.Sum of the discovered facts, 0 without facts
	PriceInputs  string      `json:"-"`               // IndexedFacts; only in the index
	DiscoveredAt time.Time   `json:"discoveredAt"`
	LastSeenAt   time.Time   `json:"lastSeenAt"`
	CreatedAt    time.Time   `json:"createdAt,omitzero"`
}

// AccountKey returns where an account is stored.
func AccountKey(org, accountID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "CA", SK: accountID}
}

// ResourceShards is the number of partitions for the records of an organization's resources. A first discovery, or a
// bulk action of 10,000, writes more than one partition takes.
const ResourceShards = 16

// resources returns the partitions of an organization's resource records. They are only ever read by their keys.
func resources(org string) table.Spread {
	return table.Spread{PK: table.OrgPK(org) + "RES", Shards: ResourceShards}
}

// ResourceKey returns where the record of a resource is stored.
func ResourceKey(org, uid string) table.Key { return resources(org).Key(uid) }

// ResourcePKs returns the partitions of an organization's records of resources.
func ResourcePKs(org string) []string { return resources(org).PKs() }
