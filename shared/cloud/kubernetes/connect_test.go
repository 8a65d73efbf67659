package kubernetes_test

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

var update = flag.Bool("update", false, "write the golden files")

func TestConnect_RefusesWhatAKubeconfigCouldMakeUsDo(t *testing.T) {
	f := newFixture(t)
	good := f.Kubeconfig(kubernetestwin.Token)
	for name, c := range map[string]struct{ from, to, want string }{
		"a plugin":              {"{token:", "{exec: {command: /bin/sh}, token:", "exec: plugins are not run here"},
		"a file of ours":        {"{token:", "{tokenFile: /etc/passwd, token:", "tokenFile names a file"},
		"a server without TLS":  {"https://", "http://", "server is not an https address"},
		"trust in anybody":      {"{server:", "{insecure-skip-tls-verify: true, server:", "anybody could pose"},
		"the machine's own API": {"https://127.0.0.1", "https://169.254.169.254", "metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			a := f.account(kubernetestwin.Token)
			a.Credentials["kubeconfig"] = strings.Replace(good, c.from, c.to, 1)
			_, err := f.provider.Connect(t.Context(), a)
			f.wantClass("Connect", err, cloud.Invalid)
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), kubernetestwin.Token) {
				t.Errorf("%v; want %q in it, and no token", err, c.want)
			}
		})
	}
}

func TestConnect_APrivateAddressIsRefusedWhereOnlyPublicOnesMayBeReached(t *testing.T) {
	f := newFixture(t)
	f.provider = kubernetes.New(kubernetes.Options{Clock: f.clk})
	_, err := f.provider.Connect(t.Context(), f.account(kubernetestwin.Token))
	f.wantClass("Connect", err, cloud.Invalid)
}

func TestConnect_AServerWithSomebodyElsesCertificateGetsNoToken(t *testing.T) {
	f, other := newFixture(t), newFixture(t)
	a := f.account(kubernetestwin.Token)
	a.Credentials["kubeconfig"] = strings.Replace(a.Credentials["kubeconfig"], f.URL(),
		strings.Replace(other.URL(), "127.0.0.1", "localhost", 1), 1)
	_, err := f.connect(a).Identify(t.Context())
	f.wantClass("Identify", err, cloud.Invalid)
	if n := len(other.Calls("")); n != 0 {
		t.Errorf("%d calls came through", n)
	}
}

// A rule that several capabilities need is reported with each of them, so that each capability names all that it lacks.
func TestPermissions_AreThoseThatTheClusterSays(t *testing.T) {
	f := newFixture(t)
	f.Deny("patch statefulsets.apps", "patch deployments/scale.apps")
	got, err := f.conn.Permissions(t.Context())
	f.must(err)
	var refused []string
	for _, p := range got {
		if p.Status != "granted" {
			refused = append(refused, p.Capability+": "+p.Action+" "+p.Status)
		}
	}
	slices.Sort(refused)
	want := []string{
		"remediate: patch statefulsets.apps denied", "scale: patch deployments/scale.apps denied",
		"start_stop: patch statefulsets.apps denied",
	}
	if !slices.Equal(refused, want) {
		t.Errorf("not granted: %q; want %q", refused, want)
	}
}

func TestPermissions_LeaveOutWhatTheClusterDoesNotHave(t *testing.T) {
	f := newFixture(t)
	f.Without = []string{"keda.sh", "argoproj.io"}
	got, err := f.conn.Permissions(t.Context())
	f.must(err)
	for _, p := range got {
		if strings.Contains(p.Action, "keda.sh") || strings.Contains(p.Action, "argoproj.io") {
			t.Errorf("%+v", p)
		}
	}
}

// A cluster without KEDA and Rollouts works, and is not asked for them again and again.
func TestClusterWithoutKEDA_Works(t *testing.T) {
	f := newFixture(t)
	f.Without = []string{"keda.sh", "argoproj.io"}
	u := f.add("deployments", kubernetestwin.Named("shop", "web", 3))
	f.must(f.act(cloud.Stop, deployment, cloud.Target{UID: u}))
	f.settle()
	f.wantStatus("stopped", deployment, u, cloud.Stopped)
	f.wantStatus("its namespace", namespace, shop, cloud.Stopped)
	if n := len(f.Calls("get ")); n > 8 {
		t.Errorf("%d reads: %+v", n, f.Calls("get "))
	}
}

func TestThrottling_WaitsAsLongAsTheClusterSays(t *testing.T) {
	f := newFixture(t)
	u := f.add("deployments", kubernetestwin.Named("shop", "web", 3))
	f.ThrottleCalls(2)
	start := f.clk.Now()
	f.state(deployment, u)
	if waited := f.clk.Now().Sub(start); waited < 2*time.Second || waited > 2100*time.Millisecond {
		t.Errorf("waited %s; want the two seconds that Retry-After says, and no more than a slower pace adds", waited)
	}
}
