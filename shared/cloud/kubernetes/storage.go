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
	} `json:"spec"`
	Status struct {
		Phase      string `json:"phase"`
		Transition string `json:"lastPhaseTransitionTime"`
	} `json:"status"`
}

// volumeFacts returns the facts of a PersistentVolume.
func (v volumeObject) volumeFacts() cloud.Facts {
	f := cloud.Facts{"phase": v.Status.Phase, "reclaim_policy": v.Spec.Reclaim, "released_at": cloud.Never}
	if v.Status.Phase == "Released" || v.Status.Phase == "Failed" {
		f["released_at"] = timeOrSince(v.Status.Transition)
	}
	return f
}

// claim has the fields that are read of a PersistentVolumeClaim.
type claim struct {
	Head   `json:"metadata"`
	Status struct {
		Phase    string         `json:"phase"`
		Capacity map[string]any `json:"capacity"`
	} `json:"status"`
}

func describeClaims(ctx context.Context, c *cluster) (describer[claim], error) {
	var pods answer[podSurvey]
	var workloads answer[byNamespace]
	err := readAll(
		reading(&pods, func() (answer[podSurvey], error) { return c.surveyPods(ctx) }),
		reading(&workloads, func() (answer[byNamespace], error) { return c.surveyWorkloads(ctx, false) }),
	)
	return func(v claim, r *cloud.Resource) {
		r.Facts = cloud.Facts{"phase": v.Status.Phase, "size_gb": quantity(v.Status.Capacity["storage"]) / 1e9}
		if why := pods.missing(); why != "" {
			r.Facts.Miss(why, "mounted_by", "unmounted_since")
		} else {
			v.addMounts(r.Facts, pods.value.mounts[v.ref()])
		}
		if why := workloads.missing(); why != "" {
			r.Facts.Miss(why, "owner_scaled_down")
		} else {
			r.Facts["owner_scaled_down"] = workloads.value.leavesClaim(v.ref())
		}
	}, err
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
