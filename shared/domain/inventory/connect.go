package inventory

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

// The statuses of an account.
const (
	AccountConnecting   = "connecting"   // stored, and not yet discovered
	AccountConnected    = "connected"    // the last discovery read everything
	AccountDegraded     = "degraded"     // a read or an action failed; Error has the reason
	AccountDisconnected = "disconnected" // the cloud no longer accepts the credentials
)

// The kinds of secrets of accounts.
const (
	AccountSecret = "cloud-account" // credentials
	ClusterSecret = "cluster"       // a kubeconfig
)

// SecretPlace returns the seal place of an account's credentials. They cannot be opened for another place.
func SecretPlace(org, accountID string) seal.Place {
	return seal.Place{Org: org, Kind: AccountSecret, ID: accountID}
}

// SealCredentials encrypts the credentials of an account, for Account.Sealed.
func SealCredentials(ctx context.Context, s seal.Sealer, p seal.Place, credentials map[string]string) ([]byte, error) {
	plain, err := json.Marshal(credentials)
	if err != nil {
		return nil, fmt.Errorf("encode credentials of %s: %w", p.ID, err)
	}
	sealed, err := s.Seal(ctx, p, plain)
	if err != nil {
		return nil, fmt.Errorf("seal credentials of %s: %w", p.ID, err)
	}
	return sealed, nil
}

// OpenCredentials decrypts credentials that SealCredentials sealed for the same place. Only workers may do that.
func OpenCredentials(ctx context.Context, s seal.Sealer, p seal.Place, sealed []byte) (map[string]string, error) {
	if len(sealed) == 0 {
		return map[string]string{}, nil // workload identity has no secret
	}
	plain, err := s.Open(ctx, p, sealed)
	if err != nil {
		return nil, fmt.Errorf("open credentials of %s: %w", p.ID, err)
	}
	var credentials map[string]string
	if err = json.Unmarshal(plain, &credentials); err != nil {
		return nil, fmt.Errorf("decode credentials of %s: %w", p.ID, err)
	}
	return credentials, nil
}

// Clouds connects to accounts. Sealer opens their credentials, and Providers are the providers of this process.
type Clouds struct {
	Sealer    seal.Sealer
	Providers cloud.Providers
}

// Connect opens the credentials of the organization's account a and connects to it. It makes no call to the cloud,
// except one to identify an unverified account. A provider that this process does not have is fault.Invalid.
func (c Clouds) Connect(ctx context.Context, org string, a Account) (cloud.Conn, error) {
	p := c.Providers[a.Provider]
	if p == nil {
		return nil, fault.New(fault.Invalid, "provider: %.32q is not available in this deployment; available: %s",
			a.Provider, strings.Join(slices.Sorted(maps.Keys(c.Providers)), ", "))
	}
	credentials, err := OpenCredentials(ctx, c.Sealer, SecretPlace(org, a.ID), a.Sealed)
	if err != nil {
		return nil, err
	}
	conn, err := cloud.ConnectRedacted(ctx, p, cloud.Account{
		Org: org, ID: a.ID, Provider: a.Provider, NativeID: a.CloudAccountID, Organisation: a.Organisation,
		AuthMethod:  a.AuthMethod,
		Credentials: credentials, Regions: a.Regions, EndpointURL: a.EndpointURL, Billing: a.Billing,
	})
	if err != nil {
		return nil, fmt.Errorf("connect account %s: %w", a.ID, err)
	}
	return conn, checkIdentity(ctx, conn, a)
}

// checkIdentity refuses a connection of an unverified account whose credentials open another account.
func checkIdentity(ctx context.Context, conn cloud.Conn, a Account) error {
	if !a.Unverified || a.IDIsProvisional() {
		return nil
	}
	native, err := conn.Identify(ctx)
	if err != nil {
		return fmt.Errorf("identify account %s: %w", a.ID, err)
	}
	if native != a.CloudAccountID {
		return &cloud.Error{
			Class:   cloud.Refused,
			Message: fmt.Sprintf("the credentials open account %s, not %s", native, a.CloudAccountID),
		}
	}
	return nil
}

// IDIsProvisional reports whether the native id of the account is known only after the credentials are verified: it
// was left out, or is the number of a Google project, which is stored by its id.
func (a Account) IDIsProvisional() bool {
	return a.CloudAccountID == "" || a.CloudAccountID == a.ID ||
		a.Provider == "gcp" && strings.Trim(a.CloudAccountID, "0123456789") == ""
}
