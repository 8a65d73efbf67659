package cloudaccounts

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/id"
)

// NewAccount is the body of POST /cloud-accounts.
type NewAccount struct {
	Provider        string             `json:"provider" minLength:"1" maxLength:"32" doc:"aws, azure, gcp, kubernetes; simulated where the operator enables it" example:"aws"`
	CloudAccountID  string             `json:"cloudAccountID,omitempty" maxLength:"128" doc:"Native number: the account of aws, the subscription of azure, the project of gcp. Optional for kubernetes: the cluster tells the UID of its namespace kube-system" example:"123456789012"`
	Name            string             `json:"name" minLength:"1" maxLength:"100" doc:"Unique in the organization"`
	AuthMethod      string             `json:"authMethod" minLength:"1" maxLength:"64" doc:"aws: assume_role, static_keys, temporary_credentials; azure: service_principal, workload_identity_federation; gcp: service_account, workload_identity_federation, and oauth by POST /connect/gcp/oauth-finalize; kubernetes: kubeconfig; simulated: simulated"`
	PermissionLevel string             `json:"permissionLevel" enum:"read_only,read_write" doc:"A read_only account is never changed"`
	Environment     string             `json:"environment,omitempty" enum:"prod,nonprod" doc:"The environment of the resources whose tags name none, for recommendations; absent if they are of several"`
	Credentials     map[string]string  `json:"credentials,omitempty" doc:"assume_role: roleArn; static_keys: accessKeyID, secretAccessKey; temporary_credentials: those and sessionToken; service_principal: tenantID, clientID, clientSecret; workload_identity_federation of azure: tenantID, clientID, of gcp: workloadIdentityProvider, serviceAccountEmail; service_account: serviceAccountKey, the text of the JSON key, or the fields of the key themselves; kubeconfig: kubeconfig, its text, and where the cluster's Prometheus is not found in it or may not be asked through its API, prometheusURL and prometheusToken, a bearer token"`
	Regions         []string           `json:"regions,omitempty" maxItems:"100" doc:"Default: every enabled region"`
	EndpointURL     string             `json:"endpointURL,omitempty" maxLength:"512" doc:"An emulator or a private cloud, where the operator allows it"`
	Billing         cloud.BillSettings `json:"billing,omitzero" doc:"The location of the account's bills. If absent, the exports are listed and the best one is read. GET /cloud-accounts/{provider}/onboarding lists the permissions for that"`
}

func (s *service) connectAccount(ctx context.Context, in *struct{ Body NewAccount }) (connection.Account, error) {
	org, b, now := identity.CallerOrg(ctx), in.Body, s.p.Clock.Now()
	a := inventory.Account{
		ID: id.New("ca", now), Provider: b.Provider, CloudAccountID: b.CloudAccountID, Name: b.Name,
		AuthMethod: b.AuthMethod, PermissionLevel: b.PermissionLevel, Environment: b.Environment, Regions: b.Regions,
		EndpointURL: b.EndpointURL, Billing: b.Billing,
		Status: inventory.AccountConnecting, CreatedAt: now, UpdatedAt: now,
	}
	if err := s.opener.Prepare(ctx, org, &a); err != nil {
		return connection.Account{}, err
	}
	credentials, err := s.opener.CheckCredentials(ctx, org, a, b.Credentials)
	if err != nil {
		return connection.Account{}, err
	}
	if a.Sealed, err = inventory.SealCredentials(ctx, s.p.Sealer, inventory.SecretPlace(org, a.ID),
		credentials); err != nil {
		return connection.Account{}, err
	}
	return s.opener.Open(ctx, org, a)
}
