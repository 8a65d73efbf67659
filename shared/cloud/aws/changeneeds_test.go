package aws_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// twins are the twins of this run, for TestMain.
var twins struct {
	sync.Mutex
	all []*awstwin.Cloud
}

func noteTwin(tw *awstwin.Cloud) {
	twins.Lock()
	defer twins.Unlock()
	if !slices.Contains(twins.all, tw) {
		twins.all = append(twins.all, tw)
	}
}

// A run of all tests also proves that no permission of a change is unused: each is called by some test. So a change
// without a test fails here, and customers are not told to allow what nothing needs.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if whole := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == ""; whole &&
		!testing.Short() && flag.Lookup("test.list").Value.String() == "" {
		for _, need := range neverCalled() {
			fmt.Printf("FAIL: %s is a permission of a change, and no test calls it\n", need)
			code = 1
		}
	}
	os.Exit(code)
}

// neverCalled returns the permissions of changes that no call of a test needed.
func neverCalled() []string {
	return slices.DeleteFunc(cloud.ChangeNeeds("aws"), func(need string) bool {
		return slices.ContainsFunc(twins.all, func(tw *awstwin.Cloud) bool { return wasNeeded(tw, need) })
	})
}

// wasNeeded reports whether a call of a twin needed a permission.
func wasNeeded(tw *awstwin.Cloud, need string) bool {
	return slices.ContainsFunc(tw.EverCalled(), func(op string) bool {
		return permission(op) == need || need == passRole && slices.Contains(rolePassers, op)
	})
}

// passRole is the permission that AWS checks when a call of rolePassers names the role of its resource. It has no call
// of its own.
const passRole = "iam:PassRole"

var rolePassers = []string{"config:PutConfigurationRecorder", "glue:UpdateJob"}

// tagsOfNew is the permission that AWS checks when a resource is made with tags: an address that is asked for again.
const tagsOfNew = "ec2:CreateTags"

// Each permission of a change is that of a call which this change or its undo makes.
func TestChanger_NoPermissionOfAChangeIsUnused(t *testing.T) {
	machine := cloud.Change{
		Verb: cloud.Resize, Kind: cloud.AWSEC2, Region: changedRegion, UID: awstwin.InstanceID(1),
		Want: cloud.Values{"class": "m5.large"},
	}
	storage := changeOf("aws-ebs", cloud.ChangeStorage, "volume/vol-1")
	storage.Want = cloud.Values{"volume_type": "sc1"} // only for a cold disk, the instance that boots from it is read
	for _, want := range []cloud.Change{
		storage, changeOf("aws-ebs", cloud.Delete, "volume/vol-1", cloud.StepCopy, cloud.StepSelf),
		changeOf("aws-ebs-snapshot", cloud.Delete, "snapshot/snap-1", cloud.StepSelf),
		changeOf("aws-eip", cloud.Release, "elastic-ip/eipalloc-1", cloud.StepSelf), machine,
	} {
		t.Run(fmt.Sprint(want.Verb, " of ", want.Kind), func(t *testing.T) {
			tw, c := changedCloud(t)
			tw.AddInstance(awstwin.Instance{
				ID: machine.UID, Region: changedRegion, Type: "m5.xlarge", State: "stopped",
			})
			tw.Describe(machine.UID, nitroMachine)
			tw.Hold("ec2:DescribeInstanceTypes", machineTypes)
			p := applied(t, tw, c, want)
			tw.SetModification("vol-1", awstwin.Modification{State: "completed"})
			undone := cloud.ChangeCall{Change: want, Set: p.Before, Native: p.Native}
			if err := c.ApplyChange(t.Context(), undone); err != nil && !cloud.IsSnapshot(want.Kind) {
				t.Fatal(err)
			}
			unmark(t, c, want)
			of, _ := cloud.ChangeOf(want.Kind, want.Verb)
			for _, need := range of.Needs {
				if !wasNeeded(tw, need) && need != tagsOfNew {
					t.Errorf("it needs %s, and never calls it", need)
				}
			}
		})
	}
}

// unmark marks another resource of a removal and removes the mark, as the undo of a marked resource does.
func unmark(t *testing.T, c cloud.Changer, want cloud.Change) {
	t.Helper()
	if want.Verb != cloud.Delete {
		return
	}
	want.UID = want.UID[:len(want.UID)-1] + "2"
	for _, mark := range []string{want.Token, ""} {
		call := cloud.ChangeCall{Change: want, Set: cloud.Values{cloud.MarkValue: mark}}
		if err := c.ApplyChange(t.Context(), call); err != nil {
			t.Fatal(err)
		}
	}
}
