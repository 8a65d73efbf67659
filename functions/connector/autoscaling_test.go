package connector_test

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/tabletest"
)

// scaledGroup is the first Auto Scaling group of the simulated account.
func scaledGroup(t *testing.T,
	credentials map[string]string) (ask func(kind string, of inventory.AutoscalingQuestion) (cloud.Autoscaling, error),
	of inventory.AutoscalingQuestion,
) {
	t.Helper()
	w, q := openAccount(t, credentials)
	ask = func(kind string, of inventory.AutoscalingQuestion) (cloud.Autoscaling, error) {
		q.Ask, q.Autoscaling = kind, of
		var got cloud.Autoscaling
		err := w.Invoke(t.Context(), inventory.Connector, q, &got)
		return got, err
	}
	return ask, inventory.AutoscalingQuestion{Type: cloud.AWSASG, Region: "us-east-1", UID: groupUID(t)}
}

func TestAutoscaling_IsReadSetAndGivenBack(t *testing.T) {
	ask, of := scaledGroup(t, nil)
	found, err := ask(inventory.AskAutoscaling, of)
	if err != nil || found.Desired < 1 || len(found.Native) == 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	percent := int64(60)
	of.Want = cloud.Autoscaling{
		Min: found.Min + 1, Max: found.Max + 3, Desired: found.Desired + 1,
		TargetCPUPercent: &percent,
	}
	set, err := ask(inventory.AskSetAutoscaling, of)
	if err != nil || !of.Want.IsMetBy(set) {
		t.Fatalf("%+v, %v; want %+v", set, err, of.Want)
	}
	of.Want = found
	if back, err := ask(inventory.AskSetAutoscaling, of); err != nil || !found.IsMetBy(back) ||
		back.TargetCPUPercent != nil {
		t.Errorf("%+v, %v; want %+v", back, err, found)
	}
}

func TestAutoscaling_TellsWhatIsWrong(t *testing.T) {
	tests := []struct {
		name        string
		credentials map[string]string
		change      func(*inventory.AutoscalingQuestion)
		kind        fault.Kind
		says        string
	}{
		{"a group that is not there", nil, func(q *inventory.AutoscalingQuestion) {
			q.UID += "999"
		}, fault.NotFound, "the cloud has no aws-asg"},
		{"a type that is not scaled", nil, func(q *inventory.AutoscalingQuestion) {
			q.Type = cloud.AWSRDS
		}, fault.Invalid, "aws-rds is not scaled"},
		{"sizes that contradict each other", nil, func(q *inventory.AutoscalingQuestion) {
			q.Want = cloud.Autoscaling{Min: 3, Max: 2}
		}, fault.Invalid, "min 3 is above max 2"},
		{
			"credentials that may not scale",
			map[string]string{"denied": "scale"},
			nil, fault.Invalid,
			"the cloud refused the credentials",
		},
		{"no room", map[string]string{"noCapacity": "1"}, nil, fault.Unavailable, "InsufficientInstanceCapacity"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ask, of := scaledGroup(t, tt.credentials)
			of.Want = cloud.Autoscaling{Min: 50, Max: 60, Desired: 55}
			if tt.change != nil {
				tt.change(&of)
			}
			_, err := ask(inventory.AskSetAutoscaling, of)
			if !fault.Is(err, tt.kind) || !strings.Contains(fault.Message(err), tt.says) {
				t.Errorf("%v; want kind %d with %q", err, tt.kind, tt.says)
			}
		})
	}
}

// groupUID lists the simulated account for a group.
func groupUID(t *testing.T) string {
	t.Helper()
	clk := clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	p := simulated.New(tabletest.NewAt(t, clk), clk)
	c, err := p.Connect(t.Context(),
		cloud.Account{ID: "ca_1", Provider: "simulated", NativeID: "111", AuthMethod: "simulated"})
	if err != nil {
		t.Fatal(err)
	}
	page, err := c.List(t.Context(), cloud.AWSASG, "us-east-1", "")
	if err != nil || len(page.Resources) == 0 {
		t.Fatalf("%d groups, %v", len(page.Resources), err)
	}
	for _, r := range page.Resources {
		if r.Status == cloud.Running {
			return r.UID
		}
	}
	t.Fatal("no group runs")
	return ""
}

// A question about one group is answered with the permissions of its kind only; a question without a group with those
// of the account.
func TestPermissions_OfOneGroupAreThoseOfItsKind(t *testing.T) {
	w, q := openAccount(t, map[string]string{"denied": "scale"})
	q.Ask = inventory.AskPermissions
	var all, one []cloud.Permission
	if err := w.Invoke(t.Context(), inventory.Connector, q, &all); err != nil {
		t.Fatal(err)
	}
	q.Autoscaling = inventory.AutoscalingQuestion{Type: cloud.AWSASG, Region: "us-east-1", UID: groupUID(t)}
	if err := w.Invoke(t.Context(), inventory.Connector, q, &one); err != nil {
		t.Fatal(err)
	}
	if len(one) == 0 || len(one) >= len(all) {
		t.Errorf("%d permissions of one kind, of %d of the account", len(one), len(all))
	}
	for _, p := range one {
		if !strings.HasPrefix(p.Action, "autoscaling:") || p.Capability == "scale" && p.Status != "denied" {
			t.Errorf("%+v", p)
		}
	}
}
