package kubernetes_test

import (
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// listOthers reads all pages of the resources without a kind.
func (f *fixture) listOthers() (found map[string]cloud.Resource, pages int, err error) {
	f.Helper()
	found = map[string]cloud.Resource{}
	for page := ""; ; {
		got, err := f.conn.List(f.Context(), cloud.KubernetesOthers, "cluster", page)
		if err != nil {
			return found, pages, err
		}
		pages++
		for _, r := range got.Resources {
			if _, twice := found[r.UID]; twice || r.Region != "cluster" {
				f.Errorf("%+v; want it once, in the region of the cluster", r)
			}
			found[r.UID] = r
		}
		if page = got.Next; page == "" {
			return found, pages, nil
		}
	}
}

func TestOthers_AreListedByTheirTypesSideBySide(t *testing.T) {
	f := newFixture(t)
	f.Page = 2
	f.add("deployments", kubernetestwin.Named("shop", "web", 1))
	for i := range 3 {
		f.Add("nodes", fields{"metadata": fields{"name": fmt.Sprint("node-", i), "labels": fields{"disk": "ssd"}}})
	}
	f.Add("ingresses", fields{"metadata": fields{"namespace": "shop", "name": "web"}})
	f.Add("gateways", fields{"metadata": fields{"namespace": "shop", "name": "entry"}})
	got, pages, err := f.listOthers()
	if err != nil || pages != 2 || len(got) != 6 {
		t.Fatalf("%+v in %d pages, %v; want five and the cluster in two", got, pages, err)
	}
	node, ingress := got[kubernetestwin.UID+"//nodes/node-2"], got[kubernetestwin.UID+"/shop/ingresses/web"]
	if node.Type != "kubernetes-node" || node.Tags["disk"] != "ssd" || node.Status != cloud.Running ||
		node.CreatedAt.IsZero() {
		t.Errorf("node %+v", node)
	}
	if ingress.Type != "kubernetes-ingress" || ingress.ParentUID != kubernetestwin.UID+"/shop" ||
		got[kubernetestwin.UID+"/shop/gateways/entry"].Type != "kubernetes-gateway" {
		t.Errorf("ingress %+v", ingress)
	}
}

func TestOthers_WhatMayNotBeListedIsToldBehindWhatMay(t *testing.T) {
	f := newFixture(t)
	f.Add("nodes", fields{"metadata": fields{"name": "node-1"}})
	f.Deny("list persistentvolumes")
	got, _, err := f.listOthers()
	if f.wantClass("the listing", err, cloud.Denied); len(got) != 2 ||
		!strings.Contains(err.Error(), "list persistentvolumes") {
		t.Errorf("%+v, %v; want the cluster, its node, and what is denied", got, err)
	}
}

func TestOthers_AClusterThatIsAwayHasNothingGone(t *testing.T) {
	f := newFixture(t)
	f.AddFault(kubernetestwin.Fault{
		Op: "list services", Code: 503, Reason: "ServiceUnavailable",
		Message: "etcd is away",
		Times:   -1,
	})
	_, _, err := f.listOthers()
	f.wantClass("the listing", err, cloud.Transient)
	_, err = f.conn.List(t.Context(), cloud.KubernetesOthers, "cluster", "no page")
	f.wantClass("a page that is none", err, cloud.Invalid)
	_, err = f.conn.List(t.Context(), cloud.KubernetesOthers, "mars", "")
	f.wantClass("another region", err, cloud.Invalid)
}

// GET /resources/types lists the types without this package; the list must match the types that are found.
func TestOthers_AreThoseThatTheCatalogueCallsDiscoverable(t *testing.T) {
	f := newFixture(t)
	for _, resource := range kubernetes.ListedOthers() {
		o := fields{"metadata": fields{"name": "one"}}
		if resource == "pods" { // a pod is listed if a rule concerns it
			o["status"] = fields{"phase": "Running"}
		}
		f.Add(resource, o)
	}
	got, _, err := f.listOthers()
	f.must(err)
	listed := map[string]bool{}
	for _, r := range got {
		listed[r.Type] = true
	}
	for _, k := range f.provider.Kinds() {
		listed[k.Type] = true
	}
	for _, k := range cloud.Catalogue() {
		if k.Provider == "kubernetes" && k.Discoverable != listed[k.Type] {
			t.Errorf("%s: the catalogue says discoverable %t, and it is found: %t", k.Type, k.Discoverable,
				listed[k.Type])
		}
	}
}
