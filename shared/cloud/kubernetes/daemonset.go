package kubernetes

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/cloud"
)

// daemonSets have a pod on each node that their selector matches, and no number to set. A stop adds a condition to the
// selector that no node meets; a start removes it and keeps all other changes of the selector. Most DaemonSets serve
// their nodes, so only those are stopped whose owner has allowed it on the object.
var daemonSets = kind{
	Kind:     catalogueKind(cloud.KubernetesDaemonSet),
	resource: daemonSetsOf,
	needs: needs{
		discover:  []rule{{daemonSetsOf, "", "list"}, {daemonSetsOf, "", "get"}, {podsOf, "", "list"}},
		startStop: []rule{{daemonSetsOf, "", "patch"}, {pdbsOf, "", "list"}},
	},
	list: listDaemonSets,
	read: readDaemonSet,
	act: actOnEach(func(ctx context.Context, p *pass, v cloud.Verb, g goal) (string, error) {
		o, err := p.objectAt(ctx, daemonSetsOf, g.ref)
		if err != nil {
			return "", err
		}
		err = p.changeGuarded(ctx, daemonSetsOf, o, func(o object) (change, error) {
			return p.turnDaemonSet(o, v == cloud.Stop)
		})
		return "", p.explainRefusal(ctx, o, err)
	}),
}

// noNode is the label that no node has.
const noNode = "lamplighter.dev/stopped"

// daemonMemory is the selector before the stop. The stop adds a condition to it.
type daemonMemory struct {
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
}

func (o object) nodeSelector() map[string]string { return o.Spec.Template.Spec.NodeSelector }

// onNoNode reports whether the DaemonSet is off.
func (o object) onNoNode() bool {
	_, off := o.nodeSelector()[noNode]
	return off
}

// turnDaemonSet starts or stops a DaemonSet. It makes no change if that is done already.
func (c *cluster) turnDaemonSet(o object, off bool) (change, error) {
	if why := o.daemonSetObstacle(); why != "" && off {
		return nil, cloud.ErrUnsupported("%s", why)
	}
	switch {
	case o.onNoNode() == off && off:
		return nil, nil //nolint:nilnil // it is done
	case o.onNoNode() == off: // somebody has started it: the annotations of the stop go all the same
		return o.removeStopMarks(), nil
	}
	notes, own := removedStopMarks(), any(change{noNode: nil})
	switch {
	case off:
		notes, own = stopMarks(c.clock.Now(), ""), change{noNode: "true"}
	case len(o.nodeSelector()) == 1: // it had none
		own = nil
	}
	return change{
		"metadata": change{"annotations": notes},
		"spec":     change{"template": change{"spec": change{"nodeSelector": own}}},
	}, nil
}

// daemonSetObstacle returns the reason why a DaemonSet is not stopped.
func (o object) daemonSetObstacle() string {
	if why := ofCluster(o.Namespace); why != "" {
		return why
	}
	if !o.ownerAllows(allowStop) {
		return "DaemonSets serve their nodes: one is stopped only where it says so (kubectl annotate daemonset " +
			o.Name +
			" --namespace " + o.Namespace + " " + allowStop + "=true)"
	}
	return ""
}

// daemonStatus returns the status of a DaemonSet and the reason; left is the number of its pods that have not ended.
func (c *cluster) daemonStatus(o object, left int) (cloud.Status, string) {
	s := o.Status
	seen := o.isObserved() && s.Observed != nil // a new one says nothing of its nodes yet
	switch held := o.heldIf(o.onNoNode(), c.clock.Now()); {
	case o.DeletionTimestamp != nil:
		return cloud.Terminated, "it is being deleted"
	case !o.onNoNode() && (!seen || s.NodesReady < s.NodesWanted):
		return cloud.Starting,
			joinReasons(fmt.Sprintf("%d of %d pods are ready", s.NodesReady, s.NodesWanted), o.driftReason())
	case !o.onNoNode():
		return cloud.Running, o.driftReason()
	case !seen || s.Nodes > 0 || left > 0:
		return cloud.Stopping, fmt.Sprintf("%d pods are left", max(s.Nodes, int64(left)))
	case held != "":
		return cloud.Stopping, held
	default:
		return cloud.Stopped, ""
	}
}

func readDaemonSet(ctx context.Context, p *pass, at ref) (cloud.State, error) {
	o, err := p.objectAt(ctx, daemonSetsOf, at)
	if err != nil {
		return cloud.State{}, err
	}
	left := 0
	if o.onNoNode() && o.Status.Nodes == 0 && o.Spec.Selector != nil {
		pods, err := p.podsOf(ctx, o)
		if err != nil {
			return cloud.State{}, err
		}
		left = podsLeft(o, pods)
	}
	s := cloud.State{
		Unschedulable: o.daemonSetObstacle(), Native: fmt.Sprintf("on %d nodes", o.Status.Nodes),
		Marked: o.hasStopMarks(),
	}
	if s.Status, s.Reason = p.daemonStatus(o, left); !o.onNoNode() {
		s.Snapshot = encodeSnapshot(daemonMemory{o.nodeSelector()})
	}
	return s, nil
}

func listDaemonSets(ctx context.Context, c *cluster, page string) (cloud.ResourcePage, error) {
	id, err := c.clusterUID(ctx)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	found, next, err := c.listPage(ctx, daemonSetsOf, "", listOptions{Continue: page})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	factors, err := c.daemonFactors(ctx)
	p := cloud.ResourcePage{Next: next}
	for _, o := range found {
		r := inventoryResource(o.Head)
		r.UID, r.ParentUID = workloadUID(id, daemonSetsOf.Resource, o.ref()), namespaceUID(id, o.Namespace)
		r.Status, _ = c.daemonStatus(o, 0)
		r.Capacity["desired"], r.Capacity["ready"] = o.Status.NodesWanted, o.Status.NodesReady
		r.Unschedulable, r.Facts = o.daemonSetObstacle(), factors.daemonFacts(o)
		p.Resources = append(p.Resources, r)
	}
	return p, err
}
