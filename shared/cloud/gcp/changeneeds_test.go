package gcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

// addresses are the kinds whose changes are one PATCH, with the place of one resource each. The values are those of the
// catalogue.
var addresses = map[string]changed{}

func init() {
	add := func(kind, service, base, rest string) {
		uid, path := onProject(service, base, rest)
		addresses[kind] = changed{kind: kind, uid: uid, path: path}
	}
	add("gcp-alloydb", "alloydb", "/v1/", "locations/europe-west1/clusters/c/instances/i")
	add("gcp-bigquery-reservation", "bigqueryreservation", "/v1/", "locations/europe-west1/reservations/r")
	add("gcp-composer", "composer", "/v1/", "locations/europe-west1/environments/e")
	add("gcp-function", "cloudfunctions", "/v2/", "locations/europe-west1/functions/f")
	for _, r := range slices.Concat(settings, removals) {
		addresses[r.kind] = changed{kind: r.kind, uid: r.uid, path: r.path, body: r.body}
	}
}

// checkedBesides are the permissions that Google checks beside those of the calls, for what a call names: no call has
// their names.
var checkedBesides = []string{
	"compute.snapshots.create", "compute.snapshots.useReadOnly", // of a snapshot that is made, or made a disk of
	"compute.snapshots.setLabels", // of a snapshot that is made with labels
}

// Each change of the catalogue, with its undo, calls exactly what it declares: nothing is missing in the onboarding
// level remediate, and nothing is unused.
func TestChanger_EachChangeCallsExactlyWhatItNeeds(t *testing.T) {
	for _, of := range cloud.ChangesOf("gcp") {
		t.Run(fmt.Sprint(of.Verb, " of ", of.Type), func(t *testing.T) {
			r, there := addresses[of.Type]
			if !there {
				t.Fatal("it has no resource here: add one, so that its permissions are proven")
			}
			if r.verb = of.Verb; r.body == "" {
				r.body = `{"name":"x"}`
			}
			tw, c, want := r.open(t)
			makeChange(t, c, of, want)
			compareCalls(t, tw, of)
		})
	}
}

func compareCalls(t *testing.T, tw *gcptwin.Cloud, of cloud.KindChange) {
	t.Helper()
	called := slices.Clone(checkedBesides)
	for _, call := range tw.Calls("") {
		if strings.Contains(call.Op, "token") {
			continue
		}
		op := permissionOfCall(of, call.Op)
		called = append(called, op)
		if !slices.Contains(of.Needs, op) {
			t.Errorf("it calls %s, which is not declared", op)
		}
	}
	for _, need := range of.Needs {
		if !slices.Contains(called, need) {
			t.Errorf("it needs %s, and never calls it", need)
		}
	}
}

// permissionOfCall returns the permission of a call. The twin names calls of other APIs than Compute Engine's by their
// addresses: "v1.instances.get".
func permissionOfCall(of cloud.KindChange, op string) string {
	if strings.HasPrefix(op, "compute.") {
		return op
	}
	return strings.TrimSuffix(of.Call, ".patch") + op[strings.LastIndex(op, "."):]
}

// makeChange makes a change, and asks for the values before again.
func makeChange(t *testing.T, c cloud.Changer, of cloud.KindChange, want cloud.Change) {
	t.Helper()
	if len(of.Sets) > 0 {
		want.Want = possibleValues(t, c, of, want)
	}
	p := applied(t, c, want)
	undone := cloud.ChangeCall{Change: want, Set: p.Before, Native: p.Native}
	if err := c.ApplyChange(t.Context(), undone); err != nil && of.Verb.RemovesResource() &&
		!cloud.IsSnapshot(of.Type) {
		t.Error(err)
	}
}

// possibleValues returns a value of the first setting that the change can set.
func possibleValues(t *testing.T, c cloud.Changer, of cloud.KindChange, want cloud.Change) cloud.Values {
	t.Helper()
	var err error
	for _, text := range []string{"true", "false", "10", "n2-standard-4"} {
		want.Want = cloud.Values{of.Sets[0]: text}
		if _, err = c.PlanChange(t.Context(), want); err == nil {
			return want.Want
		}
	}
	t.Fatal(err)
	return nil
}
