package aws_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

const changedRegion = "eu-west-1"

// changeOf returns a change of a resource of EC2 in the twin.
func changeOf(kind string, verb cloud.ChangeVerb, resource string, steps ...string) cloud.Change {
	return cloud.Change{
		Verb: verb, Kind: kind, Region: changedRegion, Token: "rem_1-0", Steps: steps,
		UID: "arn:aws:ec2:" + changedRegion + ":" + awstwin.Account + ":" + resource,
	}
}

// changedCloud returns a twin with volumes, snapshots and addresses, and a changer for it.
func changedCloud(t *testing.T) (*awstwin.Cloud, cloud.Changer) {
	t.Helper()
	tw, conn := connect(t)
	tw.Now = time.Now()
	tw.AddVolume(awstwin.Volume{
		ID: "vol-1", Region: changedRegion, Type: "gp2", SizeGB: 2000, IOPS: 6000,
		Tags: map[string]string{"team": "a", "aws:x": "y"},
	})
	tw.AddVolume(awstwin.Volume{ID: "vol-2", Region: changedRegion, Type: "gp2", SizeGB: 8, Instance: "i-1"})
	tw.AddSnapshot(awstwin.Snapshot{ID: "snap-1", Region: changedRegion, Volume: "vol-0", SizeGB: 8})
	tw.AddSnapshot(awstwin.Snapshot{ID: "snap-2", Region: changedRegion, Volume: "vol-0", Image: "ami-1"})
	tw.AddAddress(awstwin.Address{
		ID: "eipalloc-1", Region: changedRegion, IP: "198.51.100.1", Tags: map[string]string{"team": "a"},
	})
	tw.AddAddress(awstwin.Address{ID: "eipalloc-2", Region: changedRegion, IP: "198.51.100.2", Instance: "i-1"})
	return tw, conn.(cloud.Changer)
}

// applied makes the calls of a change, each until its values are there.
func applied(t *testing.T, tw *awstwin.Cloud, c cloud.Changer, want cloud.Change) cloud.ChangePlan {
	t.Helper()
	p, err := c.PlanChange(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range want.Calls(p.After) {
		call := cloud.ChangeCall{Change: want, Set: step.Set}
		if err = c.ApplyChange(t.Context(), call); err != nil {
			t.Fatalf("%s: %v", step.Name, err)
		}
		tw.EndChanges()
		reached(t, c, call)
	}
	return p
}

func reached(t *testing.T, c cloud.Changer, call cloud.ChangeCall) {
	t.Helper()
	if ok, now, err := c.CheckChange(t.Context(), call); err != nil || !ok {
		t.Fatalf("not reached: %v, %v; want %v", now, err, call.Set)
	}
}

func undo(t *testing.T, c cloud.Changer, want cloud.Change, p cloud.ChangePlan) {
	t.Helper()
	call := cloud.ChangeCall{Change: want, Set: p.Before, Native: p.Native}
	if err := c.ApplyChange(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	reached(t, c, call)
}

func TestChanger_AVolumeKeepsItsPerformanceAndIsGivenBack(t *testing.T) {
	tw, c := changedCloud(t)
	want := changeOf("aws-ebs", cloud.ChangeStorage, "volume/vol-1")
	want.Want = cloud.Values{"volume_type": "gp3", "iops": cloud.Carried, "throughput_mibps": cloud.Carried}
	p := applied(t, tw, c, want)
	if got := fmt.Sprint(p.Before, p.After); got != "map[iops:6000 throughput_mibps: volume_type:gp2] "+
		"map[iops:6000 throughput_mibps:250 volume_type:gp3]" {
		t.Error(got)
	}
	if n := len(tw.Calls("ec2:ModifyVolume")); n != 1 {
		t.Errorf("%d calls", n)
	}
	call := cloud.ChangeCall{Change: want, Set: p.Before}
	if err := c.ApplyChange(t.Context(), call); cloud.ClassOf(err) != cloud.Moving ||
		!strings.Contains(err.Error(), "less than 6 hours ago") {
		t.Errorf("within the cool-down: %v", err)
	}
	d, err := c.DescribeForChange(t.Context(), want)
	if err != nil || d.FreeAt.Before(time.Now().Add(5*time.Hour)) {
		t.Errorf("free at %s, %v", d.FreeAt, err)
	}
	tw.SetModification("vol-1", awstwin.Modification{State: "completed", Started: time.Now().Add(-7 * time.Hour)})
	if err := c.ApplyChange(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	if v := tw.Volumes()[0]; v.Type != "gp2" || v.Throughput != 0 {
		t.Errorf("%+v", v)
	}
}

func TestChanger_PlansOfVolumesRefuseWhatWouldLosePerformance(t *testing.T) {
	for name, c := range map[string]struct {
		volume awstwin.Volume
		want   cloud.Values
		says   string
	}{
		"more operations than gp3 has": {
			awstwin.Volume{Type: "io1", SizeGB: 1000, IOPS: 40000}, cloud.Values{"volume_type": "gp3"}, "at most 16000",
		},
		"a type that AWS does not have": {
			awstwin.Volume{Type: "gp2", SizeGB: 8}, cloud.Values{"volume_type": "gp9"}, "give gp3 or io2",
		},
		"a number that is none": {
			awstwin.Volume{Type: "gp3", SizeGB: 100, IOPS: 9000}, cloud.Values{"iops": "many"}, "no whole number",
		},
		"too many operations for the size": {
			awstwin.Volume{Type: "gp3", SizeGB: 8}, cloud.Values{"iops": "9000"}, "500 IOPS for each GiB",
		},
		"the same values": {
			awstwin.Volume{Type: "gp3", SizeGB: 8}, cloud.Values{"volume_type": "gp3"}, "has these values already",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tw, conn := connect(t)
			c.volume.ID, c.volume.Region = "vol-9", changedRegion
			tw.AddVolume(c.volume)
			want := changeOf("aws-ebs", cloud.ChangeStorage, "volume/vol-9")
			want.Want = c.want
			_, err := conn.(cloud.Changer).PlanChange(t.Context(), want)
			if err == nil || cloud.ClassOf(err).Retryable() || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
			if len(tw.Calls("ec2:ModifyVolume")) > 0 {
				t.Error("a plan has changed something")
			}
		})
	}
}

func TestChanger_AVolumeIsMarkedCopiedDeletedAndRestored(t *testing.T) {
	tw, c := changedCloud(t)
	want := changeOf("aws-ebs", cloud.Delete, "volume/vol-1", cloud.StepCopy, cloud.StepSelf)
	p := applied(t, tw, c, want)
	if v := tw.Volumes(); len(v) != 1 || v[0].ID != "vol-2" {
		t.Errorf("%+v", v)
	}
	undo(t, c, want, p)
	undo(t, c, want, p) // asked for twice, it makes no second volume
	all := tw.Volumes()
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	v := all[1]
	if v.ID == "vol-1" || v.Type != "gp2" || v.SizeGB != 2000 || v.Tags["team"] != "a" || v.Tags["aws:x"] != "" {
		t.Errorf("%+v", v)
	}
}

func TestChanger_AMarkIsRemoved(t *testing.T) {
	tw, c := changedCloud(t)
	want := changeOf("aws-ebs", cloud.Delete, "volume/vol-1", cloud.StepSelf)
	before := tw.Volumes()[0].Tags
	for _, mark := range []string{want.Token, ""} {
		call := cloud.ChangeCall{Change: want, Set: cloud.Values{cloud.MarkValue: mark}}
		if err := c.ApplyChange(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		reached(t, c, call)
	}
	if after := tw.Volumes()[0].Tags; !maps.Equal(before, after) {
		t.Errorf("%v, before %v", after, before)
	}
}

func TestChanger_ASnapshotIsDeletedUnlessAnImageUsesIt(t *testing.T) {
	tw, c := changedCloud(t)
	applied(t, tw, c, changeOf("aws-ebs-snapshot", cloud.Delete, "snapshot/snap-1", cloud.StepSelf))
	if s := tw.Snapshots(); len(s) != 1 || s[0].ID != "snap-2" {
		t.Errorf("%+v", s)
	}
	_, err := c.PlanChange(t.Context(),
		changeOf("aws-ebs-snapshot", cloud.Delete, "snapshot/snap-2", cloud.StepSelf))
	if cloud.ClassOf(err) != cloud.Unsupported || !strings.Contains(err.Error(), "image ami-1") {
		t.Error(err)
	}
}

func TestChanger_AnAddressIsReleasedAndAskedForAgain(t *testing.T) {
	tw, c := changedCloud(t)
	want := changeOf("aws-eip", cloud.Release, "elastic-ip/eipalloc-1", cloud.StepSelf)
	p := applied(t, tw, c, want)
	undo(t, c, want, p)
	i := slices.IndexFunc(tw.Addresses(), func(a awstwin.Address) bool { return a.IP == "198.51.100.1" })
	if i < 0 || tw.Addresses()[i].Tags["team"] != "a" {
		t.Errorf("%+v", tw.Addresses())
	}
}

func TestChanger_AnAddressThatIsTakenDoesNotComeBack(t *testing.T) {
	tw, c := changedCloud(t)
	want := changeOf("aws-eip", cloud.Release, "elastic-ip/eipalloc-1", cloud.StepSelf)
	p := applied(t, tw, c, want)
	tw.Taken("198.51.100.1")
	err := c.ApplyChange(t.Context(), cloud.ChangeCall{Change: want, Set: p.Before, Native: p.Native})
	if err == nil || cloud.ClassOf(err).Retryable() {
		t.Errorf("%v; want it refused for good", err)
	}
}

// What is used on a fresh read is not removed, whatever was planned.
func TestChanger_WhatIsUsedIsNeitherReleasedNorDeleted(t *testing.T) {
	for _, want := range []cloud.Change{
		changeOf("aws-ebs", cloud.Delete, "volume/vol-2", cloud.StepSelf),
		changeOf("aws-eip", cloud.Release, "elastic-ip/eipalloc-2", cloud.StepSelf),
		changeOf("aws-ebs-snapshot", cloud.Delete, "snapshot/snap-2", cloud.StepSelf),
	} {
		t.Run(want.Kind, func(t *testing.T) {
			tw, c := changedCloud(t)
			_, planned := c.PlanChange(t.Context(), want)
			made := c.ApplyChange(t.Context(),
				cloud.ChangeCall{Change: want, Set: cloud.Values{cloud.ExistsValue: "false"}})
			for _, err := range []error{planned, made} {
				if cloud.ClassOf(err) != cloud.Unsupported || !strings.Contains(err.Error(), "in use by") {
					t.Error(err)
				}
			}
			for _, op := range []string{"ec2:DeleteVolume", "ec2:DeleteSnapshot", "ec2:ReleaseAddress"} {
				if len(tw.Calls(op)) > 0 {
					t.Errorf("%s was called", op)
				}
			}
		})
	}
}

// A call whose answer is lost is made once: its effect is read.
func TestChanger_ALostReplyIsNotRepeated(t *testing.T) {
	tw, c := changedCloud(t)
	want := changeOf("aws-ebs", cloud.Delete, "volume/vol-1", cloud.StepCopy, cloud.StepSelf)
	call := cloud.ChangeCall{Change: want, Set: cloud.Values{cloud.CopyValue: cloud.CopyComplete}}
	tw.AddFault(awstwin.Fault{Op: "ec2:CreateSnapshot", Times: 1, Lost: true})
	if err := c.ApplyChange(t.Context(), call); !cloud.ClassOf(err).Retryable() {
		t.Error(err)
	}
	if n := len(tw.Calls("ec2:CreateSnapshot")); n != 1 {
		t.Errorf("%d calls", n)
	}
	if _, now, err := c.CheckChange(t.Context(), call); err != nil || now[cloud.CopyValue] != cloud.CopyPending {
		t.Errorf("%v, %v", now, err)
	}
	tw.EndChanges()
	reached(t, c, call)
}

// A write that AWS throttles has no effect, so it is made again.
func TestChanger_AThrottledWriteIsMadeAgain(t *testing.T) {
	tw, c := changedCloud(t)
	want := changeOf("aws-ebs-snapshot", cloud.Delete, "snapshot/snap-1", cloud.StepSelf)
	tw.AddFault(awstwin.Fault{
		Op: "ec2:DeleteSnapshot", Code: "RequestLimitExceeded", Message: "Request limit exceeded.", Status: 503,
		Times: 2,
	})
	call := cloud.ChangeCall{Change: want, Set: cloud.Values{cloud.ExistsValue: "false"}}
	if err := c.ApplyChange(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	if n := len(tw.Calls("ec2:DeleteSnapshot")); n != 3 {
		t.Errorf("%d calls", n)
	}
}

func TestChanger_ADeniedCallIsDenied(t *testing.T) {
	tw, c := changedCloud(t)
	tw.Refuse = func(op string) bool { return op == "ec2:ReleaseAddress" }
	want := changeOf("aws-eip", cloud.Release, "elastic-ip/eipalloc-1", cloud.StepSelf)
	err := c.ApplyChange(t.Context(), cloud.ChangeCall{Change: want, Set: cloud.Values{cloud.ExistsValue: "false"}})
	if cloud.ClassOf(err) != cloud.Denied {
		t.Error(err)
	}
}

// A resource of another region is not reached by its name.
func TestChanger_AResourceOfAnotherRegionIsNotFound(t *testing.T) {
	_, c := changedCloud(t)
	want := changeOf("aws-eip", cloud.Release, "elastic-ip/eipalloc-1", cloud.StepSelf)
	want.Region = "us-east-1"
	if _, err := c.PlanChange(t.Context(), want); cloud.ClassOf(err) != cloud.NotFound {
		t.Error(err)
	}
}

// Each call that a change of the twin makes is among the permissions that the catalogue declares.
func TestChanger_TheCatalogueDeclaresEachCall(t *testing.T) {
	tw, c := changedCloud(t)
	storage := changeOf("aws-ebs", cloud.ChangeStorage, "volume/vol-1")
	storage.Want = cloud.Values{"volume_type": "gp3"}
	for _, want := range []cloud.Change{
		storage, changeOf("aws-ebs", cloud.Delete, "volume/vol-1", cloud.StepCopy, cloud.StepSelf),
		changeOf("aws-ebs-snapshot", cloud.Delete, "snapshot/snap-1", cloud.StepSelf),
		changeOf("aws-eip", cloud.Release, "elastic-ip/eipalloc-1", cloud.StepSelf),
	} {
		tw.SetModification("vol-1", awstwin.Modification{State: "completed"})
		tw.ForgetCalls()
		p := applied(t, tw, c, want)
		tw.SetModification("vol-1", awstwin.Modification{State: "completed"})
		undone := cloud.ChangeCall{Change: want, Set: p.Before, Native: p.Native}
		if err := c.ApplyChange(t.Context(), undone); err != nil && !cloud.IsSnapshot(want.Kind) {
			t.Fatal(err)
		}
		of, _ := cloud.ChangeOf(want.Kind, want.Verb)
		for _, call := range tw.Calls("") {
			if !slices.Contains(of.Needs, call.Op) && call.Op != "sts:GetCallerIdentity" {
				t.Errorf("%s of %s calls %s, which is not declared", want.Verb, want.Kind, call.Op)
			}
		}
		if storage.Verb == want.Verb {
			tw.SetModification("vol-1", awstwin.Modification{State: "completed"})
		}
	}
}

func TestChanger_AnInstanceIsResizedOnlyWhileThatLosesNothing(t *testing.T) {
	tw, conn := connect(t)
	c := conn.(cloud.Changer)
	i := tw.AddInstance(awstwin.Instance{
		ID: awstwin.InstanceID(1), Region: changedRegion, Type: "m5.xlarge", State: "stopped",
	})
	tw.Describe(i.ID, nitroMachine)
	tw.Hold("ec2:DescribeInstanceTypes", machineTypes)
	for id, refused := range map[string]awstwin.Instance{
		"must be stopped": {}, "Auto Scaling group g": {
			State: "stopped", Tags: map[string]string{"aws:autoscaling:groupName": "g"},
		},
		"instance store": {State: "stopped", InstanceStore: true}, "Spot": {State: "stopped", SpotRequest: "sir-1"},
	} {
		refused.Type = "m5.xlarge"
		refused.ID, refused.Region = awstwin.InstanceID(2), changedRegion
		r := tw.AddInstance(refused)
		want := cloud.Change{
			Verb: cloud.Resize, Kind: "aws-ec2", Region: changedRegion, UID: r.ID,
			Want: cloud.Values{"class": "m5.large"},
		}
		if _, err := c.PlanChange(t.Context(), want); cloud.ClassOf(err) != cloud.Unsupported ||
			!strings.Contains(err.Error(), id) {
			t.Errorf("%s: %v", id, err)
		}
		tw.ChangeLocked(func() { r.ID = awstwin.InstanceID(3) })
	}
	want := cloud.Change{
		Verb: cloud.Resize, Kind: "aws-ec2", Region: changedRegion, UID: i.ID, Want: cloud.Values{"class": "m5.large"},
	}
	p := applied(t, tw, c, want)
	undo(t, c, want, p)
	if i.Type != "m5.xlarge" || len(tw.Calls("ec2:ModifyInstanceAttribute")) != 2 {
		t.Errorf("%s after %d calls", i.Type, len(tw.Calls("ec2:ModifyInstanceAttribute")))
	}
}

func TestChanger_ValuesOfADatabaseAreSetAndGivenBack(t *testing.T) {
	for verb, want := range map[cloud.ChangeVerb]cloud.Values{
		cloud.Guard:         {"deletion_protection": "true", "auto_minor": "true", "backup_days": "7"},
		cloud.Resize:        {"multi_az": "false"},
		cloud.SetLifecycle:  {"insights_days": "7"},
		cloud.ChangeStorage: {"storage_type": "gp3", "max_allocated_gb": "40"},
	} {
		t.Run(string(verb), func(t *testing.T) {
			tw, conn := connect(t)
			c := conn.(cloud.Changer)
			db := tw.AddDatabase(awstwin.Database{
				ID: "shop", Region: changedRegion, Engine: "postgres", MultiAZ: true, Settings: map[string]string{
					"BackupRetentionPeriod": "1", "StorageType": "gp2", "DeletionProtection": "false",
					"AutoMinorVersionUpgrade": "false", "PerformanceInsightsRetentionPeriod": "731",
				},
			})
			before := fmt.Sprint(db.MultiAZ, db.Settings)
			change := cloud.Change{Verb: verb, Kind: "aws-rds", Region: changedRegion, UID: db.ARN(), Want: want}
			p, err := c.PlanChange(t.Context(), change)
			if err != nil {
				t.Fatal(err)
			}
			for _, set := range []cloud.Values{p.After, p.Before} {
				call := cloud.ChangeCall{Change: change, Set: set}
				if err = c.ApplyChange(t.Context(), call); err != nil {
					t.Fatal(err)
				}
				reached(t, c, call)
				if _, err = c.PlanChange(t.Context(), change); cloud.ClassOf(err) != cloud.Moving {
					t.Errorf("while it is modified: %v", err)
				}
				tw.SettleAll()
			}
			if after := fmt.Sprint(db.MultiAZ, db.Settings); after != before {
				t.Errorf("%s, before %s", after, before)
			}
		})
	}
}

// The snapshot that a deletion took is found by its native id, carries the mark, and is deleted as any snapshot.
func TestChanger_TheSnapshotOfADeletionIsDeleted(t *testing.T) {
	tw, c := changedCloud(t)
	want := changeOf("aws-ebs", cloud.Delete, "volume/vol-1", cloud.StepCopy, cloud.StepSelf)
	call := cloud.ChangeCall{Change: want, Set: cloud.Values{cloud.CopyValue: cloud.CopyComplete}}
	if err := c.ApplyChange(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	tw.EndChanges()
	d, err := c.DescribeForChange(t.Context(), want)
	if err != nil || d.CopyUID == "" {
		t.Fatalf("%+v, %v", d, err)
	}
	deleteCopy(t, c, cloud.Change{
		Verb: cloud.Delete, Kind: "aws-ebs-snapshot", Region: changedRegion, UID: d.CopyUID,
	})
}

// deleteCopy deletes the snapshot of the change rem_1-0.
func deleteCopy(t *testing.T, c cloud.Changer, want cloud.Change) {
	t.Helper()
	d, err := c.DescribeForChange(t.Context(), want)
	if err != nil || !d.Exists() || d.Values[cloud.MarkValue] != "rem_1-0" {
		t.Fatalf("%+v, %v", d, err)
	}
	gone := cloud.ChangeCall{Change: want, Set: cloud.Values{cloud.ExistsValue: "false"}}
	if err = c.ApplyChange(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if d, err = c.DescribeForChange(t.Context(), want); err != nil || d.Exists() {
		t.Errorf("%+v, %v", d, err)
	}
}
