package cloudaccounts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes/kubeconfig"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

// Access is the body of PUT …/access: the method for entering a cluster.
type Access struct {
	Method     string `json:"method" enum:"cloud_iam,kubeconfig" doc:"cloud_iam: with the account's credentials; kubeconfig: with the kubeconfig field"`
	Kubeconfig string `json:"kubeconfig,omitempty" maxLength:"262144" doc:"For method kubeconfig: YAML or JSON, with a token or a client certificate in it. Only its current context is stored, encrypted and never returned"`
}

type accessInput struct {
	ClusterPath
	Body Access
}

// registerCluster makes a cluster available for deployments. It replaces an earlier registration.
func (s *service) registerCluster(ctx context.Context, in *accessInput) (Cluster, error) {
	org := identity.CallerOrg(ctx)
	a, err := s.readAccount(ctx, org, in.AccountID)
	if err != nil {
		return Cluster{}, err
	}
	name, err := in.clusterToChange(ctx)
	if err != nil {
		return Cluster{}, err
	}
	secret, err := s.secretOf(in.Body)
	if err != nil {
		return Cluster{}, err
	}
	r := inventory.Registration{
		ClusterName: name, AccountID: a.ID, Method: in.Body.Method,
		RegisteredAt: s.p.Clock.Now(),
	}
	if r.Sealed, err = s.sealSecret(ctx, inventory.ClusterPlace(org, a.ID, name), secret); err != nil {
		return Cluster{}, err
	}
	got, err := s.reviewCluster(ctx, org, a, r)
	if err == nil {
		err = checkEnterable(got.Cluster, in.Body.Method)
	}
	if err != nil {
		return Cluster{}, err
	}
	r.Check = got.Check
	return newCluster(a, got.Cluster, &r), s.storeRegistration(ctx, org, r)
}

// secretOf returns the secret part of the body, or nil for method cloud_iam.
func (s *service) secretOf(b Access) (*kubeconfig.Access, error) {
	switch {
	case b.Method == inventory.CloudIAM && b.Kubeconfig != "":
		return nil, fault.New(fault.Invalid, "kubeconfig: is only for method kubeconfig")
	case b.Method == inventory.CloudIAM:
		return nil, nil //nolint:nilnil // there is none
	case b.Kubeconfig == "":
		return nil, fault.New(fault.Invalid, "kubeconfig: is required for method kubeconfig")
	}
	a, err := kubeconfig.ParseKubeconfig(b.Kubeconfig, s.p.Clock.Now())
	if err == nil {
		err = s.opener.CheckReachable("kubeconfig: server", a.Server)
	}
	return &a, err
}

// reviewCluster asks the cloud for the state of the cluster, and the cluster for the permissions of the registration.
func (s *service) reviewCluster(ctx context.Context, org string, a inventory.Account,
	r inventory.Registration,
) (got inventory.ClusterReview, err error) {
	q := inventory.ClusterQuery{Region: r.Region, Name: r.Name}
	err = s.opener.Ask(ctx,
		inventory.Question{Ask: inventory.AskClusterReview, Org: org, Account: a, Clusters: q, Registration: r}, &got)
	return got, err
}

// checkEnterable refuses a cluster that the credentials of the account cannot enter: with method cloud_iam it must be
// active.
func checkEnterable(c cloud.Cluster, method string) error {
	if method == inventory.CloudIAM && c.Status != cloud.ClusterActive {
		return fault.New(fault.Invalid, "the cluster %s in region %s is %s: for method cloud_iam it has to be active",
			c.Name, c.Region, c.Status)
	}
	return nil
}

func (s *service) sealSecret(ctx context.Context, p seal.Place, secret *kubeconfig.Access) ([]byte, error) {
	if secret == nil {
		return nil, nil
	}
	plain, err := json.Marshal(secret)
	if err != nil {
		return nil, fmt.Errorf("encode kubeconfig of %s: %w", p.ID, err)
	}
	sealed, err := s.p.Sealer.Seal(ctx, p, plain)
	if err != nil {
		return nil, fmt.Errorf("seal kubeconfig of %s: %w", p.ID, err)
	}
	return sealed, nil
}

// storeRegistration replaces an existing registration, or adds a new one and counts it on the account. It tries both,
// because either may be the case when it writes.
func (s *service) storeRegistration(ctx context.Context, org string, r inventory.Registration) error {
	account, key := inventory.AccountKey(org, r.AccountID), inventory.ClusterKey(org, r.AccountID, r.ClusterName)
	again, err := table.PutFields(key, r, table.Exists())
	if err != nil {
		return err
	}
	first, err := table.PutFields(key, r, table.Absent())
	if err != nil {
		return err
	}
	for range 3 { // each time that somebody else registered or deregistered it meanwhile
		err = s.p.Table.Transact(ctx, table.Check(account, table.Exists()), again)
		if lost, ok := errors.AsType[*table.ConditionError](err); !ok {
			return fault.Wrap("replace cluster "+r.Name, err)
		} else if _, gone := lost.Old(0); gone {
			return connection.ErrUnknown(r.AccountID)
		}
		err = s.p.Table.Transact(ctx, table.Update(account, []table.Change{table.Add("clusters", 1)}, table.Exists(),
			table.Any(table.Lacks("clusters"), table.Less("clusters", inventory.MaxClusters))), first)
		if lost, ok := errors.AsType[*table.ConditionError](err); !ok {
			return fault.Wrap("register cluster "+r.Name, err)
		} else if was, full := lost.Old(0); full {
			return registrationRefusal(was, r.AccountID)
		}
	}
	return fault.New(fault.Unavailable, "the cluster %s is registered and deregistered by others just now: try again",
		r.Name)
}

// registrationRefusal returns why the account accepted no registration: it has too many, or it is gone.
func registrationRefusal(was table.Item, accountID string) error {
	if was.Data == nil {
		return connection.ErrUnknown(accountID)
	}
	return fault.New(fault.Invalid,
		"the account has %d registered clusters, which is the most that it can have: deregister one",
		inventory.MaxClusters)
}

// deregisterCluster deletes a registration. It does not ask the cloud, because the cluster may no longer exist.
func (s *service) deregisterCluster(ctx context.Context, in *ClusterPath) (rest.Deleted, error) {
	org := identity.CallerOrg(ctx)
	a, err := s.readAccount(ctx, org, in.AccountID)
	if err != nil {
		return rest.Deleted{}, err
	}
	name, err := in.clusterToChange(ctx)
	if err != nil {
		return rest.Deleted{}, err
	}
	err = s.p.Table.Transact(ctx, table.Delete(inventory.ClusterKey(org, a.ID, name), table.Exists()),
		table.Update(inventory.AccountKey(org, a.ID), []table.Change{table.Add("clusters", -1)}, table.Exists()))
	if lost, ok := errors.AsType[*table.ConditionError](err); ok {
		if _, gone := lost.Old(1); gone {
			return rest.Deleted{}, connection.ErrUnknown(a.ID)
		}
		return rest.Deleted{},
			fault.New(fault.NotFound, "the cluster %.128q in region %.64q is not registered", name.Name, name.Region)
	}
	if err != nil {
		return rest.Deleted{}, fmt.Errorf("deregister cluster %s: %w", name.Name, err)
	}
	return rest.Deleted{ID: name.Region + "/" + name.Name}, nil
}
