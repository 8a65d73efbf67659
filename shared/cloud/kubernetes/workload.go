package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"lamplighter.dev/shared/cloud"
)

// workloadMemory is the state that a stop overwrites. Paused are the ScaledObjects of the workload, with the values of
// their annotations.
type workloadMemory struct {
	Replicas int64              `json:"replicas"`
	Paused   map[string]*string `json:"paused,omitempty"`
}

// workloadStatus returns the status of a workload and the reason.
func (w view) workloadStatus() (cloud.Status, string) {
	want := w.replicas()
	switch {
	case w.DeletionTimestamp != nil:
		return cloud.Terminated, "it is being deleted"
	case want == 0:
		return w.statusAt0()
	case !w.isObserved() || w.Status.Ready < want:
		return cloud.Starting,
			joinReasons(fmt.Sprintf("%d of %d pods are ready", w.Status.Ready, want), w.driftReason())
	default:
		return cloud.Running, w.driftReason()
	}
}

// statusAt0 returns the status of a workload with 0 wanted pods.
func (w view) statusAt0() (cloud.Status, string) {
	switch held := w.holdReason(w.now); {
	case w.isDrivenByKEDA():
		return cloud.Running, "KEDA has scaled it to 0 and may raise it"
	case w.isEnding():
		return cloud.Stopping, fmt.Sprintf("%d pods are left", max(w.Status.Replicas, int64(w.left)))
	case held != "":
		return cloud.Stopping, held
	default:
		return cloud.Stopped, ""
	}
}

// isEnding reports whether pods are left that are not wanted, as far as its controller has seen that.
func (w view) isEnding() bool { return !w.isObserved() || w.Status.Replicas > 0 || w.left > 0 }

// isDrivenByKEDA reports whether KEDA may raise the workload by itself.
func (w view) isDrivenByKEDA() bool {
	for _, s := range w.scalers {
		if !s.isPaused() {
			return true
		}
	}
	return false
}

func joinReasons(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// stopObstacle returns why a workload is not stopped.
func (o object) stopObstacle() string {
	if why := ofCluster(o.Namespace); why != "" {
		return why
	}
	if o.losesClaims() {
		return "its volume claims would be deleted with its pods (persistentVolumeClaimRetentionPolicy.whenScaled is " +
			"Delete): set it to Retain, or, if they may go, annotate it with " + allowVolumeLoss + "=true"
	}
	return ""
}

// losesClaims reports whether a smaller number of replicas deletes the data of the others without the owner's
// permission.
func (o object) losesClaims() bool {
	return o.Spec.Retention.WhenScaled == "Delete" && len(o.Spec.Claims) > 0 && !o.ownerAllows(allowVolumeLoss)
}

// workloadSnapshot returns the state that a stop would overwrite; nil when the workload is off.
func (w view) workloadSnapshot() *workloadMemory {
	if w.replicas() == 0 && !w.isDrivenByKEDA() {
		return nil
	}
	m := workloadMemory{Replicas: w.replicas()}
	for _, s := range w.scalers {
		if m.Paused == nil {
			m.Paused = map[string]*string{}
		}
		m.Paused[s.Name] = s.priorPause()
	}
	return &m
}

func listWorkloads(r apiResource) func(context.Context, *cluster, string) (cloud.ResourcePage, error) {
	return func(ctx context.Context, c *cluster, page string) (cloud.ResourcePage, error) {
		id, err := c.clusterUID(ctx)
		if err != nil {
			return cloud.ResourcePage{}, err
		}
		found, next, err := c.listPage(ctx, r, "", listOptions{Continue: page})
		if err != nil {
			return cloud.ResourcePage{}, err
		}
		scalers, err := c.listServed(ctx, scaledOf, "")
		if err != nil {
			return cloud.ResourcePage{}, err
		}
		factors, err := c.workloadFactors(ctx)
		if err != nil {
			return cloud.ResourcePage{}, err
		}
		p := cloud.ResourcePage{Next: next}
		for _, o := range found {
			w := view{object: o, scalers: autoscalersOf(scalers, o), now: c.clock.Now()}
			one := w.foundText(id, r.Resource)
			if one.Facts = factors.deploymentFacts(o); r == statefulOf {
				one.Facts = factors.statefulFacts(o)
			}
			p.Resources = append(p.Resources, one)
		}
		return p, nil
	}
}

func (w view) foundText(cluster, resource string) cloud.Resource {
	out := inventoryResource(w.Head)
	out.UID, out.ParentUID = workloadUID(cluster, resource, w.ref()), namespaceUID(cluster, w.Namespace)
	out.Status, _ = w.workloadStatus()
	out.Capacity["desired"], out.Capacity["ready"] = w.replicas(), w.Status.Ready
	out.Unschedulable = w.stopObstacle()
	return out
}

func readWorkload(r apiResource) func(context.Context, *pass, ref) (cloud.State, error) {
	return func(ctx context.Context, p *pass, at ref) (cloud.State, error) {
		w, err := p.viewWorkload(ctx, r, at)
		if err == nil {
			w.left, err = p.countLeft(ctx, w)
		}
		if err != nil {
			return cloud.State{}, err
		}
		s := cloud.State{
			Unschedulable: w.stopObstacle(), Native: fmt.Sprintf("%d replicas", w.replicas()),
			Marked: w.anyMarked(),
		}
		s.Status, s.Reason = w.workloadStatus()
		if m := w.workloadSnapshot(); m != nil {
			s.Snapshot = encodeSnapshot(m)
		}
		return s, nil
	}
}

// anyMarked reports whether the workload or one of its ScaledObjects has annotations of a stop.
func (w view) anyMarked() bool {
	return w.hasStopMarks() || slices.ContainsFunc(w.scalers, object.hasStopMarks)
}

// viewWorkload reads a workload and its ScaledObjects.
func (p *pass) viewWorkload(ctx context.Context, r apiResource, at ref) (view, error) {
	o, err := p.objectAt(ctx, r, at)
	if err != nil {
		return view{}, err
	}
	scalers, err := p.listIn(ctx, scaledOf, at.ns)
	return view{object: o, scalers: autoscalersOf(scalers, o), now: p.clock.Now()}, err
}

// countLeft counts the pods of a workload that should have none, and whose controller believes that they are gone.
func (p *pass) countLeft(ctx context.Context, w view) (int, error) {
	if w.replicas() > 0 || w.Status.Replicas > 0 || w.Spec.Selector == nil {
		return 0, nil
	}
	pods, err := p.podsOf(ctx, w.object)
	return podsLeft(w.object, pods), err
}

func actOnWorkload(r apiResource) func(context.Context, *pass, cloud.Verb, goal) (string, error) {
	return func(ctx context.Context, p *pass, v cloud.Verb, g goal) (string, error) {
		w, err := p.viewWorkload(ctx, r, g.ref)
		if err != nil {
			return "", err
		}
		if v == cloud.Stop {
			return "", p.stopWorkload(ctx, r, w, "")
		}
		return p.startWorkload(ctx, r, w, g.snapshot)
	}
}

// stopWorkload has KEDA leave the workload alone, and takes its pods away. with is stoppedWith, or "".
func (p *pass) stopWorkload(ctx context.Context, r apiResource, w view, with string) error {
	if why := w.stopObstacle(); why != "" {
		return cloud.ErrUnsupported("%s", why)
	}
	for _, s := range w.scalers {
		if err := p.pauseScaledObject(ctx, s, with); err != nil {
			return err
		}
	}
	err := p.changeGuarded(ctx, r, w.object, func(o object) (change, error) {
		if o.replicas() == 0 {
			return nil, nil //nolint:nilnil // it is done
		}
		if why := o.stopObstacle(); why != "" {
			return nil, cloud.ErrUnsupported("%s", why)
		}
		a := stopMarks(p.clock.Now(), with)
		a[stoppedReplicas] = strconv.FormatInt(o.replicas(), 10)
		return change{"metadata": change{"annotations": a}, "spec": change{"replicas": 0}}, nil
	})
	return p.explainRefusal(ctx, w.object, err)
}

// explainRefusal adds to a cluster's refusal the disruption budgets that may be behind it.
func (p *pass) explainRefusal(ctx context.Context, w object, err error) error {
	e, ok := err.(*cloud.Error) //nolint:errorlint // of guarded, which does not wrap
	if !ok || e.Class != cloud.Unsupported || e.Code == "" {
		return err
	}
	told := *e
	told.Message = joinReasons(e.Message, p.budgetsOf(ctx, w))
	return &told
}

// startWorkload gives the replicas back, no fewer than its autoscaler would raise it to, and KEDA the rest. It takes
// the annotations of the stop away in any case. It returns why the workload is left off.
func (p *pass) startWorkload(ctx context.Context, r apiResource, w view,
	snapshot json.RawMessage,
) (left string, err error) {
	m, known, err := decodeSnapshot[workloadMemory](snapshot)
	if err != nil {
		return "", err
	}
	s := workloadStart{memory: m, known: known, wasOff: cloud.IsOff(snapshot), driven: len(w.scalers) > 0}
	if w.replicas() == 0 {
		if s.bounds, err = p.boundsOf(ctx, w.object); err != nil {
			return "", err
		}
	}
	err = p.changeGuarded(ctx, r, w.object, func(o object) (what change, err error) {
		what, left, err = s.decideStart(o)
		return what, err
	})
	for _, scaler := range w.scalers {
		if err == nil {
			err = p.resumeScaledObject(ctx, scaler, m.Paused)
		}
	}
	return left, err
}

// workloadStart is the knowledge before the start of a workload.
type workloadStart struct {
	memory workloadMemory
	known  bool // the memory is of a stop
	wasOff bool // the stop found it off
	driven bool // by KEDA
	bounds
}

// decideStart returns the change that starts a workload, or the reason why it stays off. The annotations of a stop take
// precedence over the snapshot, because the stop wrote them together with its change.
func (s workloadStart) decideStart(o object) (change, string, error) {
	switch n := cmp.Or(o.annotatedReplicas(), s.memory.Replicas); {
	case o.replicas() > 0:
		return o.removeStopMarks(), "", nil
	case s.wasOff:
		return o.removeStopMarks(), offBefore, nil
	case s.driven && (n == 0 || o.turnedOff(s.known)): // KEDA has scaled it to 0, and raises it when it is resumed
		return o.removeStopMarks(), "", nil
	case o.turnedOff(s.known):
		return o.removeStopMarks(), offSince, nil
	case n == 0:
		return nil, "", cloud.ErrUnsupported("%s has 0 replicas, and none are remembered, because no stop of ours is "+
			"on record: "+
			"scale it to the replicas that it should have", o.Name)
	default:
		start := change{
			"metadata": change{"annotations": removedStopMarks()},
			"spec":     change{"replicas": max(n, s.least)},
		}
		return start, "", nil
	}
}

// annotatedReplicas returns the number of replicas in the annotation of a stop; 0 without one.
func (o object) annotatedReplicas() int64 {
	n, err := strconv.ParseInt(o.Annotations[stoppedReplicas], 10, 64)
	if err != nil || n < 0 || n > mostReplicas {
		return 0
	}
	return n
}
