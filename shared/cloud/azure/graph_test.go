package azure_test

import (
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

const graphRead = "Microsoft.ResourceGraph/resources/read"

func TestList_APageIsAThousandRows(t *testing.T) {
	tw, c := connect(t)
	const n = 2500
	for i := range n {
		tw.AddVM(fmt.Sprintf("web-%04d", i), region, nil)
	}
	seen, sizes := map[string]bool{}, []int{}
	for page := ""; ; {
		got, err := c.List(t.Context(), vm, region, page)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(got.Resources))
		for _, r := range got.Resources {
			seen[r.UID] = true
		}
		if page = got.Next; page == "" {
			break
		}
	}
	if len(seen) != n || fmt.Sprint(sizes) != "[1000 1000 500]" {
		t.Errorf("listed %d machines in pages of %v", len(seen), sizes)
	}
	// two for the types by region, one for the neighbours
	if calls := tw.Calls(graphRead); len(calls) != 6 {
		t.Errorf("%d queries; want 6", len(calls))
	}
}

// Azure has more than 60 regions and allows 15 queries in 5 seconds.
func TestList_RegionsWithoutAKindCostNothing(t *testing.T) {
	tw, c := connect(t)
	tw.AddVM("web", region, nil)
	listed := 0
	for _, k := range cloud.KindsOf("azure") {
		for _, r := range azuretwin.Regions {
			got, err := c.List(t.Context(), k.Type, r, "")
			if err != nil {
				t.Fatal(err)
			}
			listed += len(got.Resources)
		}
	}
	if n := len(tw.Calls(graphRead)); listed != 1 || n != 4 {
		t.Errorf("%d resources by %d queries; want 1 by 4", listed, n)
	}
}

// A failed page must be an error, because a listing's missing resources count as deleted.
func TestList_AFailureIsNotAnEmptyPage(t *testing.T) {
	for name, f := range map[string]azuretwin.Fault{
		"denied": {Op: graphRead, Code: "AuthorizationFailed", Message: "no", Status: 403, Times: -1},
		"down":   {Op: graphRead, Code: "InternalServerError", Message: "no", Status: 500, Times: -1},
	} {
		t.Run(name, func(t *testing.T) {
			tw, c := connect(t)
			tw.AddVM("web", region, nil)
			tw.AddFault(f)
			for range 2 {
				if got, err := c.List(t.Context(), vm, region, ""); err == nil {
					t.Errorf("List = %+v; want the failure", got)
				}
			}
			tw.EndFaults()
			if got, err := c.List(t.Context(), vm, region, ""); err != nil || len(got.Resources) != 1 {
				t.Errorf("List after the failure = %+v, %v", got, err)
			}
		})
	}
}

func TestList_ARowThatCannotBeReadFailsItsPage(t *testing.T) {
	tw, c := connect(t)
	tw.AddVM("web", region, func(r *azuretwin.Resource) { r.Properties()["hardwareProfile"] = "nothing of the kind" })
	_, err := c.List(t.Context(), vm, region, "")
	wantClass(t, "List", err, cloud.Transient)
	if err != nil && !strings.Contains(err.Error(), "/virtualMachines/web") {
		t.Errorf("the error %q does not name the resource", err)
	}
}

func TestList_DatabasesAreNeitherMasterNorWarehouses(t *testing.T) {
	tw, c := connect(t)
	tw.AddDatabase("master", region, "v12.0,system", vcores(0))
	tw.AddDatabase("dw", region, "v12.0,user,datawarehouse", vcores(0))
	tw.AddDatabase("shop", region, "v12.0,user,vcore", vcores(4))
	got, err := c.List(t.Context(), "azure-sql-database", region, "")
	if err != nil || len(got.Resources) != 1 || got.Resources[0].Name != "shop" ||
		!strings.HasSuffix(got.Resources[0].ParentUID, "/servers/server-1") {
		t.Errorf("List = %+v, %v", got, err)
	}
}

func TestList_AnUnknownPageIsInvalid(t *testing.T) {
	tw, c := connect(t)
	tw.AddVM("web", region, nil)
	_, err := c.List(t.Context(), vm, region, "no-such-page")
	wantClass(t, "List of a page that is none", err, cloud.Invalid)
	_, err = c.List(t.Context(), vm, "' or 1 == 1", "")
	wantClass(t, "List of a region that is a query", err, cloud.Invalid)
}
