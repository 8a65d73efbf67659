package executor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// tag gives the resource of a target tags in the inventory.
func (m *remedy) tag(i int, tags map[string]string) {
	m.Helper()
	t := &m.targets[i]
	_, err := m.e.inventory.UpsertScanned(m.ctx, org, inventory.Batch{
		Scan: inventory.Scan{
			Partition: inventory.Partition{
				AccountID: t.CloudAccountID, Provider: t.Provider, Region: t.Region, Kind: t.ResourceType,
			},
			ID: "second", Started: noon.Add(time.Minute),
		},
		At: noon.Add(time.Minute), Resources: []cloud.Resource{{
			UID: t.ResourceUID, Name: t.ResourceName, Type: t.ResourceType, Region: t.Region, Status: cloud.Running,
			Tags: tags,
		}},
	})
	m.Must(err)
}

// A resource that is made from code has a patch with the values that the change would set, and no change.
func TestRemediate_AResourceOfCodeHasAPatchInPlaceOfAChange(t *testing.T) {
	for name, c := range map[string]struct {
		tags         map[string]string
		format, text string
		owner        string
	}{
		"CloudFormation": {
			map[string]string{"aws:cloudformation:stack-name": "shop"}, "json", `"VolumeType": "gp3"`, "shop",
		},
		"Terraform": {map[string]string{"terraform": "true"}, "hcl", `type = "gp3"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newChange(t, changeCases["change-storage"], 1)
			before := fmt.Sprint(m.values(0, cloud.ChangeStorage))
			m.tag(0, c.tags)
			got := m.plan()
			p := got.Problems[0]
			if p == nil || p.Patch == nil || p.Kind != fault.Conflict || p.Patch.Format != c.format ||
				!strings.Contains(p.Patch.Text, c.text) || !strings.Contains(p.Message, "is managed by") {
				t.Fatalf("%+v", p)
			}
			if owner := p.Patch.Owner; c.owner == "" && owner != nil || c.owner != "" && *owner != c.owner {
				t.Errorf("owner %v", owner)
			}
			m.Equal("after", got.Targets[0].Plan.After["volume_type"], "gp3")
			m.Equal("values", fmt.Sprint(m.values(0, cloud.ChangeStorage)), before)
		})
	}
}

// A resource that a controller keeps as it is has neither.
func TestRemediate_AResourceOfAControllerHasNoPatch(t *testing.T) {
	m := newChange(t, changeCases["change-storage"], 1)
	m.tag(0, map[string]string{"ebs.csi.aws.com/cluster": "true"})
	if p := m.plan().Problems[0]; p == nil || p.Patch != nil || !strings.Contains(p.Message, "managed by operator") {
		t.Errorf("%+v", p)
	}
}
