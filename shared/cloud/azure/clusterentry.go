package azure

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes/kubeconfig"
	"lamplighter.dev/shared/foundation/fault"
)

// aksScope is the scope of tokens for AKS clusters with Entra: the id of its application, the same in all tenants.
const aksScope = "6dae42f8-4368-4678-94ff-3960e28e3630/.default"

const credentialVerb = "listClusterUserCredential"

var _ cloud.ClusterAccess = (*conn)(nil)

// EnterCluster returns the address of an AKS cluster and the source of its tokens. A token of Entra opens the cluster
// if the customer has given the application a role in it. Only address and authority are taken from the kubeconfig
// that Azure returns, because its user names a plugin.
func (c *conn) EnterCluster(ctx context.Context, region, name string) (cloud.ClusterEntry, error) {
	r, err := c.findCluster(ctx, region, name)
	if err != nil {
		return cloud.ClusterEntry{}, err
	}
	k, err := decodeProperties[aksCluster](r)
	if err == nil {
		err = k.enterable(name)
	}
	if err != nil {
		return cloud.ClusterEntry{}, err
	}
	text, err := c.userKubeconfig(ctx, r)
	if err != nil {
		return cloud.ClusterEntry{}, err
	}
	a, err := kubeconfig.ParseCluster(text)
	if err != nil {
		return cloud.ClusterEntry{},
			cloud.ErrInvalid("the kubeconfig that AKS returned for the cluster %s cannot be used: %s", name,
				fault.Message(err))
	}
	return cloud.ClusterEntry{
		UID: uidOf(r.ID), Server: a.Server, ServerName: a.ServerName, Authority: a.Authority,
		Token: c.clusterToken,
	}, nil
}

// enterable returns why a cluster cannot be entered.
func (k aksCluster) enterable(name string) error {
	name = "the AKS cluster " + name
	switch state := strings.ToLower(k.ProvisioningState); {
	case k.Access.Private:
		return cloud.ErrNoPublicEndpoint(name)
	case len(k.Entra) == 0 || string(k.Entra) == "null":
		return &cloud.Error{
			Class: cloud.Unsupported, Code: "NoEntra",
			Message: name +
				" does not take tokens of Microsoft Entra: switch that on (az aks update --enable-aad), or register " +
				"the cluster with a kubeconfig",
		}
	case strings.EqualFold(k.PowerState.Code, "stopped") && state != "starting" && state != "deleting":
		return &cloud.Error{
			Class: cloud.Moving, Code: cloud.ClusterStopped,
			Message: name + " is stopped: nothing answers in it until it is started",
		}
	case !strings.EqualFold(k.PowerState.Code, "running"), state == "creating", state == "deleting":
		return &cloud.Error{
			Class: cloud.Moving, Code: "NotRunning",
			Message: name + " is " + k.PowerState.Code + ", " + k.ProvisioningState + ": nothing answers in it",
		}
	}
	return nil
}

func (c *conn) userKubeconfig(ctx context.Context, r resource) (string, error) {
	var out struct {
		Kubeconfigs []struct{ Value []byte }
	}
	err := c.client.callARM(ctx, call{
		method: http.MethodPost, path: r.ID + "/" + credentialVerb, version: clusterVersion,
		query: url.Values{"format": {"exec"}},
	}, &out)
	if err == nil && len(out.Kubeconfigs) == 0 {
		err = &cloud.Error{Class: cloud.Transient, Code: "NoKubeconfig", Message: "AKS tells no address of " + r.Name}
	}
	if err != nil {
		return "", err
	}
	return string(out.Kubeconfigs[0].Value), nil
}

// clusterToken returns a token of Entra, which the credential keeps while it lasts.
func (c *conn) clusterToken(ctx context.Context) (string, error) {
	t, err := c.tokens.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{aksScope}})
	if err != nil {
		return "", classifyError("Microsoft Entra token for AKS", err)
	}
	return t.Token, nil
}
