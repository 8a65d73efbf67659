package azure_test

import (
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
	k8s "lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// enter enters a cluster of the twin that is changed first.
func enter(t *testing.T, tw *azuretwin.Cloud, c cloud.Conn, change func(*azuretwin.Resource)) (cloud.ClusterEntry,
	error,
) {
	t.Helper()
	inner := k8s.New() // for a certificate that can be read
	t.Cleanup(inner.Close)
	r := tw.AddEntraCluster("main", region, inner.URL(), inner.Authority())
	if change != nil {
		tw.ChangeLocked(func() { change(r) })
	}
	e, err := c.(cloud.ClusterAccess).EnterCluster(t.Context(), region, "main")
	if err == nil && (e.Server != inner.URL() || string(e.Authority) != string(inner.Authority()) || e.UID != r.UID()) {
		t.Errorf("entry %+v; want %s", e, inner.URL())
	}
	return e, err
}

func TestAKS_IsEnteredWithATokenOfEntraAndNoPlugin(t *testing.T) {
	tw, c := connect(t)
	e, err := enter(t, tw, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := e.Token(t.Context())
	if err != nil || !tw.OpensClusters(first) {
		t.Fatalf("token %q, %v; want one for AKS", first, err)
	}
	if again, err := e.Token(t.Context()); err != nil || again != first {
		t.Errorf("each call asks Entra anew: %q, %v", again, err)
	}
	asked := tw.Calls("entra:token")
	if !slices.ContainsFunc(asked, func(k azuretwin.Call) bool {
		return strings.HasPrefix(k.Body["scope"].(string), "6dae42f8-4368-4678-94ff-3960e28e3630/.default")
	}) {
		t.Errorf("Entra was asked %+v", asked)
	}
	if n := len(tw.Calls("Microsoft.ContainerService/managedClusters/listClusterUserCredential/action")); n != 1 {
		t.Errorf("the address was asked for %d times", n)
	}
}

func TestAKS_ThatCannotBeEnteredSaysWhy(t *testing.T) {
	tests := []struct {
		name   string
		change func(*azuretwin.Resource)
		class  cloud.Class
		says   string
	}{
		{
			"a private cluster", func(r *azuretwin.Resource) {
				r.Properties()["apiServerAccessProfile"] = map[string]any{"enablePrivateCluster": true}
			},
			cloud.Unsupported, "the AKS cluster main is private: its API server has no public endpoint",
		},
		{"one without Entra", func(r *azuretwin.Resource) {
			delete(r.Properties(), "aadProfile")
		}, cloud.Unsupported, "--enable-aad"},
		{"one that is stopped", func(r *azuretwin.Resource) {
			r.Properties()["powerState"] = map[string]any{"code": "Stopped"}
		}, cloud.Moving, cloud.ClusterStopped},
		{"one that is being made", func(r *azuretwin.Resource) {
			r.Properties()["provisioningState"] = "Creating"
		}, cloud.Moving, "Creating"},
		{"an address that is none", func(r *azuretwin.Resource) {
			r.Endpoint = "ftp://prod"
		}, cloud.Invalid, "server is not an https address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tw, c := connect(t)
			_, err := enter(t, tw, c, tt.change)
			if wantClass(t, "EnterCluster", err, tt.class); !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v; want %q in it", err, tt.says)
			}
		})
	}
}

func TestAKS_TheRoleHasToAllowTheAddressToBeTold(t *testing.T) {
	tw, c := connect(t)
	tw.SetRoles(azuretwin.Role{Actions: []string{"*/read"}})
	_, err := enter(t, tw, c, nil)
	if wantClass(t, "EnterCluster", err, cloud.Denied); !strings.Contains(err.Error(),
		"listClusterUserCredential/action") {
		t.Errorf("%v; want the permission named", err)
	}
	_, err = c.(cloud.ClusterAccess).EnterCluster(t.Context(), region, "nothing")
	wantClass(t, "EnterCluster of nothing", err, cloud.NotFound)
}
