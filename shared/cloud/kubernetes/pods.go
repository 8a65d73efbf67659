package kubernetes

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// pod has the fields that are read of a pod. There may be 100,000 of them, so they are counted while they are listed
// and not kept.
type pod struct {
	Head `json:"metadata"`
	Spec struct {
		NodeName   string         `json:"nodeName"`
		Containers []podContainer `json:"containers"`
		Volumes    []podVolume    `json:"volumes"`
	} `json:"spec"`
	Status struct {
		Phase             string            `json:"phase"`
		Reason            string            `json:"reason"`
		Conditions        []condition       `json:"conditions"`
		InitStatuses      []containerStatus `json:"initContainerStatuses"`
		ContainerStatuses []containerStatus `json:"containerStatuses"`
	} `json:"status"`
}

type podContainer struct {
	Resources struct {
		Requests map[string]any `json:"requests"`
	} `json:"resources"`
}

type podVolume struct {
	Name  string `json:"name"`
	Claim struct {
		Name string `json:"claimName"`
	} `json:"persistentVolumeClaim"`
	Ephemeral *struct{} `json:"ephemeral"`
}

// containerStatus holds the fields that are read of a container's status.
type containerStatus struct {
	State struct {
		Waiting struct {
			Reason string `json:"reason"`
		} `json:"waiting"`
		Terminated termination `json:"terminated"`
	} `json:"state"`
	LastState struct {
		Terminated termination `json:"terminated"`
	} `json:"lastState"`
}

type termination struct {
	Reason   string `json:"reason"`
	Finished string `json:"finishedAt"`
}

// workloadKey names a workload: its namespace, its kind ("Deployment") and its name.
type workloadKey struct{ ns, kind, name string }

// nodePods are counts of the pods on a node: those outside DaemonSets, those that the kubelet runs from its own files,
// and those that forbid their eviction.
type nodePods struct{ workloads, static, kept int }

// podSurvey is what is counted of all pods of a cluster.
type podSurvey struct {
	now      time.Time
	services map[string][]service
	loads    nodeLoads
	nodes    map[string]nodePods
	running  map[string]int      // by namespace
	mounts   map[ref]int         // by claim: pods that have not ended
	killed   map[workloadKey]int // containers that were killed for lack of memory
	selected map[ref]int         // by Service: pods that have not ended
	notable  []listedObject      // the pods that a rule concerns
}

// surveyPods counts the pods of the cluster. It lists them page by page.
func (c *cluster) surveyPods(ctx context.Context) (answer[podSurvey], error) {
	return c.survey.pods.get(c.clock.Now(), false, func() (podSurvey, error) {
		services, err := c.surveyServices(ctx)
		if err != nil {
			return podSurvey{}, err
		}
		s := podSurvey{
			now: c.clock.Now(), services: services.value, loads: nodeLoads{}, nodes: map[string]nodePods{},
			running: map[string]int{}, mounts: map[ref]int{}, killed: map[workloadKey]int{}, selected: map[ref]int{},
		}
		err = eachTyped(ctx, c, podsOf, "", s.addPod)
		return s, err
	})
}

// addPod counts a pod.
func (s *podSurvey) addPod(p *pod) {
	kind, name := p.workloadOf()
	if n := p.countKilled(s.now); n > 0 {
		s.killed[workloadKey{p.Namespace, kind, name}] += n
	}
	s.addNotable(p)
	if p.hasEnded() {
		return
	}
	if p.Status.Phase == "Running" {
		s.running[p.Namespace]++
	}
	for _, claim := range p.claims() {
		s.mounts[ref{p.Namespace, claim}]++
	}
	for i := range s.services[p.Namespace] {
		if o := &s.services[p.Namespace][i]; selectsLabels(o.Spec.Selector, p.Labels) {
			s.selected[o.ref()]++
		}
	}
	s.addToNode(p, workloadKey{p.Namespace, kind, name})
}

// addToNode counts a pod that has not ended on its node.
func (s *podSurvey) addToNode(p *pod, of workloadKey) {
	if p.Spec.NodeName == "" {
		return
	}
	n := s.nodes[p.Spec.NodeName]
	switch of.kind {
	case "Node":
		n.static++
	case "DaemonSet":
	default:
		n.workloads++
	}
	if p.forbidsEviction() {
		n.kept++
	}
	s.nodes[p.Spec.NodeName] = n
	if p.getsImage() {
		p.addTo(s.loads.loadOf(p.Spec.NodeName, of))
	}
}

// hasEnded reports whether all containers of a pod have ended for good.
func (p *pod) hasEnded() bool { return p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" }

// imageReasons are the reasons of containers that wait for an image that cannot be pulled.
var imageReasons = []string{"ImagePullBackOff", "ErrImagePull", "InvalidImageName"}

// getsImage reports whether no container waits for an image that cannot be pulled. A pod that does takes nothing of its
// node.
func (p *pod) getsImage() bool { return !slices.Contains(imageReasons, p.waitingReason()) }

// waitingReason returns why a container of the pod waits: the reason that its image cannot be pulled, or else the first
// one; "" if none waits.
func (p *pod) waitingReason() string {
	first := ""
	for _, s := range slices.Concat(p.Status.InitStatuses, p.Status.ContainerStatuses) {
		r := s.State.Waiting.Reason
		if slices.Contains(imageReasons, r) {
			return r
		}
		first = cmp.Or(first, r)
	}
	return first
}

// killedFor is how long a container counts as killed for lack of memory.
const killedFor = 7 * 24 * time.Hour

// countKilled returns the number of containers that were killed for lack of memory within killedFor.
func (p *pod) countKilled(now time.Time) int {
	n := 0
	for i := range p.Status.ContainerStatuses {
		s := &p.Status.ContainerStatuses[i]
		if s.State.Terminated.isKill(now) || s.LastState.Terminated.isKill(now) {
			n++
		}
	}
	return n
}

func (t termination) isKill(now time.Time) bool {
	if t.Reason != "OOMKilled" {
		return false
	}
	at, err := time.Parse(time.RFC3339, t.Finished)
	return err == nil && now.Sub(at) < killedFor
}

// claims returns the names of the volume claims that a pod mounts.
func (p *pod) claims() []string {
	var out []string
	for _, v := range p.Spec.Volumes {
		switch {
		case v.Claim.Name != "":
			out = append(out, v.Claim.Name)
		case v.Ephemeral != nil:
			out = append(out, p.Name+"-"+v.Name)
		}
	}
	return out
}

// forbidsEviction reports whether the owner of a pod has forbidden autoscalers to move it.
func (p *pod) forbidsEviction() bool {
	return p.Annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false" ||
		p.Annotations["karpenter.sh/do-not-disrupt"] == "true"
}

// workloadOf names the workload of a pod, from the name of its owner: the name of a ReplicaSet is that of its
// Deployment and a hash, the name of a Job that of its CronJob and the minute. A pod without an owner is its own
// workload.
func (p *pod) workloadOf() (kind, name string) {
	owner, owned := p.controller()
	if !owned {
		return "Pod", p.Name
	}
	if hash := p.Labels["pod-template-hash"]; owner.Kind == "ReplicaSet" && hash != "" {
		if name, cut := strings.CutSuffix(owner.Name, "-"+hash); cut {
			return "Deployment", name
		}
	}
	if at := strings.LastIndexByte(owner.Name, '-'); owner.Kind == "Job" && at > 0 &&
		len(owner.Name)-at == len("-29000000") && isDigits(owner.Name[at+1:]) {
		return "CronJob", owner.Name[:at]
	}
	return owner.Kind, owner.Name
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// selectsLabels reports whether a selector of equal labels selects labels. A selector without labels selects nothing.
func selectsLabels(selector, labels map[string]string) bool {
	for k, v := range selector {
		if value, there := labels[k]; !there || value != v {
			return false
		}
	}
	return len(selector) > 0
}
