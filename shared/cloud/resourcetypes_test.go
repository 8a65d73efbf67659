package cloud

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var typeForm = regexp.MustCompile(`^(aws|azure|gcp|kubernetes)-[a-z0-9]+(-[a-z0-9]+)*$`)

func TestCatalogue_HoldsEveryTypeOnceUnderAStableName(t *testing.T) {
	all := Catalogue()
	if len(all) < 380 {
		t.Errorf("%d types; want 380 at least", len(all))
	}
	had, native := map[string]bool{}, map[string]string{}
	for _, k := range all {
		if !typeForm.MatchString(k.Type) || !strings.HasPrefix(k.Type, k.Provider+"-") || k.Name == "" || had[k.Type] {
			t.Errorf("%+v: a type is <provider>-<name>, has a name, and stands once", k)
		}
		had[k.Type] = true
		if k.Native == "" && k.Type != OtherType(k.Provider) {
			t.Errorf("%s: its provider's own name of it is missing", k.Type)
		}
		if other := native[k.Provider+k.Native]; other != "" && k.Native != "" {
			t.Errorf("%s and %s are both %s", k.Type, other, k.Native)
		}
		native[k.Provider+k.Native] = k.Type
		if k.Native != "" && TypeOf(k.Provider, strings.ToUpper(k.Native)) != k.Type {
			t.Errorf("%s is %s of the provider; TypeOf says %q", k.Type, k.Native, TypeOf(k.Provider, k.Native))
		}
	}
	for _, p := range []string{"aws", "azure", "gcp", "kubernetes"} {
		if !had[OtherType(p)] {
			t.Errorf("there is no type for what else %s has", p)
		}
	}
}

// A kind without a line in resourcetypes.csv would have no native name, and an index would list its resources a second
// time.
func TestCatalogue_NamesEveryKindNatively(t *testing.T) {
	for _, k := range catalogue {
		if got, ok := KindOf(k.Type); !ok || got.Native == "" || !got.Discoverable || got.Deadline != k.Deadline {
			t.Errorf("%s is %+v; want it with its native name (resourcetypes.csv) and as the kind says", k.Type, got)
		}
	}
}

func TestTypeOf_KnowsEveryNativeName(t *testing.T) {
	for _, tt := range []struct{ provider, native, want string }{
		{"aws", "ec2:volume", "aws-ebs"},
		{"aws", "elasticloadbalancing:loadbalancer/net", "aws-elb"},
		{"azure", "Microsoft.Compute/disks", "azure-disk"},
		{"azure", "microsoft.web/sites#functionapp", "azure-functionapp"},
		{"gcp", "compute.googleapis.com/RegionDisk", "gcp-disk"},
		{"kubernetes", "apps/Deployment", "kubernetes-deployment"},
		{"aws", "quantum:computer", ""},
		{"gcp", "ec2:volume", ""},
	} {
		if got := TypeOf(tt.provider, tt.native); got != tt.want {
			t.Errorf("TypeOf(%s, %s) = %q; want %q", tt.provider, tt.native, got, tt.want)
		}
	}
}

// The rules name types; one that the catalogue lacks would never be judged.
func TestCatalogue_HoldsEveryTypeOfTheRules(t *testing.T) {
	for _, file := range []string{"rules.csv", "facts.csv", "metrics.csv"} {
		for _, row := range ruleData(t, file) {
			of := row["resource_type"]
			if of == "*" || strings.HasSuffix(of, "-*") {
				continue
			}
			if _, ok := KindOf(of); !ok {
				t.Errorf("%s: the catalogue has no type %s", file, of)
			}
		}
	}
}

// ruleData reads a table of the rules, which lie beside the checkout where they are at hand.
func ruleData(t *testing.T, file string) []map[string]string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", "rules", file)
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		t.Skipf("SKIPPED: there are no rules at %s to hold the catalogue against", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it is read
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]map[string]string, 0, len(rows))
	for _, cells := range rows[1:] {
		row := map[string]string{}
		for i, name := range rows[0] {
			row[name] = cells[i]
		}
		out = append(out, row)
	}
	return slices.Clip(out)
}
