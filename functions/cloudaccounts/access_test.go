package cloudaccounts_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/functions/cloudaccounts/onboarding"
	"lamplighter.dev/functions/connector"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
	"lamplighter.dev/shared/testkit/managedcluster"
)

// managed is an account of a cloud that runs a cluster, as it is stored.
type managed struct {
	*fixture
	cluster *kubernetestwin.Cluster
	account inventory.Account
	path    string // of the cluster's access
}

func newManaged(t *testing.T, provider, level string) *managed {
	t.Helper()
	s, cluster := newFixture(t), kubernetestwin.New()
	t.Cleanup(cluster.Close)
	h := managedcluster.Open(provider, s.Platform.Clock, cluster)
	s.Workers = lambdacall.Local{inventory.Connector: connector.Handler(s.Platform, cloud.Providers{
		provider: h.Cloud,
		kubernetes.Name: kubernetes.New(kubernetes.Options{
			Clock: s.Platform.Clock, PrivateAddresses: true,
			Attempts: 1,
		}),
	})}
	a := inventory.Account{
		ID: "ca_01hzzzzzzzzzzzzzzzzzzzzzzy", Provider: provider, CloudAccountID: h.Account.NativeID, Name: "host",
		AuthMethod:      h.Account.AuthMethod,
		PermissionLevel: level, Status: inventory.AccountConnected,
		CreatedAt: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Regions: h.Regions(),
	}
	ctx := table.WithOrg(t.Context(), alice.Org)
	a.Sealed = apitest.Value(inventory.SealCredentials(ctx, s.Sealer, inventory.SecretPlace(alice.Org, a.ID),
		h.Account.Credentials))(t)
	it := apitest.Value(table.NewItem(inventory.AccountKey(alice.Org, a.ID), a))(t)
	s.Must(s.Table.Transact(ctx, table.Put(it)))
	return &managed{s, cluster, a, accessPath(a.ID, h.Region, managedcluster.Name)}
}

// register registers the cluster and returns its access check, after comparing it with that of a list.
func (m *managed) register(body fields) cloudaccounts.AccessCheck {
	m.Helper()
	got := apitest.Data[cloudaccounts.Cluster](m.call(alice, "PUT", m.path, body))
	listed := m.listClusters(viewer, m.account.ID, "").Items
	if len(listed) != 1 || listed[0].Check == nil || got.Check == nil ||
		!slices.Equal(listed[0].Check.Missing, got.Check.Missing) || listed[0].Check.Status != got.Check.Status {
		m.Fatalf("registered as %+v, listed as %+v", got, listed)
	}
	if !got.Registered || got.Access != body["method"] {
		m.Errorf("%+v; want it registered by %s", got, body["method"])
	}
	return *got.Check
}

func TestRegistering_AsksTheClusterWhatMayBeDone(t *testing.T) {
	for _, provider := range managedcluster.Providers() {
		t.Run(provider, func(t *testing.T) {
			m := newManaged(t, provider, "read_write")
			if c := m.register(byIAM); c.Status != "granted" || len(c.Missing) != 0 || len(c.Rules) != 0 ||
				c.Error != nil || c.CheckedAt == nil {
				t.Errorf("%+v; want everything granted", c)
			}
			if n := len(m.cluster.Calls("create selfsubjectaccessreviews")); n < 20 {
				t.Errorf("the cluster was asked %d questions", n)
			}
			m.cluster.Deny("patch deployments.apps", "list pods", "patch statefulsets/scale.apps")
			c := m.register(byIAM)
			want := []onboarding.ClusterRule{
				{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}},
				{
					APIGroups: []string{"apps"}, Resources: []string{"deployments", "statefulsets/scale"},
					Verbs: []string{"patch"},
				},
			}
			if c.Status != "missing" || !sameRules(c.Rules, want) {
				t.Errorf("%+v; want the rules %+v", c, want)
			}
			m.cluster.Deny()
			if c := m.register(byIAM); c.Status != "granted" {
				t.Errorf("registered again, once the rules are there: %+v", c)
			}
		})
	}
}

func sameRules(a, b []onboarding.ClusterRule) bool {
	return slices.EqualFunc(a, b, func(x, y onboarding.ClusterRule) bool {
		return slices.Equal(x.APIGroups, y.APIGroups) && slices.Equal(x.Resources, y.Resources) &&
			slices.Equal(x.Verbs, y.Verbs)
	})
}

func TestRegistering_AReadOnlyAccountLacksNothingThatItIsNotToDo(t *testing.T) {
	m := newManaged(t, "aws", "read_only")
	m.cluster.Deny("patch deployments.apps")
	if c := m.register(byIAM); c.Status != "granted" || len(c.Missing) != 0 {
		t.Errorf("%+v; want nothing missing", c)
	}
	m.cluster.Deny("patch deployments.apps", "list cronjobs.batch")
	if c := m.register(byIAM); c.Status != "missing" || len(c.Missing) != 1 ||
		c.Missing[0] != (cloudaccounts.MissingAction{Capability: "discover", Action: "list cronjobs.batch"}) {
		t.Errorf("%+v; want what a discovery lacks", c)
	}
}

// A cluster that cannot be reached is registered, with the reason: it may accept the credentials later.
func TestRegistering_AClusterThatCannotBeAskedSaysWhy(t *testing.T) {
	tests := []struct {
		name string
		set  func(*managed)
		says string
	}{
		{"it does not let the credentials in", func(m *managed) {
			m.cluster.Accept = nil
		}, "the cluster prod does not let these credentials in"},
		{"it is away", func(m *managed) {
			m.cluster.AddFault(kubernetestwin.Fault{
				Op:     "create selfsubjectaccessreviews.authorization.k8s.io",
				Code:   503,
				Reason: "ServiceUnavailable", Message: "etcd is away", Times: -1,
			})
		}, "etcd is away"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newManaged(t, "aws", "read_write")
			tt.set(m)
			if c := m.register(byIAM); c.Status != "unknown" || c.Error == nil || !strings.Contains(*c.Error, tt.says) {
				t.Errorf("%+v; want it unknown, because %s", c, tt.says)
			}
		})
	}
}

// A kubeconfig is tried before it is stored, sealed for its place.
func TestRegistering_AKubeconfigIsTriedToo(t *testing.T) {
	m := newManaged(t, "azure", "read_write")
	m.cluster.Accept = nil
	m.cluster.Deny("patch cronjobs.batch")
	c := m.register(fields{"method": "kubeconfig", "kubeconfig": m.cluster.Kubeconfig(kubernetestwin.Token)})
	if c.Status != "missing" || len(c.Missing) != 1 || c.Missing[0].Action != "patch cronjobs.batch" {
		t.Errorf("%+v; want the one that is missing", c)
	}
	if c := m.register(fields{
		"method":     "kubeconfig",
		"kubeconfig": m.cluster.Kubeconfig("another-token-of-nobody"),
	}); c.Status != "unknown" ||
		strings.Contains(*c.Error, "another-token") {
		t.Errorf("%+v; want it unknown, and no token told", c)
	}
}
