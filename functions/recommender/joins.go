package recommender

import (
	"context"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
)

// join joins the resources of an organization. For some of its parts it keeps what their resources depend on, wherever
// that is: their parents and their own parts. That takes a second look at the index, in memory.
func (s *sources) join(ctx context.Context, in *inputs, of inputsOf) error {
	if of.parts != everyPart {
		in.needs = &needs{of: of.parts, parents: map[string]bool{}, others: map[string]bool{}}
		if err := s.inventory.EachIndexed(ctx, of.org, in.needs.note); err != nil {
			return err
		}
	}
	return s.inventory.EachIndexed(ctx, of.org, in.join)
}

// needs is what the resources of some parts of a pass depend on. A nil one is everything.
type needs struct {
	of      partSet
	parents map[string]bool // of their resources
	others  map[string]bool // resources of other parts whose costs they need: their disks and instances
	// native ids of the accounts, if only they are evaluated
	subjects map[string]bool
}

// note notes what a resource depends on, or that others depend on it. A disk without a machine may be that of a
// persistent volume, which names it in its facts.
func (n *needs) note(r inventory.IndexedResource) {
	own := n.of.contain(r.UID)
	switch {
	case own && r.ParentUID != "":
		n.parents[r.ParentUID] = true
	case !own && r.ParentUID == "" && diskTypes[r.Type], !own && r.ParentUID != "" && n.of.contain(r.ParentUID):
		n.others[r.UID] = true
	}
}

// parent reports whether a resource is the parent of one under evaluation.
func (n *needs) parent(uid string) bool { return n == nil || n.parents[uid] }

// parts reports whether a resource is under evaluation, so that its parts are needed.
func (n *needs) parts(uid string) bool { return n == nil || n.of.contain(uid) }

// cost reports whether the cost of a resource is needed: rules about accounts need all of them.
func (n *needs) cost(uid string) bool {
	return n.accounts() || n.of.contain(uid) || n.others[uid]
}

// costFilter returns the function cost, or nil if all costs are needed.
func (n *needs) costFilter() func(uid string) bool {
	if n == nil {
		return nil
	}
	return n.cost
}

// evaluateSubjects notes the accounts, if only rules about them are evaluated.
func (n *needs) evaluateSubjects(accounts map[string]inventory.Account) {
	if n == nil || n.of != 1<<accountsPart {
		return
	}
	n.subjects = make(map[string]bool, len(accounts))
	for id := range accounts {
		n.subjects[accounts[id].CloudAccountID] = true
	}
}

// accounts reports whether rules about accounts are evaluated.
func (n *needs) accounts() bool { return n == nil || n.of.contains(accountsPart) }

// join counts a resource as a part of its parent, and keeps the state of machines.
func (in *inputs) join(r inventory.IndexedResource) {
	if machineTypes[r.Type] && in.needs.parent(r.UID) {
		in.machines[r.UID] = machine{r.Status, r.StatusAt}
	}
	if r.Class != "" && isCommittable(r.Type) && in.needs.accounts() {
		in.classes[r.UID] = r.Class
	}
	if r.Type == googleDisk && in.needs.parent(r.UID) {
		in.disks[r.UID] = true
	}
	if group := resourceGroupOf(r.UID); group != "" {
		in.inGroups[group]++
	}
	if r.ParentUID == "" {
		if diskTypes[r.Type] {
			d := diskOf(&r)
			d.account = r.CloudAccountID
			in.unattached[clusterDiskID(&r)] = d
		}
		return
	}
	if !in.needs.parts(r.ParentUID) {
		return
	}
	in.addPart(&r)
}

// addPart adds a resource to the parts of its parent.
func (in *inputs) addPart(r *inventory.IndexedResource) {
	p := in.parts[r.ParentUID]
	p.count++
	if diskTypes[r.Type] {
		p.gib += float64(r.Capacity["sizeGiB"])
		p.disks = append(p.disks, diskOf(r))
	}
	if r.Type == "gcp-bigtable-cluster" {
		p.clusters++
	}
	if r.Type == cloud.AWSRDS {
		p.member, p.members = p.member.with(*r), append(p.members, disk{uid: r.UID, id: r.ID()})
	}
	in.parts[r.ParentUID] = p
}

// clusterDiskID returns the id by which a cluster names a disk: the id of an EBS volume, which is the end of its native
// id, or else the native id.
func clusterDiskID(r *inventory.IndexedResource) string {
	if r.Type == "aws-ebs" {
		return r.UID[strings.LastIndexByte(r.UID, '/')+1:]
	}
	return r.UID
}

// with returns the machine of the instances and one more.
func (m databaseMember) with(r inventory.IndexedResource) databaseMember {
	if m.class == "" {
		return databaseMember{class: r.Class, facts: r.Facts}
	}
	m.mixed = m.mixed || m.class != r.Class
	return m
}
