package awstwin

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

func init() {
	maps.Copy(operations, map[string]func(*Cloud, request) (any, *failure){
		"ec2:AllocateAddress":              (*Cloud).allocateAddress,
		"ec2:CreateSnapshot":               (*Cloud).createSnapshot,
		"ec2:CreateTags":                   (*Cloud).createTags,
		"ec2:CreateVolume":                 (*Cloud).createVolume,
		"ec2:DeleteSnapshot":               (*Cloud).deleteSnapshot,
		"ec2:DeleteTags":                   (*Cloud).deleteTags,
		"ec2:DeleteVolume":                 (*Cloud).deleteVolume,
		"ec2:DescribeVolumesModifications": (*Cloud).describeModifications,
		"ec2:ModifyInstanceAttribute":      (*Cloud).modifyInstance,
		"ec2:ModifyVolume":                 (*Cloud).modifyVolume,
		"rds:ModifyDBInstance":             (*Cloud).modifyDatabase,
		"ec2:ReleaseAddress":               (*Cloud).releaseAddress,
	})
}

// Modification is the last change of a volume.
type Modification struct {
	State   string // modifying, optimizing, completed or failed
	Started time.Time
}

// Taken is an address that AWS gives to somebody else: it cannot be allocated again.
func (c *Cloud) Taken(ip string) { c.ChangeLocked(func() { c.taken = append(c.taken, ip) }) }

// SetModification sets the last change of a volume.
func (c *Cloud) SetModification(id string, m Modification) {
	c.ChangeLocked(func() { c.modified()[id] = m })
}

// EndChanges completes the changes of volumes and the snapshots under way.
func (c *Cloud) EndChanges() {
	c.ChangeLocked(func() {
		for id, m := range c.modified() {
			m.State = "completed"
			c.modifications[id] = m
		}
		for i := range c.snapshots {
			c.snapshots[i].Pending = false
		}
	})
}

// Volumes returns the volumes that are there.
func (c *Cloud) Volumes() []Volume {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.volumes)
}

// Snapshots returns the snapshots that are there.
func (c *Cloud) Snapshots() []Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.snapshots)
}

// Addresses returns the addresses that are there.
func (c *Cloud) Addresses() []Address {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.addresses)
}

func (c *Cloud) modified() map[string]Modification {
	if c.modifications == nil {
		c.modifications = map[string]Modification{}
	}
	return c.modifications
}

// made returns the answer of a call without data, and an id that no other resource has.
func made() []node { return []node{newText("return", "true")} }

func (c *Cloud) newID(prefix string) string {
	c.numbers++
	return fmt.Sprintf("%s-new%d", prefix, c.numbers)
}

// tagsIn returns the tags of a new resource.
func tagsIn(q request, prefix string) map[string]string {
	out := map[string]string{}
	for i := 1; ; i++ {
		at := prefix + "Tag." + strconv.Itoa(i)
		if len(q.form[at+".Key"]) == 0 {
			return out
		}
		out[q.form[at+".Key"][0]] = q.form.Get(at + ".Value")
	}
}

// volume returns the volume of an id in a region.
func (c *Cloud) volume(q request, id string) (*Volume, *failure) {
	for i := range c.volumes {
		if c.volumes[i].ID == id && c.volumes[i].Region == q.region {
			return &c.volumes[i], nil
		}
	}
	return nil, newFailure(http.StatusBadRequest, "InvalidVolume.NotFound", "The volume '%s' does not exist.", id)
}

func (c *Cloud) snapshotOf(q request, id string) (*Snapshot, *failure) {
	for i := range c.snapshots {
		if c.snapshots[i].ID == id && c.snapshots[i].Region == q.region {
			return &c.snapshots[i], nil
		}
	}
	return nil, newFailure(http.StatusBadRequest, "InvalidSnapshot.NotFound", "The snapshot '%s' does not exist.", id)
}

// tagged returns the tags of the resource of an id.
func (c *Cloud) tagged(q request, id string) (*map[string]string, *failure) {
	if v, f := c.volume(q, id); f == nil {
		return &v.Tags, nil
	}
	s, f := c.snapshotOf(q, id)
	if f != nil {
		return nil, newFailure(http.StatusBadRequest, "InvalidID", "The ID '%s' is not valid", id)
	}
	return &s.Tags, nil
}

func (c *Cloud) createTags(q request) (any, *failure) {
	return c.changeTags(q, func(tags, given map[string]string) { maps.Copy(tags, given) })
}

func (c *Cloud) deleteTags(q request) (any, *failure) {
	return c.changeTags(q, func(tags, given map[string]string) {
		for k := range given {
			delete(tags, k)
		}
	})
}

func (c *Cloud) changeTags(q request, change func(tags, given map[string]string)) (any, *failure) {
	for _, id := range q.getList("ResourceId") {
		tags, f := c.tagged(q, id)
		if f != nil {
			return nil, f
		}
		next := maps.Clone(*tags)
		if next == nil {
			next = map[string]string{}
		}
		change(next, tagsIn(q, ""))
		*tags = next
	}
	return made(), nil
}

func (c *Cloud) createSnapshot(q request) (any, *failure) {
	v, f := c.volume(q, q.getString("VolumeId"))
	if f != nil {
		return nil, f
	}
	s := Snapshot{
		ID: c.newID("snap"), Region: q.region, Volume: v.ID, SizeGB: v.SizeGB, Pending: true,
		Tags: tagsIn(q, "TagSpecification.1."),
	}
	c.snapshots = append(c.snapshots, s)
	return []node{newText("snapshotId", s.ID), newText("status", "pending")}, nil
}

func (c *Cloud) deleteSnapshot(q request) (any, *failure) {
	s, f := c.snapshotOf(q, q.getString("SnapshotId"))
	switch {
	case f != nil:
		return nil, f
	case s.Image != "":
		return nil, newFailure(http.StatusBadRequest, "InvalidSnapshot.InUse", "The snapshot %s is currently in use "+
			"by %s", s.ID, s.Image)
	}
	id := s.ID
	c.snapshots = slices.DeleteFunc(c.snapshots, func(s Snapshot) bool { return s.ID == id })
	return made(), nil
}

// createVolume makes a volume of a snapshot. A client token makes one volume.
func (c *Cloud) createVolume(q request) (any, *failure) {
	s, f := c.snapshotOf(q, q.getString("SnapshotId"))
	if f != nil {
		return nil, f
	}
	for _, v := range c.volumes {
		if v.Token != "" && v.Token == q.getString("ClientToken") {
			return []node{newText("volumeId", v.ID)}, nil
		}
	}
	v := Volume{
		ID: c.newID("vol"), Region: q.region, Type: q.getString("VolumeType"), SizeGB: s.SizeGB,
		Tags: tagsIn(q, "TagSpecification.1."), Token: q.getString("ClientToken"),
	}
	v.IOPS, _ = q.getNumber("Iops")
	v.Throughput, _ = q.getNumber("Throughput")
	v.deriveIOPS()
	c.volumes = append(c.volumes, v)
	return []node{newText("volumeId", v.ID)}, nil
}

// deriveIOPS sets the operations a second of a type that has them by its size.
func (v *Volume) deriveIOPS() {
	if v.Type == "gp2" {
		v.IOPS = min(max(3*v.SizeGB, 100), 16000)
	}
}

func (c *Cloud) deleteVolume(q request) (any, *failure) {
	v, f := c.volume(q, q.getString("VolumeId"))
	switch {
	case f != nil:
		return nil, f
	case v.Instance != "":
		return nil, newFailure(http.StatusBadRequest, "VolumeInUse", "Volume %s is currently attached to %s", v.ID,
			v.Instance)
	}
	id := v.ID
	c.volumes = slices.DeleteFunc(c.volumes, func(v Volume) bool { return v.ID == id })
	return made(), nil
}

func (c *Cloud) describeModifications(q request) (any, *failure) {
	ids, _ := q.filtered("volume-id")
	var nodes []node
	for _, id := range ids {
		if m, there := c.modifications[id]; there {
			nodes = append(nodes, newElement("item", newText("volumeId", id), newText("modificationState", m.State),
				newText("startTime", m.Started.UTC().Format(time.RFC3339))))
		}
	}
	return []node{newItems("volumeModificationSet", "item", nodes)}, nil
}

// modifyVolume changes a volume unless its last change is not over. IOPS and throughput that are not given are the
// defaults of a new type.
func (c *Cloud) modifyVolume(q request) (any, *failure) {
	v, f := c.volume(q, q.getString("VolumeId"))
	if f != nil {
		return nil, f
	}
	if s := c.modified()[v.ID].State; s == "modifying" || s == "optimizing" {
		return nil, newFailure(http.StatusBadRequest, "IncorrectModificationState", "Volume %s is in state %s", v.ID, s)
	}
	if kind := q.getString("VolumeType"); kind != "" && kind != v.Type {
		v.Type, v.IOPS, v.Throughput = kind, 0, 0
	}
	for name, to := range map[string]*int{"Iops": &v.IOPS, "Throughput": &v.Throughput} {
		if n, given := q.getNumber(name); given {
			*to = n
		}
	}
	v.deriveIOPS()
	c.modifications[v.ID] = Modification{State: "optimizing", Started: c.Now}
	return []node{newElement("volumeModification", newText("volumeId", v.ID))}, nil
}

func (c *Cloud) allocateAddress(q request) (any, *failure) {
	ip := q.getString("Address")
	if slices.Contains(c.taken, ip) {
		return nil, newFailure(http.StatusBadRequest, "InvalidAddress.NotFound", "The address '%s' is not available.",
			ip)
	}
	a := Address{ID: c.newID("eipalloc"), Region: q.region, IP: ip, Tags: tagsIn(q, "TagSpecification.1.")}
	c.addresses = append(c.addresses, a)
	return []node{newText("allocationId", a.ID), newText("publicIp", ip)}, nil
}

func (c *Cloud) releaseAddress(q request) (any, *failure) {
	id := q.getString("AllocationId")
	i := slices.IndexFunc(c.addresses, func(a Address) bool { return a.ID == id && a.Region == q.region })
	switch {
	case i < 0:
		return nil, newFailure(http.StatusBadRequest, "InvalidAllocationID.NotFound", "The allocation ID '%s' does "+
			"not exist", id)
	case c.addresses[i].Instance != "":
		return nil, newFailure(http.StatusBadRequest, "InvalidIPAddress.InUse", "Address %s is in use.",
			c.addresses[i].IP)
	}
	c.addresses = slices.Delete(c.addresses, i, i+1)
	return made(), nil
}

// modifyInstance sets the type of a stopped instance.
func (c *Cloud) modifyInstance(q request) (any, *failure) {
	found, f := c.named(q.region, []string{q.getString("InstanceId")})
	switch {
	case f != nil:
		return nil, f
	case found[0].State != "stopped":
		return nil, newFailure(http.StatusBadRequest, "IncorrectInstanceState", "The instance '%s' is not in the "+
			"'stopped' state.", found[0].ID)
	}
	found[0].Type = q.form.Get("InstanceType.Value")
	return made(), nil
}

// modifyDatabase changes values of an instance that is available. A limit of the storage that is its present size is
// none.
func (c *Cloud) modifyDatabase(q request) (any, *failure) {
	id := q.getString("DBInstanceIdentifier")
	i := slices.IndexFunc(c.dbs, func(d *Database) bool { return d.ID == id && !d.IsCluster && d.Region == q.region })
	switch {
	case i < 0:
		return nil, newFailure(http.StatusNotFound, "DBInstanceNotFound", "DBInstance %s not found.", id)
	case c.dbs[i].Status != "available":
		return nil, newFailure(http.StatusBadRequest, "InvalidDBInstanceState", "Instance %s is not available.", id)
	}
	d := c.dbs[i]
	next := maps.Clone(d.Settings)
	for _, name := range []string{
		"AutoMinorVersionUpgrade", "BackupRetentionPeriod", "DeletionProtection", "Iops", "MaxAllocatedStorage",
		"PerformanceInsightsRetentionPeriod", "StorageType",
	} {
		if v := q.form.Get(name); v != "" {
			next[name] = v
		}
	}
	if next["MaxAllocatedStorage"] == "20" { // its present size
		delete(next, "MaxAllocatedStorage")
	}
	d.Class = cmp.Or(q.form.Get("DBInstanceClass"), d.Class)
	if v := q.form.Get("MultiAZ"); v != "" {
		d.MultiAZ = v == "true"
	}
	d.Settings, d.Status = next, "modifying"
	return []node{d.node()}, nil
}
