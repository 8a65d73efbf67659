package simulated

import (
	"strings"
	"testing"
)

func TestLabel_StandsInNamesAndTagsOfResources(t *testing.T) {
	s := newFixture(t)
	labelled, plain := s.open(t, map[string]string{"label": "north"}), s.open(t, nil)
	for _, kind := range []string{ec2, asg} {
		without := in(plain, kind, east1).list(t)
		for i, r := range in(labelled, kind, east1).list(t) {
			if r.Name != "north-"+without[i].Name || r.Tags != nil && r.Tags["label"] != "north" {
				t.Errorf("%s is named %q and tagged %v; without the label it is %q", r.UID, r.Name, r.Tags,
					without[i].Name)
			}
			if got := in(labelled, kind, east1).read(t, r.UID); got.UID != r.UID {
				t.Errorf("%s is read as %q", r.UID, got.UID)
			}
		}
	}
	for _, r := range in(plain, ec2, east1).list(t) {
		if _, tagged := r.Tags["label"]; tagged || strings.HasPrefix(r.Name, "-") {
			t.Errorf("without a label: %q, %v", r.Name, r.Tags)
		}
	}
}
