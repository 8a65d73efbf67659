package kubernetes

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
)

// namespaceFactors are the objects that the facts of namespaces need.
type namespaceFactors struct {
	pods     answer[podSurvey]
	quotas   answer[map[string][]named]
	policies answer[map[string][]named]
}

func (c *cluster) namespaceFactors(ctx context.Context) (namespaceFactors, error) {
	var n namespaceFactors
	err := readAll(
		tryReading(ctx, &n.pods, func() (answer[podSurvey], error) { return c.surveyPods(ctx) }),
		tryReading(ctx, &n.quotas, func() (answer[map[string][]named], error) { return c.surveyQuotas(ctx) }),
		tryReading(ctx, &n.policies, func() (answer[map[string][]named], error) { return c.surveyPolicies(ctx) }),
	)
	return n, err
}

// namespaceFacts returns all facts of a namespace.
func (n namespaceFactors) namespaceFacts(x contents) cloud.Facts {
	f, ns := x.ns.namespaceFacts(), x.ns.Name
	if at, known := x.lastDeployment(); known {
		f["last_deploy_at"] = at.UTC()
	}
	if why := n.pods.missing(); why != "" {
		f.Miss(why, "pod_count")
	} else {
		f["pod_count"] = float64(n.pods.value.running[ns])
	}
	addExists(f, "quota", n.quotas, ns)
	addExists(f, "network_policy", n.policies, ns)
	return f
}

// addExists adds whether a namespace has an object.
func addExists(f cloud.Facts, fact string, all answer[map[string][]named], ns string) {
	if why := all.missing(); why != "" {
		f.Miss(why, fact)
		return
	}
	f[fact] = len(all.value[ns]) > 0
}

// lastDeployment returns when somebody last changed a workload of the namespace, other than its status, its scale and
// what this service changes. A namespace is as new as its creation. It is unknown if the cluster does not record who
// changed a workload.
func (x contents) lastDeployment() (at time.Time, known bool) {
	at = x.ns.CreationTimestamp
	all := slices.Clone(x.cronJobs)
	for _, m := range slices.Concat(x.workloads, x.stateful) {
		all = append(all, m.object)
	}
	for i := range all {
		changed, recorded := all[i].lastChange()
		if !recorded {
			return at, false
		}
		if changed.After(at) {
			at = changed
		}
	}
	return at, true
}

// lastChange returns when somebody last changed an object, by the record of its fields' managers.
func (o object) lastChange() (at time.Time, recorded bool) {
	at = o.CreationTimestamp
	for i := range o.ManagedFields {
		m := &o.ManagedFields[i]
		recorded = recorded || !m.Time.IsZero()
		if m.Subresource == "" && m.Manager != fieldManager && m.Time.After(at) {
			at = m.Time
		}
	}
	return at, recorded
}
