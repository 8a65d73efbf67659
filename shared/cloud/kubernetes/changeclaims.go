package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// proveUnmounted proves that no pod mounts a claim and no workload would, and that its volume keeps the data.
func proveUnmounted(ctx context.Context, k *objectChange) (users []string, locked string, err error) {
	users, err = k.podUsers(ctx, func(p *pod) bool { return slices.Contains(p.claims(), k.at.name) })
	if err != nil {
		return nil, "", err
	}
	more, err := k.claimingWorkloads(ctx)
	if err != nil {
		return nil, "", err
	}
	locked, err = k.lossOfVolume(ctx)
	return shortened(append(users, more...)), locked, err
}

// claimingWorkloads returns the workloads whose pods would mount the claim if they ran.
func (k *objectChange) claimingWorkloads(ctx context.Context) (users []string, err error) {
	templates, err := k.c.templatesIn(ctx, k.at.ns)
	if err != nil {
		return nil, err
	}
	for _, t := range templates {
		if t.mounts(k.at.name) {
			users = append(users, t.owner)
		}
	}
	jobs, err := k.c.listDocuments(ctx, jobsOf, k.at.ns)
	if err != nil {
		return nil, err
	}
	for _, d := range jobs {
		t := templateOf(jobsOf, d, path{"spec", "template"})
		if j, err := decodeAs[job](d); t.mounts(k.at.name) && (err != nil || j.finishedAt().Equal(cloud.Epoch)) {
			users = append(users, t.owner)
		}
	}
	err = eachIn(ctx, k.c, statefulOf, k.at.ns, func(o *object) {
		if o.keepsClaim(k.at.name) {
			users = append(users, "statefulset "+o.Name)
		}
	})
	return users, err
}

// mounts reports whether a template names a claim.
func (t podTemplate) mounts(claim string) bool {
	for _, v := range t.spec.items("volumes") {
		if v.text("persistentVolumeClaim", "claimName") == claim {
			return true
		}
	}
	return false
}

// keepsClaim reports whether a claim belongs to a replica that a StatefulSet has, or had before a stop. One of size 0
// may be stopped, and keeps all of its claims.
func (o object) keepsClaim(name string) bool {
	size := max(o.replicas(), o.annotatedReplicas())
	for _, template := range o.claimTemplates() {
		number, its := strings.CutPrefix(name, template+"-"+o.Name+"-")
		n, err := strconv.ParseInt(number, 10, 64)
		if its && err == nil && (size == 0 || n < o.Spec.Ordinals.Start+size) {
			return true
		}
	}
	return false
}

// lossOfVolume returns why the data of a claim would be lost with it; "" if its volume keeps it.
func (k *objectChange) lossOfVolume(ctx context.Context) (string, error) {
	volume := k.now.text("spec", "volumeName")
	if volume == "" {
		return "it is not bound to a volume", nil
	}
	v, err := k.c.getDocument(ctx, volumesOf, ref{name: volume})
	if err != nil {
		return "", err
	}
	if policy := v.text("spec", "persistentVolumeReclaimPolicy"); policy != "Retain" {
		return "its volume " + volume + " has the reclaim policy " + policy + ", so its data would be lost with it: " +
			"set persistentVolumeReclaimPolicy: Retain on the volume first, and delete the volume when nobody needs " +
			"the data", nil
	}
	return "", nil
}

// boundMarks are the annotations by which a cluster knows that it has bound a claim: a claim that is made again with
// them would count as lost.
var boundMarks = []string{"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller"}

// releaseVolume takes the deleted claim out of its volume, so that the claim of the same name gets it again.
func (k *objectChange) releaseVolume(ctx context.Context, claim document) error {
	for _, mark := range boundMarks {
		claim.put(nil, "metadata", "annotations", mark)
	}
	v := &objectChange{
		changedKind: changedKind{resource: volumesOf}, c: k.c, at: ref{name: claim.text("spec", "volumeName")},
	}
	if err := v.read(ctx); err != nil {
		return err
	}
	of := v.now.text("spec", "claimRef", "namespace") + "/" + v.now.text("spec", "claimRef", "name")
	if of != "/" && of != k.at.ns+"/"+k.at.name {
		return cloud.ErrUnsupported("its volume %s belongs to the claim %s now", v.at.name, of)
	}
	return v.patch(ctx, func(next document) error {
		next.put(nil, "spec", "claimRef", "uid")
		next.put(nil, "spec", "claimRef", "resourceVersion")
		return nil
	})
}

// claimsDeleted is true if a StatefulSet deletes the claims of the replicas that it loses.
func claimsDeleted() changedValue {
	at := path{"spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"}
	return word("claims_deleted_on_scale", at, "Retain").asFlag("Delete", "Retain")
}

// claimSize is the requested size of a claim, in GB.
func claimSize() changedValue {
	at := path{"spec", "resources", "requests", "storage"}
	return changedValue{
		name: "size_gb", fields: []path{at}, final: "a claim cannot be made smaller", check: checkGrowth,
		read: func(k *objectChange) string { return shortText(quantity(k.now.at(at...)) / 1e9) },
		write: func(_ *objectChange, d document, text string) error {
			n, err := strconv.ParseInt(text, 10, 32)
			if err != nil || n < 1 {
				return cloud.ErrInvalid("size_gb %.40q is no whole number of 1 or more", text)
			}
			d.put(fmt.Sprintf("%dG", n), at...)
			return nil
		},
	}
}

// checkGrowth refuses a size that is not larger, and a claim whose class does not let it grow.
func checkGrowth(ctx context.Context, k *objectChange, text string) ([]string, error) {
	n, _ := strconv.ParseFloat(text, 64)
	has := max(quantity(k.now.at("spec", "resources", "requests", "storage")),
		quantity(k.now.at("status", "capacity", "storage"))) / 1e9
	if n <= has {
		return nil, cloud.ErrUnsupported("it has %s GB: a claim cannot be made smaller", shortText(has))
	}
	class := k.now.text("spec", "storageClassName")
	if class == "" || k.now.text("status", "phase") != "Bound" {
		return nil, cloud.ErrUnsupported("it is not bound to a volume of a storage class, so it cannot grow")
	}
	d, err := k.c.getDocument(ctx, storageClassesOf, ref{name: class})
	switch {
	case err != nil:
		return nil, err
	case d.at("allowVolumeExpansion") != true:
		return nil, cloud.ErrUnsupported("its storage class %s does not allow expansion", class)
	}
	return []string{
		"the claim and its disk stay larger: nothing makes them smaller again",
		"the file system grows after the disk, with some drivers when its pod starts the next time",
	}, nil
}
