package cloudaccounts

import (
	"context"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

// patience is how long a cloud may take to report whether it accepts credentials: below the gateway's 29 seconds.
const patience = 25 * time.Second

// maxName is how many characters a name may have.
const maxName = 100

// NewAccount is the body of POST /cloud-accounts.
type NewAccount struct {
	Provider        string            `json:"provider" minLength:"1" maxLength:"32" doc:"aws, azure, gcp, kubernetes; simulated where the operator enables it" example:"aws"`
	CloudAccountID  string            `json:"cloudAccountID,omitempty" maxLength:"128" doc:"Native number: the account of aws, the subscription of azure, the project of gcp. Optional for kubernetes: the cluster tells the UID of its namespace kube-system" example:"123456789012"`
	Name            string            `json:"name" minLength:"1" maxLength:"100" doc:"Unique in the organization"`
	AuthMethod      string            `json:"authMethod" minLength:"1" maxLength:"64" doc:"aws: assume_role, static_keys, temporary_credentials; azure: service_principal, workload_identity_federation; gcp: service_account, workload_identity_federation, and oauth by POST /connect/gcp/oauth-finalize; kubernetes: kubeconfig; simulated: simulated"`
	PermissionLevel string            `json:"permissionLevel" enum:"read_only,read_write" doc:"Nothing is ever acted on in a read_only account"`
	Credentials     map[string]string `json:"credentials,omitempty" doc:"assume_role: roleArn; static_keys: accessKeyID, secretAccessKey; temporary_credentials: those and sessionToken; service_principal: tenantID, clientID, clientSecret; workload_identity_federation of azure: tenantID, clientID, of gcp: workloadIdentityProvider, serviceAccountEmail; service_account: serviceAccountKey, the text of the JSON key, or the fields of the key themselves; kubeconfig: kubeconfig, its text"`
	Regions         []string          `json:"regions,omitempty" maxItems:"100" doc:"Only these; every enabled one when left out"`
	EndpointURL     string            `json:"endpointURL,omitempty" maxLength:"512" doc:"An emulator or a private cloud, where the operator allows it"`
}

func (s *service) connectAccount(ctx context.Context, in *struct{ Body NewAccount }) (Account, error) {
	org, b, now := identity.CallerFrom(ctx).Org, in.Body, s.p.Clock.Now()
	a := inventory.Account{
		ID: id.New("ca", now), Provider: b.Provider, CloudAccountID: b.CloudAccountID, Name: b.Name,
		AuthMethod: b.AuthMethod, PermissionLevel: b.PermissionLevel, Regions: b.Regions, EndpointURL: b.EndpointURL,
		Status: inventory.AccountConnecting, CreatedAt: now, UpdatedAt: now,
	}
	if err := s.prepare(ctx, org, &a); err != nil {
		return Account{}, err
	}
	credentials, err := s.checkCredentials(ctx, org, a, b.Credentials)
	if err != nil {
		return Account{}, err
	}
	if a.Sealed, err = inventory.SealCredentials(ctx, s.p.Sealer, inventory.SecretPlace(org, a.ID), credentials); err != nil {
		return Account{}, err
	}
	return s.open(ctx, org, a)
}

// prepare checks what can be known of an account without asking the cloud, and brings it into the spelling that is stored.
func (s *service) prepare(ctx context.Context, org string, a *inventory.Account) error {
	pr, err := findProvider(s.p, a.Provider)
	if err != nil {
		return err
	}
	if err = pr.checkNative(a); err != nil {
		return err
	}
	if err = s.checkAccount(a); err != nil {
		return err
	}
	have, err := connection.ListAccounts(ctx, s.p.Table, org)
	if err != nil {
		return err
	}
	return connection.CheckVacant(*a, have)
}

// open has the cloud asked whether the sealed credentials of a open it, stores it, together with more, and has it discovered.
func (s *service) open(ctx context.Context, org string, a inventory.Account, more ...table.Write) (Account, error) {
	if err := s.verifyAccount(ctx, org, &a, nil); err != nil {
		return Account{}, err
	}
	j, err := connection.Create(ctx, s.p, org, &a, more...)
	if err != nil {
		return Account{}, err
	}
	discovery.StartMachine(ctx, s.p, org, j)
	return newAccountRecord(a), nil
}

// checkAccount brings the name into shape, and refuses names, regions and endpoints that cannot be.
func (s *service) checkAccount(a *inventory.Account) error {
	var err error
	if a.Name, err = displayname.CleanName("name", a.Name, maxName); err != nil {
		return err
	}
	regions := slices.Clone(a.Regions)
	slices.Sort(regions)
	a.Regions = slices.Compact(regions)
	for _, r := range a.Regions {
		if r == "" || len(r) > 64 {
			return fault.New(fault.Invalid, "regions: %.64q is not a region", r)
		}
	}
	if a.EndpointURL == "" {
		return nil
	}
	if !s.p.Settings.CustomEndpoints {
		return fault.New(fault.Invalid, "endpointURL: this deployment accepts no custom endpoints")
	}
	return s.checkReachable("endpointURL", a.EndpointURL)
}

// checkReachable refuses an address of a field that could only lead into our own network. What a name leads to is looked at
// again whenever it is dialled. The address is not repeated: there may be a password in it.
func (s *service) checkReachable(field, address string) error {
	err := ssrfguard.Policy{Private: s.p.Settings.PrivateAddresses, AnyPort: true}.CheckAddress(address)
	if err != nil {
		return fault.NewWithCause(fault.Invalid, err, "%s: %s", field, fault.Message(err))
	}
	return nil
}

// verifyAccount seals the credentials into a (nil leaves those that it has), and has the cloud asked whether they open the
// account that it claims to be.
func (s *service) verifyAccount(ctx context.Context, org string, a *inventory.Account, credentials map[string]string) error {
	if credentials != nil {
		sealed, err := inventory.SealCredentials(ctx, s.p.Sealer, inventory.SecretPlace(org, a.ID), credentials)
		if err != nil {
			return err
		}
		a.Sealed = sealed
	}
	var got inventory.Verified
	if err := s.askConnector(ctx, inventory.Question{Ask: inventory.AskVerify, Org: org, Account: *a}, &got); err != nil {
		return err
	}
	if a.CloudAccountID == "" || isProjectNumber(*a) {
		a.CloudAccountID = got.NativeID
	}
	if got.NativeID != a.CloudAccountID {
		return fault.New(fault.Invalid, "credentials: they open account %s, not %s", got.NativeID, a.CloudAccountID)
	}
	for _, r := range a.Regions {
		if got.Regions != nil && !slices.Contains(got.Regions, r) {
			return fault.New(fault.Invalid, "regions: %q is not enabled for the account", r)
		}
	}
	return nil
}

// isProjectNumber reports whether a project of Google is named by its number: what the cloud finds under it is stored by its id, so that
// it is there once.
func isProjectNumber(a inventory.Account) bool {
	return a.Provider == "gcp" && strings.Trim(a.CloudAccountID, "0123456789") == ""
}

func (s *service) askConnector(ctx context.Context, q inventory.Question, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.p.Workers.Invoke(ctx, inventory.Connector, q, answer)
}
