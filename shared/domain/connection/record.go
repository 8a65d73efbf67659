package connection

import (
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// Account is the record of a connected account, without its credentials.
type Account struct {
	ID               string     `json:"id" example:"ca_01jzk5x0h2v3m4n5p6q7r8s9ta"`
	Provider         string     `json:"provider" example:"aws"`
	CloudAccountID   string     `json:"cloudAccountID" doc:"Native account number" example:"123456789012"`
	Name             string     `json:"name"`
	AuthMethod       string     `json:"authMethod" example:"assume_role"`
	PermissionLevel  string     `json:"permissionLevel" enum:"read_only,read_write"`
	Environment      *string    `json:"environment" enum:"prod,nonprod" doc:"The environment of the resources whose tags name none; null if it is not set"`
	Regions          []string   `json:"regions" doc:"The regions that are discovered; empty means every enabled one"`
	EndpointURL      *string    `json:"endpointURL" doc:"An emulator or a private cloud, else null"`
	Billing          *Billing   `json:"billing" doc:"Where its bills are, as it was connected; null where they are found"`
	Status           string     `json:"status" enum:"connecting,connected,degraded,disconnected"`
	Error            *string    `json:"error" doc:"Why the account is degraded or disconnected, in the cloud's own words, or why its cloud was not asked yet, else null"`
	LastDiscoveredAt *time.Time `json:"lastDiscoveredAt" doc:"Null until it is discovered"`
	LastSyncedAt     *time.Time `json:"lastSyncedAt" doc:"When its bills were last read; null until they are"`
	ResourceCount    int        `json:"resourceCount" doc:"Resources found by the last discovery"`
	JobID            *string    `json:"jobID" doc:"The discovery under way: GET /cloud-accounts/{accountID}/discover/{jobID}; null when there is none"`
	OrganisationID   *string    `json:"cloudOrganisationID" doc:"The cloud organisation that it was connected through, else null"`
	CreatedAt        time.Time  `json:"createdAt"`
	UpdatedAt        time.Time  `json:"updatedAt"`
}

// NewRecord returns the record of an account.
func NewRecord(a inventory.Account) Account {
	return Account{
		ID: a.ID, Provider: a.Provider, CloudAccountID: a.CloudAccountID, Name: a.Name, AuthMethod: a.AuthMethod,
		PermissionLevel: a.PermissionLevel, Environment: rest.Optional(a.Environment),
		Regions: append([]string{}, a.Regions...), EndpointURL: rest.Optional(a.EndpointURL),
		Billing: newBilling(a.Billing), Status: a.Status, Error: rest.Optional(a.Error),
		LastDiscoveredAt: rest.Optional(a.LastDiscoveredAt), LastSyncedAt: rest.Optional(a.LastSyncedAt),
		ResourceCount: a.ResourceCount, JobID: rest.Optional(a.JobID),
		OrganisationID: rest.Optional(a.OrganisationID), CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
	}
}

// AuditedAccount is the record of a changed account in the audit log. It contains no credentials.
type AuditedAccount struct {
	Account
	CredentialsReplaced bool `json:"credentialsReplaced"`
}

// ErrUnknown returns the error for an account that does not exist.
func ErrUnknown(accountID string) error {
	return fault.New(fault.NotFound, "there is no cloud account %.64q", accountID)
}
