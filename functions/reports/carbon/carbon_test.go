package carbon

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/foundation/money"
)

// TestHourly_IsAsCountedByHand compares with figures that were computed by hand from the method.
func TestHourly_IsAsCountedByHand(t *testing.T) {
	for name, c := range map[string]struct {
		m    Machine
		want string
	}{
		// 2 vCPU × (0.65 + (4.26 - 0.65) × 50 %) W = 4.91 W; × 1.135 = 5.57285 W; × 0.2786 kg/kWh ÷ 1000
		"AWS, Ireland": {Machine{Type: "aws-ec2", Class: "m5.large", Region: "eu-west-1"}, "0.00155259601"},
		// 8 vCPU × (0.645 + 3.47 × 50 %) W = 19.04 W; × 1.135 = 21.6104 W; × 0.3651277965 ÷ 1000
		"AWS, Virginia": {Machine{Type: "aws-ec2", Class: "c5.2xlarge", Region: "us-east-1"}, "0.0078905577334836"},
		// same family, other processor: 48 × (0.64 + 3.33 × 50 %) = 110.64; × 1.135 = 125.5764; × 0.0088 ÷ 1000
		"AWS, a size of another processor": {
			Machine{Type: "aws-ec2", Class: "c5.12xlarge", Region: "eu-north-1"},
			"0.00110507232",
		},
		// 2 × (0.75 + 3.415 × 50 %) = 4.915; × 1.185 = 5.824275; × 0.3284 ÷ 1000
		"Azure, Netherlands": {
			Machine{Type: "azure-vm", Class: "Standard_D2s_v3", Region: "westeurope"},
			"0.00191269191",
		},
		// 4 × (0.64 + 3.33 × 50 %) = 9.22; × 1.1 = 10.142; × 0.3909916334 ÷ 1000
		"Google, Iowa": {Machine{
			Type: "gcp-compute", Class: "n2-standard-4", Region: "us-central1",
			Inputs: "spot=0;gpu_count=0",
		}, "0.0039654371459428"},
		"Google, of own cores": {Machine{
			Type: "gcp-compute", Class: "n2-custom-4-16384", Region: "us-central1",
			Inputs: "gpu_count=0",
		}, "0.0039654371459428"},
		// 2 × (1 + 3.74 × 50 %) = 5.74; × 1.1 = 6.314; × 0.225 ÷ 1000
		"Google, of own cores of N1, London": {Machine{
			Type: "gcp-compute", Class: "custom-2-4096",
			Region: "europe-west2", Inputs: "gpu_count=0",
		}, "0.00142065"},
	} {
		got, known := EstimateHourly(c.m)
		if want := money.MustParse(c.want); !known || got != want {
			t.Errorf("%s: %s, %v; want %s", name, got, known, want)
		}
	}
}

func TestHourly_IsNotGuessed(t *testing.T) {
	for name, m := range map[string]Machine{
		"an unknown family":            {Type: "aws-ec2", Class: "m9x.large", Region: "eu-west-1"},
		"an unknown size":              {Type: "aws-ec2", Class: "m5.huge", Region: "eu-west-1"},
		"an unknown region":            {Type: "aws-ec2", Class: "m5.large", Region: "moon-1"},
		"a region of another provider": {Type: "aws-ec2", Class: "m5.large", Region: "westeurope"},
		"accelerators of AWS":          {Type: "aws-ec2", Class: "p3.2xlarge", Region: "eu-west-1"},
		"accelerators of Azure":        {Type: "azure-vm", Class: "Standard_NC6", Region: "westeurope"},
		"accelerators of Google": {
			Type: "gcp-compute", Class: "n1-standard-4", Region: "us-central1",
			Inputs: "gpu_count=1",
		},
		"accelerators not known of": {Type: "gcp-compute", Class: "n1-standard-4", Region: "us-central1"},
		"a shared core": {
			Type: "gcp-compute", Class: "e2-medium", Region: "us-central1",
			Inputs: "gpu_count=0",
		},
		"no number of cores": {
			Type: "gcp-compute", Class: "n2-standard-", Region: "us-central1",
			Inputs: "gpu_count=0",
		},
		"what is no machine": {Type: "aws-s3", Class: "m5.large", Region: "eu-west-1"},
		"nothing":            {},
	} {
		if kg, known := EstimateHourly(m); known {
			t.Errorf("%s: %s", name, kg)
		}
	}
}

func TestCoefficients_SayWhereTheyAreFrom(t *testing.T) {
	s := Coefficients()
	if s.Name != "Cloud Carbon Footprint" || !strings.Contains(s.Version, "core 1.0.0") ||
		!strings.HasPrefix(s.Licence, "Apache-2.0") || s.Date == "" {
		t.Errorf("got %+v", s)
	}
	if a, b := strings.Split(machinesCSV, "# date")[0], strings.Split(gridsCSV, "# date")[0]; a != b {
		t.Errorf("the tables are not from one version:\n%s%s", a, b)
	}
	if c := coefficients(); len(c.machines) != 575 || len(c.grids) != 123 {
		t.Errorf("there are %d machines and %d regions", len(c.machines), len(c.grids))
	}
}
