package kubernetes

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// This file reads the facts of facts.csv from the listed objects. It makes no calls.

// template holds the fields that are read of a workload's pod template.
type template struct {
	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec podSpec `json:"spec"`
}

type podSpec struct {
	Containers     []container       `json:"containers"`
	HostNetwork    bool              `json:"hostNetwork"`
	HostPID        bool              `json:"hostPID"`
	HostIPC        bool              `json:"hostIPC"`
	Volumes        []volume          `json:"volumes"`
	Security       security          `json:"securityContext"`
	AccountName    string            `json:"serviceAccountName"`
	MountToken     *bool             `json:"automountServiceAccountToken"`
	Spread         []any             `json:"topologySpreadConstraints"`
	Affinity       map[string]any    `json:"affinity"`
	Tolerations    []toleration      `json:"tolerations"`
	NodeSelector   map[string]string `json:"nodeSelector"`
	ActiveDeadline *int64            `json:"activeDeadlineSeconds"`
}

type container struct {
	Image     string `json:"image"`
	Resources struct {
		Requests map[string]any `json:"requests"`
		Limits   map[string]any `json:"limits"`
	} `json:"resources"`
	Readiness any      `json:"readinessProbe"`
	Liveness  any      `json:"livenessProbe"`
	Security  security `json:"securityContext"`
	Env       []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
}

type volume struct {
	HostPath any `json:"hostPath"`
}

type toleration struct {
	Key string `json:"key"`
}

type security struct {
	Privileged   *bool  `json:"privileged"`
	Escalation   *bool  `json:"allowPrivilegeEscalation"`
	ReadOnlyRoot *bool  `json:"readOnlyRootFilesystem"`
	RunAsNonRoot *bool  `json:"runAsNonRoot"`
	RunAsUser    *int64 `json:"runAsUser"`
	Capabilities struct {
		Add []string `json:"add"`
	} `json:"capabilities"`
}

// condition is one of an object's status.
type condition struct {
	Type       string `json:"type"`
	Status     string `json:"status"`
	Reason     string `json:"reason"`
	Transition string `json:"lastTransitionTime"`
}

func isTrue(b *bool) bool { return b != nil && *b }

// sumQuantities adds up a quantity of all containers of a pod.
func (p podSpec) sumQuantities(of func(container) any) float64 {
	total := 0.0
	for _, c := range p.Containers {
		total += quantity(of(c))
	}
	return total
}

// countContainers counts containers.
func (p podSpec) countContainers(is func(container) bool) float64 {
	n := 0
	for _, c := range p.Containers {
		if is(c) {
			n++
		}
	}
	return float64(n)
}

func (p podSpec) hasContainer(is func(container) bool) bool {
	return slices.ContainsFunc(p.Containers, is)
}

const gib = 1 << 30

// sizeFacts returns the facts that Deployments and StatefulSets share.
func (o object) sizeFacts() cloud.Facts {
	p := o.Spec.Template.Spec
	return cloud.Facts{
		"replicas": float64(o.replicas()), "gitops": o.isManaged(), "spread": len(p.Spread) > 0 ||
			p.Affinity["podAntiAffinity"] != nil,
		"cpu_request_cores": p.sumQuantities(func(c container) any { return c.Resources.Requests["cpu"] }),
		"mem_request_gib":   p.sumQuantities(func(c container) any { return c.Resources.Requests["memory"] }) / gib,
	}
}

// isManaged reports whether a deployment tool manages the object and would revert changes.
func (o object) isManaged() bool {
	for _, key := range slices.Concat(argo, flux) {
		if o.Labels[key] != "" || o.Annotations[key] != "" {
			return true
		}
	}
	return false
}

// secretName is how the names of secrets look.
var secretName = regexp.MustCompile(`(?i)(password|passwd|secret|token|api_?key|private_?key|credential)`)

// deploymentFacts returns the facts of a Deployment.
func (o object) deploymentFacts() cloud.Facts {
	f, p := o.sizeFacts(), o.Spec.Template.Spec
	f["ready"], f["namespace_system"] = float64(o.Status.Ready), ofCluster(o.Namespace) != ""
	f["unavailable_since"], f["progress_failed"] = cloud.Epoch, false
	for _, c := range o.Status.Conditions {
		if at, err := time.Parse(time.RFC3339, c.Transition); c.Type == "Available" && c.Status == "False" &&
			err == nil {
			f["unavailable_since"] = at.UTC()
		}
		f["progress_failed"] = f["progress_failed"] == true || c.Type == "Progressing" &&
			c.Reason == "ProgressDeadlineExceeded"
	}
	f["containers_without_cpu_request"] = p.countContainers(func(c container) bool {
		return c.Resources.Requests["cpu"] == nil
	})
	f["containers_without_mem_request"] = p.countContainers(func(c container) bool {
		return c.Resources.Requests["memory"] == nil
	})
	f["containers_without_mem_limit"] = p.countContainers(func(c container) bool {
		return c.Resources.Limits["memory"] == nil
	})
	f["cpu_limit_cores"] = p.sumQuantities(func(c container) any { return c.Resources.Limits["cpu"] })
	f["gpu_request"] = p.sumQuantities(func(c container) any { return gpuOf(c.Resources.Limits) })
	f["no_readiness"] = p.countContainers(func(c container) bool { return c.Readiness == nil })
	f["no_liveness"] = p.countContainers(func(c container) bool { return c.Liveness == nil })
	f["latest_tag"] = p.hasContainer(func(c container) bool { return isLatest(c.Image) })
	f["env_secret_plain"] = p.hasContainer(container.tellsSecret)
	f["spot_tolerant"] = p.toleratesSpot()
	p.addRisks(f)
	return f
}

// gpuOf returns the accelerators among limits: "nvidia.com/gpu", "amd.com/gpu".
func gpuOf(limits map[string]any) any {
	for name, v := range limits {
		if strings.HasSuffix(name, "/gpu") {
			return v
		}
	}
	return nil
}

// isLatest reports whether an image has no fixed version.
func isLatest(image string) bool {
	name := image[strings.LastIndex(image, "/")+1:]
	return !strings.Contains(image, "@") && (!strings.Contains(name, ":") || strings.HasSuffix(name, ":latest"))
}

func (c container) tellsSecret() bool {
	for _, e := range c.Env {
		if e.Value != "" && secretName.MatchString(e.Name) {
			return true
		}
	}
	return false
}

// spotKeys are the labels that providers set on nodes of spare capacity.
var spotKeys = []string{
	"cloud.google.com/gke-spot", "kubernetes.azure.com/scalesetpriority",
	"eks.amazonaws.com/capacityType", "karpenter.sh/capacity-type",
}

func (p podSpec) toleratesSpot() bool {
	for _, t := range p.Tolerations {
		if slices.Contains(spotKeys, t.Key) {
			return true
		}
	}
	return slices.ContainsFunc(spotKeys, func(k string) bool {
		return strings.EqualFold(p.NodeSelector[k], "spot") || p.NodeSelector[k] == "true"
	})
}

// addRisks adds the facts about the pod's power over its node.
func (p podSpec) addRisks(f cloud.Facts) {
	f["host_namespaces"] = p.HostNetwork || p.HostPID || p.HostIPC
	f["host_path"] = slices.ContainsFunc(p.Volumes, func(v volume) bool { return v.HostPath != nil })
	f["privileged"] = p.hasContainer(func(c container) bool { return isTrue(c.Security.Privileged) })
	f["privilege_escalation"] = p.hasContainer(func(c container) bool {
		return c.Security.Escalation == nil || *c.Security.Escalation
	})
	f["writable_root"] = p.hasContainer(func(c container) bool { return !isTrue(c.Security.ReadOnlyRoot) })
	f["run_as_root"] = p.hasContainer(p.isRoot)
	f["token_mounted"] = (p.MountToken == nil || *p.MountToken) && (p.AccountName == "" || p.AccountName == "default")
	caps := []string{}
	for _, c := range p.Containers {
		caps = append(caps, c.Security.Capabilities.Add...)
	}
	slices.Sort(caps)
	f["dangerous_caps"] = slices.Compact(caps)
}

// isRoot reports whether a container may run as root. The container's settings override those of its pod.
func (p podSpec) isRoot(c container) bool {
	user, other := c.Security.RunAsUser, c.Security.RunAsNonRoot
	if user == nil {
		user = p.Security.RunAsUser
	}
	if other == nil {
		other = p.Security.RunAsNonRoot
	}
	return !isTrue(other) && (user == nil || *user == 0)
}

// statefulFacts returns the facts of a StatefulSet.
func (o object) statefulFacts() cloud.Facts {
	f := o.sizeFacts()
	f["claims_deleted_on_scale"] = o.Spec.Retention.WhenScaled == "Delete"
	total := 0.0
	for _, claim := range o.Spec.Claims {
		v := claim
		for _, name := range []string{"spec", "resources", "requests", "storage"} {
			m, _ := v.(map[string]any)
			v = m[name]
		}
		total += quantity(v)
	}
	f["volume_gb"] = total / 1e9
	return f
}

// cronJobFacts returns the facts of a CronJob.
func (o object) cronJobFacts() cloud.Facts {
	f := cloud.Facts{
		"suspended": o.suspended(), "active": float64(len(o.Status.Active)), "concurrency": "Allow",
		"last_success_at": cloud.Epoch, "last_schedule_at": cloud.Epoch,
		"deadline_set": o.Spec.JobTemplate.Spec.ActiveDeadline != nil,
	}
	if o.Spec.Concurrency != "" {
		f["concurrency"] = o.Spec.Concurrency
	}
	for name, text := range map[string]string{
		"last_success_at":  o.Status.LastSuccess,
		"last_schedule_at": o.Status.LastSchedule,
	} {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			f[name] = at.UTC()
		}
	}
	return f
}

// ownerKeys are the labels that name the person responsible for a namespace.
var ownerKeys = []string{"owner", "team", "app.kubernetes.io/managed-by-team"}

// namespaceFacts returns the facts of a namespace.
func (o object) namespaceFacts() cloud.Facts {
	f := cloud.Facts{
		"phase": o.Status.Phase, "terminating_since": cloud.Epoch,
		"pod_security": o.Labels["pod-security.kubernetes.io/enforce"], "owner_label": "",
		"is_system": ofCluster(o.Name) != "", "preview": o.Labels["preview"] != "" || previewName.MatchString(o.Name),
	}
	if o.DeletionTimestamp != nil {
		f["terminating_since"] = o.DeletionTimestamp.UTC()
	}
	for _, key := range ownerKeys {
		if v := o.Labels[key]; v != "" && f["owner_label"] == "" {
			f["owner_label"] = v
		}
	}
	return f
}

// previewName is how environments of one change are called.
var previewName = regexp.MustCompile(`(^|-)(pr|mr|preview|review)-`)
