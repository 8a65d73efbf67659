package azure_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

// readAccess is what Azure checks when a snapshot is made of a disk: no call has its name.
const readAccess = "Microsoft.Compute/disks/beginGetAccess/action"

// Each change of the catalogue, with its undo, calls exactly what it declares: nothing is missing in the onboarding
// level remediate, and nothing is unused.
func TestChanger_EachChangeCallsExactlyWhatItNeeds(t *testing.T) {
	for _, of := range cloud.ChangesOf("azure") {
		t.Run(fmt.Sprint(of.Verb, " of ", of.Type), func(t *testing.T) {
			tw, conn := connect(t)
			r := changeable(tw, of)
			makeChange(t, conn.(cloud.Changer), of, r)
			called := []string{readAccess}
			for _, call := range tw.Calls("") {
				op := strings.Replace(call.Op, "/providers/locks/read", "/locks/read", 1)
				if strings.HasSuffix(op, "/locks/read") {
					op = "Microsoft.Authorization/locks/read"
				}
				called = append(called, op)
				if !containsFold(of.Needs, op) && !strings.HasPrefix(op, "entra:") {
					t.Errorf("it calls %s, which is not declared", op)
				}
			}
			for _, need := range of.Needs {
				if !containsFold(called, need) {
					t.Errorf("it needs %s, and never calls it", need)
				}
			}
		})
	}
}

func containsFold(all []string, one string) bool {
	return slices.ContainsFunc(all, func(a string) bool { return strings.EqualFold(a, one) })
}

// changeable adds a resource that a change can be made of.
func changeable(tw *azuretwin.Cloud, of cloud.KindChange) *azuretwin.Resource {
	arm := strings.TrimPrefix(strings.TrimPrefix(of.Call, "PATCH "), "DELETE ")
	if of.Type == "azure-vm" {
		return stoppedMachine(tw)
	}
	body := map[string]any{}
	if of.Type == "azure-disk" && of.Verb == cloud.ChangeStorage {
		body["managedBy"] = stoppedMachine(tw).ID
	}
	return tw.AddPlain(arm, strings.Repeat("x/", strings.Count(arm, "/")-1)+"x", "westeurope", body)
}

func stoppedMachine(tw *azuretwin.Cloud) *azuretwin.Resource {
	vm := tw.AddVM("m", "westeurope", nil)
	tw.ChangeLocked(func() { vm.Power, vm.Plain = "deallocated", true })
	return vm
}

// makeChange makes the change of a resource, and asks for its values before again. For a removal, it marks the
// resource first and removes the mark.
func makeChange(t *testing.T, c cloud.Changer, of cloud.KindChange, r *azuretwin.Resource) {
	t.Helper()
	want := changeOf(of.Type, of.Verb, r, nil)
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
	for _, text := range []string{"true", "false", "10", "Standard_LRS"} {
		want.Want = cloud.Values{of.Sets[0]: text}
		if _, err = c.PlanChange(t.Context(), want); err == nil {
			return want.Want
		}
	}
	t.Fatal(err)
	return nil
}
