package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// This file proves by fresh reads that an object is not in use. A workload of size 0 uses what its pods would use: a
// stopped environment keeps its Services, claims and budgets.

// podTemplate is the template of the pods of a workload, with the workload's name.
type podTemplate struct {
	owner  string
	labels map[string]string
	spec   document
}

// templateOwners are the resources whose objects make pods, with the path of the template.
var templateOwners = []struct {
	resource apiResource
	at       path
}{
	{deploymentsOf, path{"spec", "template"}},
	{statefulOf, path{"spec", "template"}},
	{daemonSetsOf, path{"spec", "template"}},
	{rolloutsOf, path{"spec", "template"}},
	{cronJobsOf, path{"spec", "jobTemplate", "spec", "template"}},
}

// templatesIn returns the templates of the workloads of a namespace.
func (c *cluster) templatesIn(ctx context.Context, ns string) ([]podTemplate, error) {
	var out []podTemplate
	for _, from := range templateOwners {
		all, err := c.listDocuments(ctx, from.resource, ns)
		if err != nil {
			return nil, err
		}
		for _, d := range all {
			out = append(out, templateOf(from.resource, d, from.at))
		}
	}
	return out, nil
}

func templateOf(r apiResource, d document, at path) podTemplate {
	m, _ := d.at(at...).(map[string]any)
	t := podTemplate{
		owner:  strings.TrimSuffix(r.Resource, "s") + " " + d.text("metadata", "name"),
		labels: map[string]string{},
	}
	labels, _ := document(m).at("metadata", "labels").(map[string]any)
	for k, v := range labels {
		t.labels[k], _ = v.(string)
	}
	t.spec, _ = document(m).at("spec").(map[string]any)
	return t
}

// podUsers returns the pods of the object's namespace that have not ended and use it.
func (k *objectChange) podUsers(ctx context.Context, uses func(*pod) bool) (users []string, err error) {
	err = eachIn(ctx, k.c, podsOf, k.at.ns, func(p *pod) {
		if !p.hasEnded() && uses(p) {
			users = append(users, "pod "+p.Name)
		}
	})
	return shortened(users), err
}

// selectedUsers returns the pods and the workloads of the namespace whose labels are selected.
func (k *objectChange) selectedUsers(ctx context.Context, selects func(labels map[string]string) bool) ([]string,
	error,
) {
	users, err := k.podUsers(ctx, func(p *pod) bool { return selects(p.Labels) })
	if err != nil {
		return nil, err
	}
	templates, err := k.c.templatesIn(ctx, k.at.ns)
	for _, t := range templates {
		if selects(t.labels) {
			users = append(users, t.owner)
		}
	}
	return shortened(users), err
}

// shortened limits a list of users to the first ones.
func shortened(users []string) []string {
	const most = 5
	if len(users) <= most {
		return users
	}
	return append(slices.Clone(users[:most]), fmt.Sprintf("%d more", len(users)-most))
}

// proveSuspended proves that a CronJob is off.
func proveSuspended(_ context.Context, k *objectChange) (users []string, locked string, err error) {
	for range k.o.Status.Active {
		users = append(users, "a run")
	}
	if !k.o.suspended() {
		locked = "it is not suspended any more"
	}
	return shortened(users), locked, nil
}

// proveFinished proves that a Job has ended.
func proveFinished(_ context.Context, k *objectChange) (users []string, locked string, err error) {
	j, err := decodeAs[job](k.now)
	if err != nil {
		return nil, "", err
	}
	if j.finishedAt().Equal(cloud.Epoch) || j.Status.Active > 0 {
		locked = "it has not finished"
	}
	return nil, locked, nil
}

// proveEvicted proves that a pod was evicted.
func proveEvicted(_ context.Context, k *objectChange) (users []string, locked string, err error) {
	p, err := decodeAs[pod](k.now)
	if err == nil && (!p.isEvicted() || p.Status.Phase != "Failed") {
		locked = "it is not an evicted pod"
	}
	return nil, locked, err
}

// proveUncovered proves that a disruption budget covers no pod, and none of a workload.
func proveUncovered(ctx context.Context, k *objectChange) (users []string, locked string, err error) {
	b, err := decodeAs[budget](k.now)
	if err != nil {
		return nil, "", err
	}
	users, err = k.selectedUsers(ctx, b.covers)
	return users, "", err
}

// proveAimless proves that an autoscaler has no target. Of a target that is not listed here, nothing proves that.
func proveAimless(ctx context.Context, k *objectChange) (users []string, locked string, err error) {
	target := k.o.Spec.Target
	if !slices.Contains([]string{"Deployment", "StatefulSet", "Rollout"}, target.Kind) {
		return nil, "whether its target " + target.Kind + " " + target.Name + " exists is not known here", nil
	}
	templates, err := k.c.templatesIn(ctx, k.at.ns)
	for _, t := range templates {
		if t.owner == strings.ToLower(target.Kind)+" "+target.Name {
			users = append(users, t.owner)
		}
	}
	return users, "", err
}

// proveDangling proves that no backend of an Ingress exists.
func proveDangling(ctx context.Context, k *objectChange) (users []string, locked string, err error) {
	i, err := decodeAs[ingress](k.now)
	if err != nil {
		return nil, "", err
	}
	named := map[string]bool{}
	for _, b := range i.backends() {
		if b.Resource != nil {
			return nil, "it has a backend that is no Service", nil
		}
		named[b.Service.Name] = true
	}
	if len(named) == 0 {
		return nil, "it has no backend that could be missing", nil
	}
	err = eachIn(ctx, k.c, servicesOf, k.at.ns, func(s *service) {
		if named[s.Name] {
			users = append(users, "service "+s.Name)
		}
	})
	return shortened(users), "", err
}

// backends returns the default backend of an Ingress and those of its rules.
func (i ingress) backends() []ingressBackend {
	var out []ingressBackend
	if b := i.Spec.Default; b.Service.Name != "" || b.Resource != nil {
		out = append(out, b)
	}
	for _, r := range i.Spec.Rules {
		for _, p := range r.HTTP.Paths {
			out = append(out, p.Backend)
		}
	}
	return out
}

// proveUnserved proves that a Service has no endpoint, no pod and no workload, and that no Ingress names it.
func proveUnserved(ctx context.Context, k *objectChange) (users []string, locked string, err error) {
	s, err := decodeAs[service](k.now)
	switch {
	case err != nil:
		return nil, "", err
	case len(s.Spec.Selector) == 0:
		return nil, "it has no selector: somebody gives it its endpoints", nil
	}
	users, err = k.selectedUsers(ctx, func(labels map[string]string) bool {
		return selectsLabels(s.Spec.Selector, labels)
	})
	if err != nil {
		return nil, "", err
	}
	err = eachIn(ctx, k.c, slicesOf, k.at.ns, func(e *endpointSlice) {
		if e.Labels["kubernetes.io/service-name"] == k.at.name && e.countReady() > 0 {
			users = append(users, "endpoints "+e.Name)
		}
	})
	if err != nil {
		return nil, "", err
	}
	err = eachIn(ctx, k.c, ingressesOf, k.at.ns, func(i *ingress) {
		if slices.ContainsFunc(i.backends(), func(b ingressBackend) bool { return b.Service.Name == k.at.name }) {
			users = append(users, "ingress "+i.Name)
		}
	})
	return shortened(users), "", err
}

// countReady counts the endpoints that are ready, or do not say whether they are.
func (e *endpointSlice) countReady() (n int) {
	for _, one := range e.Endpoints {
		if one.Conditions.Ready == nil || *one.Conditions.Ready {
			n++
		}
	}
	return n
}

// decodeAs returns the fields of a document that a type has.
func decodeAs[T any](d document) (T, error) {
	var out T
	err := decodeAnswer(d.json(), &out)
	return out, err
}
