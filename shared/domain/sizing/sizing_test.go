package sizing

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestOf_ReturnsTheSizeOfAType(t *testing.T) {
	for _, c := range []struct {
		provider, class string
		want            Size
	}{
		{"aws", "m5.large", Size{VCPU: 2, GiB: 8}},
		{"aws", "db.r6g.xlarge", Size{VCPU: 4, GiB: 32, Arm: true}},
		{"aws", "cache.t3.micro", Size{VCPU: 2, GiB: 1}},
		{"aws", "m5.large.search", Size{VCPU: 2, GiB: 8}},
		{"aws", "g4dn.xlarge", Size{VCPU: 4, GiB: 16, GPUs: 1}},
		{"azure", "Standard_D4s_v3", Size{VCPU: 4, GiB: 16}},
		{"azure", "Standard_D2ps_v5", Size{VCPU: 2, GiB: 8, Arm: true}},
		{"azure", "Standard_NC6s_v3", Size{VCPU: 6, GiB: 112, GPUs: 1}},
		{"gcp", "n1-standard-4", Size{VCPU: 4, GiB: 15}},
		{"gcp", "n2-custom-4-16384", Size{VCPU: 4, GiB: 16}},
		{"gcp", "t2a-standard-2", Size{VCPU: 2, GiB: 8, Arm: true}},
		{"gcp", "e2-micro", Size{VCPU: 2, GiB: 1, Shared: true}},
		{"gcp", "f1-micro", Size{VCPU: 1, GiB: 0.6, Shared: true}},
	} {
		if got, known := FindSize(c.provider, c.class); !known || got != c.want {
			t.Errorf("%s: %+v (known %v), want %+v", c.class, got, known, c.want)
		}
	}
}

func TestOf_LeavesUnknownTypesUnknown(t *testing.T) {
	for _, class := range [][2]string{
		{"aws", ""},
		{"aws", "m99.large"},
		{"aws", "db.serverless"},
		{"aws", "db.r6i.4xlarge.tpc1.mem4x"},
		{"azure", "m5.large"},
		{"gcp", "a2-highgpu-1g"},
		{"simulated", "m5.large"},
	} {
		if got, known := FindSize(class[0], class[1]); known {
			t.Errorf("%s has the size %+v", class, got)
		}
		if got, known := Equivalents(class[0], class[1], Newer); known {
			t.Errorf("%s has the equivalents %v", class, got)
		}
	}
}

func TestEquivalents_HaveTheSameSize(t *testing.T) {
	for _, c := range []struct {
		provider, class string
		wanted          Wanted
		some, none      string // types that are and are not among the equivalents, separated by spaces
	}{
		{"aws", "m4.large", Newer, "m5.large m6i.large m7i.large", "m5a.large m6g.large m7i-flex.large m5d.large"},
		{"aws", "t2.micro", Newer, "t3.micro", "t3a.micro t4g.micro t3.small"},
		{"aws", "c4.8xlarge", Newer, "c5.9xlarge", "c6i.8xlarge"}, // it has 36 vCPUs
		{"aws", "m3.large", Newer, "", "m5d.large m5.large"},      // what is on its local disks would be lost
		{"aws", "i2.xlarge", Newer, "", "i3.xlarge"},
		{"aws", "m5.metal", Newer, "m7i.metal-24xl", "m6i.24xlarge"},
		{"aws", "m5.large", Arm, "m6g.large m7g.large", "m6gd.large c6g.large"},
		{"aws", "m6g.large", Arm, "", "m7g.large"},
		{"aws", "m5.large", AMD, "m5a.large m6a.large", "m5.large m6g.large"},
		{"aws", "m6i.large", AMD, "m6a.large m7a.large", "m5a.large"},
		{"aws", "c5n.xlarge", Arm, "", "c6gn.xlarge c6g.xlarge"}, // they have less memory
		{"aws", "r5d.large", Arm, "", "r6gd.large r6g.large"},
		{"aws", "db.m5.large", Arm, "db.m6g.large", "m6g.large"},
		{"aws", "m5.large.search", AnyNewer, "m6g.large.search", "m4.large.search"},
		{"aws", "g4dn.xlarge", Newer, "", "g5.xlarge"},
		{"aws", "inf1.xlarge", Newer, "", "inf2.xlarge"},
		{"azure", "Standard_DS2_v2", Newer, "Standard_D2s_v3", "Standard_D2_v3 Standard_D2s_v5 Standard_D2as_v4"},
		{"azure", "Standard_D11_v2", Newer, "Standard_E2s_v3", "Standard_D2s_v3"},
		{"azure", "Standard_D4s_v4", Newer, "Standard_D4s_v5", "Standard_D4ds_v5 Standard_D4s_v6 Standard_D4ls_v5"},
		{"azure", "Standard_D4ps_v5", Newer, "", "Standard_D4ps_v6"}, // its image may have no driver for NVMe
		{"azure", "Standard_L8s_v3", AMD, "", "Standard_L8as_v3"},
		{"azure", "Standard_DC2s_v2", AMD, "", "Standard_DC2ads_v5"},
		{"azure", "Standard_F2s", Newer, "Standard_F2s_v2", "Standard_F4s_v2"},
		{"azure", "Standard_D4s_v5", AMD, "Standard_D4as_v5", "Standard_D4ads_v5 Standard_D4as_v6"},
		{"azure", "Standard_D4s_v3", AMD, "Standard_D4as_v4 Standard_D4ads_v5", "Standard_D4as_v5"},
		{"azure", "Standard_D4s_v5", Arm, "Standard_D4ps_v5 Standard_D4ps_v6", "Standard_D4pds_v5"},
		{"azure", "Standard_E4-2s_v5", AMD, "", "Standard_E4as_v5"}, // a part of its vCPUs is switched off
		{"gcp", "n1-standard-4", Newer, "n2-standard-4 n2d-standard-4", "e2-standard-4 n4-standard-4"},
		{"gcp", "n2-standard-4", Newer, "", "n2d-standard-4 c3-standard-4"},
		{"gcp", "n2-standard-4", Economical, "e2-standard-4", "e2-highcpu-4"},
		{"gcp", "n2-standard-64", Economical, "", "e2-standard-64"},
		{"gcp", "n2-standard-4", Arm, "t2a-standard-4 c4a-standard-4", ""},
		{"gcp", "n2-custom-4-16384", Economical, "", "e2-standard-4"},
		{"gcp", "e2-medium", Arm, "", "t2a-standard-1"},
	} {
		got, known := Equivalents(c.provider, c.class, c.wanted)
		if !known {
			t.Errorf("the equivalents of %s are unknown", c.class)
		}
		for name := range strings.FieldsSeq(c.some) {
			if !slices.Contains(got, name) {
				t.Errorf("%s is no equivalent of %s: %v", name, c.class, got)
			}
		}
		for name := range strings.FieldsSeq(c.none) {
			if slices.Contains(got, name) {
				t.Errorf("%s is an equivalent of %s", name, c.class)
			}
		}
		if c.some == "" && c.provider != "gcp" && len(got) > 0 {
			t.Errorf("%s has the equivalents %v, want none", c.class, got)
		}
	}
}

// Every equivalent of every type has at least its size, and no machine replaces itself.
func TestEquivalents_AreNeverSmaller(t *testing.T) {
	pairs := 0
	for key := range readCatalogue().machines {
		size, _ := FindSize(key[0], key[1])
		for _, w := range []Wanted{Newer, AnyNewer, Arm, AMD} {
			types, _ := Equivalents(key[0], key[1], w)
			for _, name := range types {
				other, known := FindSize(key[0], name)
				if !known || name == key[1] || other.VCPU < size.VCPU || other.GiB < size.GiB || other.GPUs > 0 ||
					(w == Newer || w == AMD) && other.Arm != size.Arm || w == Arm && (!other.Arm || size.Arm) {
					t.Errorf("%s %+v is no equivalent of %s %+v", name, other, key[1], size)
				}
				pairs++
			}
		}
	}
	if pairs < 1000 {
		t.Errorf("there are only %d equivalents", pairs)
	}
	t.Logf("%d types, %d equivalents", len(readCatalogue().machines), pairs)
}

func TestCatalogue_IsWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for line := range strings.Lines(sizeTable) {
		f := strings.Split(strings.TrimSpace(line), ";")
		if strings.HasPrefix(line, "#") || f[0] == "provider" {
			continue
		}
		if len(f) != 6 || f[0] != "aws" && f[0] != "azure" || f[4] != "x86" && f[4] != "arm" || seen[f[0]+f[1]] {
			t.Errorf("the line %q is not well-formed, or its type occurs twice", line)
		}
		seen[f[0]+f[1]] = true
		for _, n := range []string{f[2], f[3], f[5]} {
			if v, err := strconv.ParseFloat(n, 64); err != nil || v < 0 {
				t.Errorf("the line %q has the number %q", line, n)
			}
		}
	}
}
