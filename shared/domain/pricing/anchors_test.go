package pricing_test

import (
	"compress/gzip"
	"encoding/csv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/money"
)

// dataFolder returns the folder of the project's test data: LAMPLIGHTER_DATA, or the folder beside the checkout.
func dataFolder(tb testing.TB) string {
	tb.Helper()
	folder := os.Getenv("LAMPLIGHTER_DATA")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(folder, "prices")); err != nil {
		tb.Skipf("SKIPPED: no prices in %s; set LAMPLIGHTER_DATA to the folder of the test data", folder)
	}
	return folder
}

// readCSV returns the lines of a file after its header.
func readCSV(tb testing.TB, name string) [][]string {
	tb.Helper()
	f, err := os.Open(filepath.Join(dataFolder(tb), "prices", name))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	all, err := csv.NewReader(z).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	return all[1:]
}

func amount(tb testing.TB, s string) money.Amount {
	tb.Helper()
	a, err := money.Parse(s)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// byRegion makes tables from lines whose first field is the region.
func byRegion(tb testing.TB, lines [][]string, provider string,
	price func(line []string) (string, string),
) map[string]*pricing.Table {
	tb.Helper()
	out := map[string]*pricing.Table{}
	for _, l := range lines {
		t := out[l[0]]
		if t == nil {
			t = &pricing.Table{Provider: provider, Region: l[0], Version: "2026"}
			out[l[0]] = t
		}
		if key, usd := price(l); key != "" {
			t.Add(cloud.Price{Key: key, Unit: cloud.PerHour, USD: amount(tb, usd)})
		}
	}
	return out
}

func TestRate_ReproducesTheAnchors(t *testing.T) {
	aws := byRegion(t, readCSV(t, "aws_ec2_ondemand_linux.csv.gz"), "aws", func(l []string) (string, string) {
		return "ec2/" + l[1] + "/linux/default", l[2]
	})
	azure := byRegion(t, readCSV(t, "azure_vm_ondemand_linux_usd.csv.gz"), "azure", func(l []string) (string, string) {
		return "vm/" + l[1] + "/linux", l[2]
	})
	if n, m := len(aws), len(azure); n != 4 || m != 57 {
		t.Errorf("%d regions of AWS and %d of Azure; the README says 4 and 57", n, m)
	}
	google := googleTable(t, "us-central1")
	for _, c := range []struct {
		table           *pricing.Table
		kind, class     string
		inputs          cloud.Facts
		hourly, monthly string
	}{
		{aws["us-east-1"], "aws-ec2", "m5.large", linuxFacts, "0.096", "70.08"},
		{aws["us-east-1"], "aws-ec2", "t3.medium", linuxFacts, "0.0416", "30.368"},
		{aws["us-east-1"], "aws-ec2", "c6g.large", linuxFacts, "0.068", "49.64"},
		{
			azure["eastus"], "azure-vm", "Standard_D2s_v5",
			cloud.Facts{"os_type": "Linux", "priority": "Regular"},
			"0.096", "70.08",
		},
		{
			azure["eastus"], "azure-vm", "Standard_B2s",
			cloud.Facts{"os_type": "Linux", "priority": "Regular"},
			"0.0416",
			"30.368",
		},
		{google, "gcp-compute", "n2-standard-4", googleFacts, "0.194236", "141.79228"},
		{google, "gcp-compute", "e2-medium", googleFacts, "0.03350571", "24.4591683"},
	} {
		e := pricing.Rate(c.table,
			pricing.Resource{
				Type: c.kind, Class: c.class, Status: cloud.Running,
				Inputs: inventory.IndexedFacts(c.kind, c.inputs),
			})
		if !e.OK() || e.Hourly != amount(t, c.hourly) || e.Monthly() != amount(t, c.monthly) {
			t.Errorf("%s: %s an hour, %s a month (%s); want %s and %s", c.class, e.Hourly, e.Monthly(), e.Reason,
				c.hourly, c.monthly)
		}
	}
}

var (
	linuxFacts  = cloud.Facts{"platform": "Linux/UNIX", "tenancy": "default"}
	googleFacts = cloud.Facts{"spot": false, "gpu_count": 0.0, "local_ssd_count": 0.0, "os_license": ""}
)

// googleTable computes the prices of cores and memory of a region from the prices of two machines of each family, one
// with more memory.
func googleTable(tb testing.TB, region string) *pricing.Table {
	tb.Helper()
	price := map[string]money.Amount{}
	for _, l := range readCSV(tb, "gcp_vm_prices_usd.csv.gz") {
		if l[0] == region && l[2] == "on_demand" {
			price[l[1]] = amount(tb, l[3])
		}
	}
	t := &pricing.Table{Provider: "gcp", Region: region}
	for _, family := range []string{"n1", "n2", "n2d", "e2", "c2d", "c3", "c3d", "n4", "c4", "c4a"} {
		a, ok := pricing.ShapeOf(family + "-standard-4")
		b, ok2 := pricing.ShapeOf(family + "-highmem-4")
		x, y := price[family+"-standard-4"], price[family+"-highmem-4"]
		if !ok || !ok2 || x.IsZero() || y.IsZero() {
			continue
		}
		gib := y.Sub(x).MulDiv(money.FromInt(1), b.GiB.Sub(a.GiB))
		core := x.Sub(gib.Mul(a.GiB)).DivInt(4)
		t.Add(cloud.Price{Key: "compute/" + family + "/core", Unit: cloud.PerHour, USD: core.Round(9)})
		t.Add(cloud.Price{Key: "compute/" + family + "/ram", Unit: cloud.PerHour, USD: gib.Round(9)})
	}
	return t
}

// TestShapeOf_PricesEveryMachineOfThePublishedTable predicts the prices of all machines of a family in each region
// from two of them.
func TestShapeOf_PricesEveryMachineOfThePublishedTable(t *testing.T) {
	regions := map[string]*pricing.Table{}
	checked, wrong := 0, map[string]int{}
	for _, l := range readCSV(t, "gcp_vm_prices_usd.csv.gz") {
		shape, ok := pricing.ShapeOf(l[1])
		if l[2] != "on_demand" || !ok || shape.Whole {
			continue
		}
		if l[0] != "us-central1" && l[0] != "europe-west1" && l[0] != "asia-northeast1" {
			continue
		}
		if regions[l[0]] == nil {
			regions[l[0]] = googleTable(t, l[0])
		}
		if _, priced := regions[l[0]].Price("compute/" + shape.Family + "/core"); !priced {
			continue
		}
		e := pricing.Rate(regions[l[0]],
			pricing.Resource{
				Type: "gcp-compute", Class: l[1], Status: cloud.Running,
				Inputs: inventory.IndexedFacts("gcp-compute", googleFacts),
			})
		checked++
		if !e.OK() || e.Hourly.Sub(amount(t, l[3])).Abs().Cmp(amount(t, "0.00001")) > 0 {
			if wrong[l[1]]++; wrong[l[1]] == 1 {
				t.Errorf("%s in %s: %s (%s); the table says %s", l[1], l[0], e.Hourly, e.Reason, l[3])
			}
		}
	}
	t.Logf("%d machines of %s agree with the published prices", checked,
		strings.Join(slices.Sorted(maps.Keys(regions)), ", "))
	if checked < 300 {
		t.Errorf("only %d machines were looked at", checked)
	}
}
