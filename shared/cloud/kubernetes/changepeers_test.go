package kubernetes_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
)

// realStage is a real cluster as a stage. Its user has the permissions of the changes and no other ones.
type realStage struct{ *realCluster }

func (s realStage) changer() cloud.Changer { return s.conn.(cloud.Changer) }

func (s realStage) uidOf(p planted) string { return uidOf(s.uid, p) }

func (s realStage) path(p planted) string {
	if p.ns() == "" {
		return "/" + p.group + "/" + p.resource
	}
	return "/" + p.group + "/namespaces/" + p.ns() + "/" + p.resource
}

// add makes an object, and gives it the status that its controller would.
func (s realStage) add(p planted) {
	s.Helper()
	if err := s.try("POST", s.path(p), p.object, nil); err != nil && !strings.Contains(err.Error(), "AlreadyExists") {
		s.Fatal(err)
	}
	if status := p.object["status"]; status != nil {
		s.call("PATCH", s.path(p)+"/"+p.name()+"/status", fields{"status": status}, nil)
	}
}

func (s realStage) spec(p planted) fields {
	s.Helper()
	var o fields
	s.call("GET", s.path(p)+"/"+p.name(), nil, &o)
	return definitionOf(o)
}

// settle lets the controllers work, and plays kubelets.
func (s realStage) settle() {
	s.Helper()
	s.realCluster.settle()
	s.markReady()
}

// isBoundAgain waits until a claim that was made again has its volume, with the data in it.
func (s realStage) isBoundAgain() {
	s.Helper()
	s.await("the volume of the claim", func() bool {
		var claim struct {
			Metadata struct{ UID string }
			Status   struct{ Phase string }
		}
		var volume struct {
			Spec struct{ ClaimRef struct{ UID string } }
		}
		s.call("GET", "/api/v1/namespaces/changes/persistentvolumeclaims/data", nil, &claim)
		s.call("GET", "/api/v1/persistentvolumes/pv-data", nil, &volume)
		return claim.Status.Phase == "Bound" && volume.Spec.ClaimRef.UID == claim.Metadata.UID
	})
}

// clear deletes what a case has made.
func (s realStage) clear(c changeCase) {
	s.Helper()
	for _, p := range append(slices.Clone(c.beside), c.of) {
		at := s.path(p) + "/" + p.name()
		_ = s.try("PATCH", at, fields{"metadata": fields{"finalizers": nil}}, nil) // protections of volumes
		_ = s.try("DELETE", at, fields{"gracePeriodSeconds": 0, "propagationPolicy": "Background"}, nil)
	}
	// this cluster has no collector of what a deleted workload has made
	for _, made := range []string{"/apis/apps/v1/namespaces/changes/replicasets", "/api/v1/namespaces/changes/pods"} {
		s.call("DELETE", made, fields{"gracePeriodSeconds": 0}, nil)
	}
	s.await("the end of "+c.of.name(), func() bool {
		if c.of.resource == "namespaces" { // which another controller would empty: it keeps its name
			return true
		}
		return s.try("GET", s.path(c.of)+"/"+c.of.name(), nil, nil) != nil
	})
}

// allowOnly gives the user the permissions of a change: "patch deployments.apps".
func (s realStage) allowOnly(needs []string) {
	s.Helper()
	rules := []fields{{"apiGroups": []string{""}, "resources": []string{"namespaces"}, "verbs": []string{"get"}}}
	for _, n := range needs {
		verb, name, _ := strings.Cut(n, " ")
		resource, group, _ := strings.Cut(name, ".")
		rules = append(rules, fields{
			"apiGroups": []string{group}, "resources": []string{resource}, "verbs": []string{verb},
		})
	}
	s.call("PATCH", "/apis/rbac.authorization.k8s.io/v1/clusterroles/lamplighter", fields{"rules": rules}, nil)
	time.Sleep(300 * time.Millisecond) // the API server learns of it by a watch
}

// TestChanger_OverARealControlPlane makes each change on a real API server, with the permissions that the catalogue
// names, and gives it back to the byte.
func TestChanger_OverARealControlPlane(t *testing.T) {
	s := realStage{newReal(t)}
	s.call("POST", "/api/v1/namespaces", fields{"metadata": fields{"name": "changes"}}, nil)
	all := changeCases()
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c := all[name]
		t.Run(name, func(t *testing.T) {
			one := realStage{&realCluster{
				plane: &plane{t, s.url, s.authority, s.client}, clk: s.clk, conn: s.conn, uid: s.uid,
			}}
			of, _ := cloud.ChangeOf(c.kind, c.verb)
			one.allowOnly(of.Needs)
			defer one.clear(c)
			c.run(t, one)
			if c.kind == "kubernetes-persistentvolumeclaim" && c.verb == cloud.Delete {
				one.isBoundAgain()
			}
		})
	}
	s.refusesBindings()
}

// refusesBindings holds why bindings of roles are left to people: who marks one must hold all that its role allows.
func (s realStage) refusesBindings() {
	s.Helper()
	const bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
	s.allowOnly([]string{
		"get clusterrolebindings.rbac.authorization.k8s.io", "patch clusterrolebindings.rbac.authorization.k8s.io",
	})
	s.call("POST", bindings, fields{
		"metadata": fields{"name": "everybody"}, "roleRef": fields{
			"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin",
		},
		"subjects": []fields{{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "nobody"}},
	}, nil)
	err := s.tryAs(userToken, "PATCH", bindings+"/everybody",
		exchange{body: fields{"metadata": fields{"labels": fields{"a": "b"}}}})
	if err == nil || !strings.Contains(err.Error(), "403") {
		s.Errorf("a mark of a binding: %v", err)
	}
}
