package kubernetes

import (
	"context"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// volumeObject has the fields that are read of a PersistentVolume.
type volumeObject struct {
	Head `json:"metadata"`
	Spec struct {
		Reclaim string `json:"persistentVolumeReclaimPolicy"`
		CSI     struct {
			Driver string `json:"driver"`
			Handle string `json:"volumeHandle"`
		} `json:"csi"`
	} `json:"spec"`
	Status struct {
		Phase      string `json:"phase"`
		Transition string `json:"lastPhaseTransitionTime"`
	} `json:"status"`
}

// volumeFacts returns the facts of a PersistentVolume.
func (v volumeObject) volumeFacts() cloud.Facts {
	f := cloud.Facts{
		"phase": v.Status.Phase, "reclaim_policy": v.Spec.Reclaim, "released_at": cloud.Never, "disk": v.diskUID(),
	}
	if v.Status.Phase == "Released" || v.Status.Phase == "Failed" {
		f["released_at"] = timeOrSince(v.Status.Transition)
	}
	return f
}

// diskUID returns the uid of the disk in the cloud that the volume is; "" for another volume.
func (v volumeObject) diskUID() string {
	switch handle := v.Spec.CSI.Handle; v.Spec.CSI.Driver {
	case "ebs.csi.aws.com":
		return handle
	case "disk.csi.azure.com":
		return strings.ToLower(handle)
	case "pd.csi.storage.gke.io":
		return "//compute.googleapis.com/" + handle
	}
	return ""
}

// surveyDisks returns the uids of the disks in the cloud, by PersistentVolume.
func (c *cluster) surveyDisks(ctx context.Context) (answer[map[string]string], error) {
	return c.survey.disks.get(c.clock.Now(), false, func() (map[string]string, error) {
		out := map[string]string{}
		err := eachTyped(ctx, c, volumesOf, "", func(v *volumeObject) { out[v.Name] = v.diskUID() })
		return out, err
	})
}

// claim has the fields that are read of a PersistentVolumeClaim.
type claim struct {
	Head `json:"metadata"`
	Spec struct {
		Volume string `json:"volumeName"`
	} `json:"spec"`
	Status struct {
		Phase    string         `json:"phase"`
		Capacity map[string]any `json:"capacity"`
	} `json:"status"`
}

// claimFactors are the objects that the facts of claims need.
type claimFactors struct {
	pods      answer[podSurvey]
	workloads answer[byNamespace]
	disks     answer[map[string]string]
}

func describeClaims(ctx context.Context, c *cluster) (describer[claim], error) {
	var n claimFactors
	err := readAll(
		reading(&n.pods, func() (answer[podSurvey], error) { return c.surveyPods(ctx) }),
		reading(&n.workloads, func() (answer[byNamespace], error) { return c.surveyWorkloads(ctx, false) }),
		reading(&n.disks, func() (answer[map[string]string], error) { return c.surveyDisks(ctx) }),
	)
	return func(v claim, r *cloud.Resource) { r.Facts = n.claimFacts(v) }, err
}

// claimFacts returns the facts of a PersistentVolumeClaim.
func (n claimFactors) claimFacts(v claim) cloud.Facts {
	f := cloud.Facts{"phase": v.Status.Phase, "size_gb": quantity(v.Status.Capacity["storage"]) / 1e9}
	if why := n.pods.missing(); why != "" {
		f.Miss(why, "mounted_by", "unmounted_since")
	} else {
		v.addMounts(f, n.pods.value.mounts[v.ref()])
	}
	if why := n.workloads.missing(); why != "" {
		f.Miss(why, "owner_scaled_down")
	} else {
		f["owner_scaled_down"] = n.workloads.value.leavesClaim(v.ref())
	}
	if why := n.disks.missing(); why != "" {
		f.Miss(why, "disk")
	} else {
		f["disk"] = n.disks.value[v.Spec.Volume]
	}
	return f
}

// addMounts adds the number of pods that mount the claim. No cluster says since when none does.
func (claim) addMounts(f cloud.Facts, pods int) {
	f["mounted_by"], f["unmounted_since"] = float64(pods), cloud.Never
	if pods == 0 {
		f["unmounted_since"] = cloud.Since{}
	}
}

// leavesClaim reports whether a claim belongs to a replica that a StatefulSet no longer has: "data-db-2" of a
// StatefulSet db with two replicas and a template data.
func (b byNamespace) leavesClaim(at ref) bool {
	h := b[at.ns]
	if h == nil {
		return false
	}
	for i := range h.stateful {
		for _, template := range h.stateful[i].claimTemplates() {
			number, its := strings.CutPrefix(at.name, template+"-"+h.stateful[i].Name+"-")
			n, err := strconv.ParseInt(number, 10, 64)
			if its && err == nil && n >= h.stateful[i].Spec.Ordinals.Start+h.stateful[i].replicas() {
				return true
			}
		}
	}
	return false
}

// claimTemplates returns the names of the claim templates of a StatefulSet.
func (o object) claimTemplates() []string {
	var out []string
	for _, t := range o.Spec.Claims {
		m, _ := t.(map[string]any)
		if name, _ := nestedValue(m, "metadata", "name").(string); name != "" {
			out = append(out, name)
		}
	}
	return out
}
