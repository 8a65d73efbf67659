package cloud_test

import (
	"encoding/csv"
	"os"
	"testing"

	"lamplighter.dev/shared/cloud"
)

func TestIsRegion(t *testing.T) {
	for _, c := range []struct {
		provider, name string
		want           bool
	}{
		{"aws", "eu-west-1", true},
		{"aws", "us-gov-west-1", true},
		{"aws", "cn-north-1", true},
		{"aws", "eu-west-9", false},
		{"aws", "eu-west-1a", false},
		{"aws", "EU-WEST-1", false},
		{"aws", "", false},
		{"azure", "westeurope", true},
		{"azure", "West Europe", false},
		{"azure", "europe-west1", false},
		{"gcp", "europe-west12", true},
		{"gcp", "europe-west1-b", false},
		{"gcp", "westeurope", false},
		{"kubernetes", "cluster", true},
		{"kubernetes", "eu-west-1", false},
		{"simulated", "eu-atlantis-1", false},
		{"another", "anything", true},
		{"simulated", "us-east-1", true},
	} {
		if got := cloud.IsRegion(c.provider, c.name); got != c.want {
			t.Errorf("%s %q: %t, want %t", c.provider, c.name, got, c.want)
		}
	}
}

// The regions with a grid come from another source. For azure it also has geographies ("europe"), which are not
// regions, so only those of aws and gcp are compared.
func TestIsRegion_KnowsTheRegionsWithAGrid(t *testing.T) {
	f, err := os.Open("../../functions/reports/carbon/grids.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil || len(rows) < 100 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows[1:] {
		if row[0] != "azure" && !cloud.IsRegion(row[0], row[1]) {
			t.Errorf("%s has a region %s", row[0], row[1])
		}
	}
}
