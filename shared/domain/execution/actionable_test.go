package execution

import (
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

func TestCheckActionable_RefusesWhatIsOnlyFound(t *testing.T) {
	for kind, want := range map[string]bool{"aws-ec2": true, "aws-ebs": false, "aws-s3": false, "aws-other": false} {
		err := checkActionable(inventory.Resource{UID: "u", Provider: "aws", Type: kind, Status: cloud.Running},
			cloud.Stop)
		if (err == nil) != want || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("stop of %s: %v; want it refused unless it can be stopped", kind, err)
		}
	}
}

func TestSift_ADynamicGroupStandsForWhatCanBeStopped(t *testing.T) {
	kept, left := sift([]inventory.Member{
		{UID: "i-1", Type: "aws-ec2"},
		{UID: "vol-1", Type: "aws-ebs", Provider: "aws"},
	}, unactionable)
	if len(kept) != 1 || kept[0].UID != "i-1" || len(left) != 1 ||
		left[0].Reason != "aws resources of type aws-ebs cannot be started or stopped" {
		t.Errorf("kept %+v, left out %+v", kept, left)
	}
}
