package kubernetes_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The tokens of the control plane: admin may do everything, the other one has the permissions that customers are told
// to grant.
const (
	adminToken = "admin-token-of-this-test"
	userToken  = "user-token-of-this-test"
)

// plane is a real Kubernetes control plane without nodes: kubelets are played by markReady.
type plane struct {
	*testing.T
	url       string
	authority []byte
	client    *http.Client
}

// controlPlane starts etcd, kube-apiserver and kube-controller-manager, as envtest does. It finds them in
// KUBEBUILDER_ASSETS or on the PATH.
func controlPlane(t *testing.T) *plane {
	t.Helper()
	if os.Getenv("LAMPLIGHTER_PEERS") != "1" {
		t.Skip("SKIPPED: set LAMPLIGHTER_PEERS=1 to hold the Kubernetes provider against a real control plane")
	}
	bin := map[string]string{}
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager"} {
		path, err := exec.LookPath(filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), name))
		if err != nil {
			path, err = exec.LookPath(name)
		}
		if err != nil {
			t.Skipf("SKIPPED: no %s in KUBEBUILDER_ASSETS or on the PATH: the Kubernetes provider is not held "+
				"against a real control plane", name)
		}
		bin[name] = path
	}
	dir := t.TempDir()
	etcd, peer, api := freePort(t), freePort(t), freePort(t)
	start(t, dir, bin["etcd"], "--data-dir="+filepath.Join(dir, "etcd"), "--listen-client-urls=http://"+etcd,
		"--advertise-client-urls=http://"+etcd,
		"--listen-peer-urls=http://"+peer, "--initial-advertise-peer-urls=http://"+peer,
		"--initial-cluster=default=http://"+peer)
	keys := serviceAccountKey(t, dir)
	tokens := filepath.Join(dir, "tokens.csv")
	writeFile(t, tokens, []byte(adminToken+",admin,1,system:masters\n"+userToken+",lamplighter,2\n"))
	_, port, _ := net.SplitHostPort(api)
	start(t, dir, bin["kube-apiserver"], "--etcd-servers=http://"+etcd, "--bind-address=127.0.0.1",
		"--secure-port="+port, "--cert-dir="+filepath.Join(dir, "certs"),
		"--service-cluster-ip-range=10.0.0.0/24", "--authorization-mode=RBAC", "--token-auth-file="+tokens,
		"--disable-admission-plugins=ServiceAccount", "--allow-privileged=true",
		"--service-account-issuer=https://"+api, "--service-account-key-file="+keys,
		"--service-account-signing-key-file="+keys)
	p := &plane{T: t, url: "https://" + api}
	p.await("the API server", func() bool {
		return p.trust(filepath.Join(dir, "certs", "apiserver.crt")) && p.try("GET", "/readyz", nil, nil) == nil
	})
	p.await("the namespaces", func() bool { return p.try("GET", "/api/v1/namespaces/kube-system", nil, nil) == nil })
	config := filepath.Join(dir, "kubeconfig")
	writeFile(t, config, []byte(p.kubeconfig(adminToken)))
	start(t, dir, bin["kube-controller-manager"], "--kubeconfig="+config, "--leader-elect=false", "--kube-api-qps=2000",
		"--kube-api-burst=4000", "--secure-port=0",
		"--use-service-account-credentials=false", "--service-account-private-key-file="+keys,
		"--horizontal-pod-autoscaler-sync-period=1s",
		"--controllers=deployment-controller,replicaset-controller,statefulset-controller,"+
			"horizontal-pod-autoscaler-controller,disruption-controller,daemonset-controller,"+
			"serviceaccount-token-controller,persistentvolume-binder-controller,"+
			"persistentvolumeclaim-protection-controller")
	p.grant("scale")
	return p
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start runs a program until the test ends. Programs end in reverse order.
func start(t *testing.T, dir, bin string, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(dir, filepath.Base(bin)+".log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
		if said, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s said at the end:\n%s", filepath.Base(bin), said[max(0, len(said)-3000):])
		}
	})
}

func serviceAccountKey(t *testing.T, dir string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "sa.key")
	writeFile(t, path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
	return path
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// trust takes the certificate that the API server has made for itself.
func (p *plane) trust(path string) bool {
	authority, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return false
	}
	p.authority = authority
	p.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs:    pool,
		MinVersion: tls.VersionTLS12,
	}}}
	return true
}

func (p *plane) kubeconfig(token string) string {
	return fmt.Sprintf(`{"kind":"Config","current-context":"x","contexts":[{"name":"x","context":{"cluster":"x",
		"user":"x"}}],
"clusters":[{"name":"x","cluster":{"server":%q,"certificate-authority-data":%q}}],"users":[{"name":"x",
"user":{"token":%q}}]}`,
		p.url, base64.StdEncoding.EncodeToString(p.authority), token)
}

func (p *plane) await(what string, done func() bool) {
	p.Helper()
	for range 600 {
		if done() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.Fatalf("%s did not come in 30 s", what)
}

// try makes a call as admin.
func (p *plane) try(method, path string, body, into any) error {
	return p.tryAs(adminToken, method, path, exchange{body, into})
}

// exchange is the body of a call, and the target of its answer.
type exchange struct{ body, into any }

// tryAs makes a call with a token.
func (p *plane) tryAs(token, method, path string, x exchange) error {
	body, into := x.body, x.into
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(p.Context(), method, p.url+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", map[string]string{"PATCH": "application/merge-patch+json"}[method])
	if method != "PATCH" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := p.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, answer)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

func (p *plane) call(method, path string, body, into any) {
	p.Helper()
	if err := p.try(method, path, body, into); err != nil {
		p.Fatal(err)
	}
}

// onboarded reads the manifest that customers are told to apply.
func (p *plane) onboarded(name string) (out fields) {
	p.Helper()
	b, err := os.ReadFile(filepath.Join("../../../functions/cloudaccounts/onboarding/testdata", name))
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		p.Fatal(err)
	}
	return out
}

// grant gives the user the ClusterRole that customers are told to make at a level, and waits until it holds.
func (p *plane) grant(level string) {
	p.Helper()
	role := p.onboarded("kubernetes-" + level + ".json")
	const path = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	p.call("PUT", path+"/lamplighter", role, nil) // which makes it, too
	p.call("PUT", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/lamplighter", fields{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
		"metadata": fields{"name": "lamplighter"},
		"roleRef":  fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "lamplighter"},
		"subjects": []fields{{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "lamplighter"}},
	}, nil)
	want := strings.Contains(fmt.Sprint(role), "patch")
	p.await("the role", func() bool {
		var got struct{ Status struct{ Allowed bool } }
		p.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", fields{
			"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": fields{
				"user":               "lamplighter",
				"resourceAttributes": fields{"verb": "patch", "group": "apps", "resource": "deployments"},
			},
		}, &got)
		return got.Status.Allowed == want
	})
}

// markReady does the work of kubelets for all pods. Pods without a node are deleted at once.
func (p *plane) markReady() {
	p.Helper()
	var pods struct {
		Items []struct {
			Metadata struct{ Namespace, Name string }
			Status   struct{ Phase string }
		}
	}
	p.call("GET", "/api/v1/pods", nil, &pods)
	for _, pod := range pods.Items {
		if pod.Status.Phase != "Pending" {
			continue
		}
		_ = p.try("PATCH", "/api/v1/namespaces/"+pod.Metadata.Namespace+"/pods/"+pod.Metadata.Name+"/status",
			fields{"status": fields{
				"phase": "Running",
				"conditions": []fields{{
					"type": "Ready", "status": "True",
					"lastTransitionTime": "2026-03-01T08:00:00Z",
				}},
			}}, nil) // one that was deleted meanwhile needs no kubelet
	}
}
