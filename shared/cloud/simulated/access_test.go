package simulated

import (
	"testing"

	"lamplighter.dev/shared/cloud"
)

// Every precondition that changes of the catalogue declare for unused access is checked here, too: the plan and the
// change itself are refused for an instance whose programs use IMDSv1, and for no other one.
func TestChanger_EndsNoAccessThatIsInUse(t *testing.T) {
	conn := newFixture(t).open(t, map[string]string{
		"size": "400", "kinds": cloud.AWSEC2, "regions": "eu-west-1", "stopped": "0", "facts": "complete",
	})
	var planned, refused int
	for _, r := range in(conn, cloud.AWSEC2, "eu-west-1").list(t) {
		want := cloud.Change{
			Verb: cloud.Guard, Kind: r.Type, Region: r.Region, UID: r.UID, Token: "rem_1-0",
			Want: cloud.Values{"imds_tokens": "required"},
		}
		if r.Facts["imds_tokens"] != "optional" {
			continue
		}
		changer := conn.(cloud.Changer)
		_, err := changer.PlanChange(t.Context(), want)
		changed := changer.ApplyChange(t.Context(), cloud.ChangeCall{Change: want, Set: want.Want})
		switch {
		case err == nil && changed == nil:
			planned++
			back := cloud.Values{"imds_tokens": "optional"}
			if err = changer.ApplyChange(t.Context(), cloud.ChangeCall{Change: want, Set: back}); err != nil {
				t.Errorf("%s: the undo is refused: %v", r.UID, err)
			}
		case cloud.ClassOf(err) == cloud.Unsupported && cloud.ClassOf(changed) == cloud.Unsupported:
			refused++
			if now := valuesIn(t, changer, want)["imds_tokens"]; now != "optional" {
				t.Errorf("%s: a refused change sets %s", r.UID, now)
			}
		default:
			t.Errorf("%s: the plan says %v, the change %v", r.UID, err, changed)
		}
	}
	if planned < 5 || refused < 1 {
		t.Errorf("%d changes were made and %d refused", planned, refused)
	}
}

// The declarations of the catalogue and the values that are checked here agree.
func TestChanger_KnowsTheValuesOfChangesThatEndAnAccess(t *testing.T) {
	for _, provider := range []string{"aws", "azure", "gcp", "kubernetes"} {
		for _, of := range cloud.ChangesOf(provider) {
			for _, hold := range of.Holds {
				known := false
				for _, name := range of.Sets {
					known = known || endsAccess[name] != ""
				}
				if hold == unusedAccess && !known {
					t.Errorf("%s of %s ends an access by %v, of which no value is known", of.Verb, of.Type, of.Sets)
				}
			}
		}
	}
}
