package sizing

import (
	"fmt"
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
)

// nitro returns a type of AWS with limits for each vCPU.
func nitro(name string, vcpu, gib float64) cloud.MachineSize {
	return cloud.MachineSize{
		Name: name, VCPU: vcpu, GiB: gib, IOPS: vcpu * 1500, MiBps: vcpu * 40, Mbps: vcpu * 375, Hypervisor: "nitro",
		Drivers: []string{"ena", "nvme"}, NICs: 3,
	}
}

// perVCPU prices types by their vCPUs and memory.
func perVCPU(all []cloud.MachineSize) func(string) (money.Amount, bool) {
	return func(class string) (money.Amount, bool) {
		_, class, _ = cutAffixes(class)
		i := slices.IndexFunc(all, func(s cloud.MachineSize) bool { return s.Name == class })
		if i < 0 {
			return money.Amount{}, false
		}
		usd, err := money.FromFloat(all[i].VCPU*0.03 + all[i].GiB*0.004)
		return usd, err == nil
	}
}

func TestChoose_HoldsTheUseWithHeadroom(t *testing.T) {
	xen := cloud.MachineSize{Name: "m4.xlarge", VCPU: 4, GiB: 16, IOPS: 6000, MiBps: 90, Mbps: 750, Hypervisor: "xen"}
	disks := nitro("m5d.large", 2, 8)
	disks.LocalDisk = true
	unlimited := nitro("m6a.large", 2, 8)
	unlimited.IOPS = 0
	burst := nitro("t3.large", 2, 8)
	burst.Burstable = true
	all := []cloud.MachineSize{
		nitro("m5.large", 2, 8), nitro("m5.xlarge", 4, 16), nitro("m5.2xlarge", 8, 32), nitro("m5.4xlarge", 16, 64),
		nitro("c5.large", 2, 4), nitro("c5.xlarge", 4, 8), nitro("c5.2xlarge", 8, 16), nitro("r5.large", 2, 16),
		nitro("m6a.xlarge", 4, 16), unlimited, xen, disks,
	}
	light := Use{CPU: 0.1, Average: 0.05, GiB: 3, IOPS: 100, MiBps: 5, Mbps: 50}
	for name, tt := range map[string]struct {
		class string
		use   func(*Use)
		step  bool
		zone  string
		disks float64
		want  string
		why   Reason
	}{
		"light use gets the cheapest that holds it": {class: "m5.2xlarge", want: "c5.large"},
		"in production half at most":                {class: "m5.2xlarge", step: true, want: "m5.xlarge"},
		"a database by its machine":                 {class: "db.m5.2xlarge", want: "db.c5.large"},
		"processors with headroom": {
			class: "m5.xlarge", use: func(u *Use) { u.CPU = 0.41 }, want: "c5.xlarge",
		},
		"processors that just fit": {
			class: "m5.xlarge", use: func(u *Use) { u.CPU = 0.39 }, want: "c5.large",
		},
		"memory with headroom": {
			class: "m5.xlarge", use: func(u *Use) { u.GiB = 3.3 }, want: "m5.large",
		},
		"without memory data the present memory": {
			class: "m5.xlarge", use: func(u *Use) { u.GiB = 0 }, want: "r5.large",
		},
		"operations of disks": {
			class: "m5.xlarge", use: func(u *Use) { u.IOPS = 3100 }, want: "c5.xlarge",
		},
		"throughput of disks": {
			class: "m5.xlarge", use: func(u *Use) { u.MiBps = 90 }, want: "c5.xlarge",
		},
		"bandwidth of the network": {
			class: "m5.xlarge", use: func(u *Use) { u.Mbps = 800 }, want: "c5.xlarge",
		},
		"unknown use of disks keeps the limit": {
			class: "m5.xlarge", use: func(u *Use) { u.IOPS = 0 }, want: "c5.xlarge",
		},
		"near a limit nothing is lowered": {
			class: "m5.xlarge", use: func(u *Use) { u.Mbps = 1400 }, why: Settled,
		},
		"nine tenths of the processors": {
			class: "m5.xlarge", use: func(u *Use) { u.CPU = 0.9 }, why: Settled,
		},
		"of an unknown type": {class: "m9.large", why: Unlisted},
		"without measured processors": {
			class: "m5.xlarge", use: func(u *Use) { u.CPU = 0 }, why: Settled,
		},
		"another hypervisor is no target":                {class: "m4.xlarge", why: Settled},
		"local disks would be lost":                      {class: "m5d.large", why: Settled},
		"AMD stays AMD, and unknown limits hold nothing": {class: "m6a.xlarge", why: Unlimited},
		"the smallest stays":                             {class: "c5.large", why: Settled},
	} {
		t.Run(name, func(t *testing.T) {
			use := light
			if tt.use != nil {
				tt.use(&use)
			}
			got := NewCatalogue("aws", all).Choose(Question{
				Class: tt.class, Use: use, OneStep: tt.step, Zone: tt.zone, Disks: tt.disks, Price: perVCPU(all),
			})
			if got.Class != tt.want || got.Why != tt.why {
				t.Errorf("%q (%q), want %q (%q); need %+v", got.Class, got.Why, tt.want, tt.why, got.Need)
			}
		})
	}
}

func TestChoose_BurstableTypesHoldTheAverageAllTheTime(t *testing.T) {
	small, large := nitro("t3.medium", 2, 4), nitro("t3.xlarge", 4, 16)
	small.Burstable, large.Burstable = true, true
	all := []cloud.MachineSize{small, large, nitro("m5.xlarge", 4, 16)}
	for average, want := range map[float64]string{0.05: "t3.medium", 0.15: "", 0: ""} {
		got := NewCatalogue("aws", all).Choose(Question{
			Class: "m5.xlarge", Price: perVCPU(all), Use: Use{
				CPU: 0.3, Average: average, GiB: 2, IOPS: 100, MiBps: 5, Mbps: 50,
			},
		})
		if got.Class != want {
			t.Errorf("average %v: %q, want %q", average, got.Class, want)
		}
	}
}

func TestChoose_AzureAndGoogleHaveLimitsByRule(t *testing.T) {
	azure := func(name string, vcpu, gib float64) cloud.MachineSize {
		return cloud.MachineSize{
			Name: name, VCPU: vcpu, GiB: gib, IOPS: vcpu * 1600, MiBps: vcpu * 24, Disks: vcpu * 2, NICs: 2,
		}
	}
	google := func(name string, vcpu, gib float64, zones ...string) cloud.MachineSize {
		return cloud.MachineSize{Name: name, VCPU: vcpu, GiB: gib, Disks: 128, Zones: zones}
	}
	lists := map[string][]cloud.MachineSize{
		"azure": {
			azure("Standard_D2s_v3", 2, 8), azure("Standard_D4s_v3", 4, 16), azure("Standard_D4_v3", 4, 16),
			azure("Standard_D2s_v6", 2, 8),
		},
		"gcp": {
			google("n2-standard-2", 2, 8, "europe-west1-b"), google("n2-standard-4", 4, 16),
			google("e2-standard-2", 2, 8),
			google("n2-standard-8", 8, 32), google("c3-standard-4", 4, 16), google("c3-standard-8", 8, 32),
		},
	}
	light := Use{CPU: 0.1, Average: 0.05, GiB: 3, IOPS: 100, MiBps: 5, Mbps: 50}
	for _, tt := range []struct {
		name, provider, class, zone string
		use                         func(*Use)
		disks                       float64
		want                        string
		why                         Reason
	}{
		{name: "Azure", provider: "azure", class: "Standard_D4s_v3", want: "Standard_D2s_v3"},
		{name: "disks", provider: "azure", class: "Standard_D4s_v3", disks: 5, why: Settled},
		{
			name: "disk-bound", provider: "azure", class: "Standard_D4s_v3", use: func(u *Use) { u.IOPS = 4000 },
			why: Settled,
		},
		{
			name: "network-bound", provider: "azure", class: "Standard_D4s_v3", use: func(u *Use) { u.Mbps = 500 },
			why: Settled,
		},
		{name: "Google", provider: "gcp", class: "n2-standard-4", want: "n2-standard-2"},
		{name: "another zone", provider: "gcp", class: "n2-standard-4", zone: "europe-west1-c", why: Settled},
		{name: "a custom machine", provider: "gcp", class: "n2-custom-8-16384", want: "n2-standard-2"},
		{
			name: "network-bound", provider: "gcp", class: "n2-standard-4", use: func(u *Use) { u.Mbps = 5000 },
			why: Settled,
		},
		{
			name: "disk-bound", provider: "gcp", class: "n2-standard-8", use: func(u *Use) { u.MiBps = 500 },
			why: Settled,
		},
		{name: "a series with unknown limits", provider: "gcp", class: "c3-standard-8", why: Unlimited},
	} {
		t.Run(tt.provider+" "+tt.name, func(t *testing.T) {
			use := light
			if tt.use != nil {
				tt.use(&use)
			}
			all := append(slices.Clone(lists[tt.provider]), google("n2-custom-8-16384", 8, 16))
			got := NewCatalogue(tt.provider, lists[tt.provider]).Choose(Question{
				Class: tt.class, Zone: tt.zone, Use: use, Disks: tt.disks, Price: perVCPU(all),
			})
			if got.Class != tt.want || got.Why != tt.why {
				t.Errorf("%q (%q), want %q (%q)", got.Class, got.Why, tt.want, tt.why)
			}
		})
	}
}

func TestTiers_HaveLessOfWhatIsNotUsed(t *testing.T) {
	price := func(class string) (money.Amount, bool) {
		size, known := googleSize(class[len("db-"):])
		usd, err := money.FromFloat(size.VCPU*0.04 + size.GiB*0.007)
		return usd, known && err == nil
	}
	for _, tt := range []struct {
		class string
		use   Use
		want  string
	}{
		{"db-custom-8-32768", Use{CPU: 0.1, GiB: 4, IOPS: 100, MiBps: 5, Mbps: 20}, "db-custom-4-16384"},
		{"db-custom-8-32768", Use{CPU: 0.1, GiB: 20, IOPS: 100, MiBps: 5, Mbps: 20}, "db-custom-6-28672"},
		{"db-custom-4-16384", Use{CPU: 0.1, GiB: 4, IOPS: 100, Mbps: 20}, "db-custom-2-8192"},
		{"db-custom-4-16384", Use{CPU: 0.6, GiB: 4, IOPS: 100, Mbps: 20}, "db-custom-4-8192"},
		{"db-custom-8-32768", Use{CPU: 0.1, GiB: 14, IOPS: 12_000, MiBps: 600, Mbps: 20}, "db-custom-8-20480"},
		{"db-f1-micro", Use{CPU: 0.1, GiB: 0.1, IOPS: 1, MiBps: 5, Mbps: 20}, ""},
	} {
		got := NewTiers(tt.class).Choose(Question{Class: tt.class, Use: tt.use, OneStep: true, Price: price})
		if got.Class != tt.want {
			t.Errorf("%s: %q (%s), want %q", tt.class, got.Class, got.Why, tt.want)
		}
	}
}

func TestLarger_IsTheNextOfTheSeries(t *testing.T) {
	all := []cloud.MachineSize{
		nitro("m5.large", 2, 8), nitro("m5.xlarge", 4, 16), nitro("m5.2xlarge", 8, 32), nitro("c5.xlarge", 4, 8),
		nitro("m6i.xlarge", 4, 16),
	}
	c := NewCatalogue("aws", all)
	for class, want := range map[string]string{
		"m5.large": "m5.xlarge", "db.m5.xlarge": "db.m5.2xlarge", "m5.2xlarge": "", "m9.large": "",
		"m5.large.search": "m5.xlarge.search",
	} {
		if got := c.Larger(class); got != want {
			t.Errorf("%s: %q, want %q", class, got, want)
		}
	}
}

func TestStepDown_HoldsTheUse(t *testing.T) {
	for _, tt := range []struct {
		kind, class string
		use         StepUse
		want        string
		known       bool
	}{
		{"azure-sql-database", "S4", StepUse{Units: 0.39, GB: 200}, "S3", true},
		{"azure-sql-database", "S3", StepUse{Units: 0.39, GB: 200}, "S2", true},
		{"azure-sql-database", "S3", StepUse{Units: 0.41, GB: 200}, "", true},
		{"azure-sql-database", "S3", StepUse{Units: 0.1, GB: 500}, "", true}, // S2 stores 250 GB
		{"azure-sql-database", "S2", StepUse{Units: 0.1, GB: 20}, "", true},  // S1 has hard disks
		{"azure-sql-database", "P11", StepUse{Units: 0.1, GB: 2000}, "", true},
		{"azure-sql-database", "GP_Gen5", StepUse{Units: 0.1, GB: 20}, "", false},
		{"azure-sql-database", "S4", StepUse{GB: 200}, "", false},
		{"azure-appserviceplan", "P2v3", StepUse{Units: 0.2, Memory: 0.39}, "P1v3", true},
		{"azure-appserviceplan", "P2v3", StepUse{Units: 0.2, Memory: 0.45}, "", true},
		{"azure-appserviceplan", "P2v3", StepUse{Units: 0.2}, "", false},
		{"azure-redis", "C3", StepUse{Units: 0.2, Memory: 0.1}, "", false},
	} {
		if got, known := StepDown(tt.kind, tt.class, tt.use); got != tt.want || known != tt.known {
			t.Errorf("%s %+v: %q (%v), want %q (%v)", tt.class, tt.use, got, known, tt.want, tt.known)
		}
	}
	if got := StepUp("azure-sql-database", "S3") + StepUp("azure-sql-database", "P15"); got != "S4" {
		t.Errorf("the steps after S3 and P15: %q", got)
	}
}

func ExampleCatalogue_Choose() {
	all := []cloud.MachineSize{nitro("m5.large", 2, 8), nitro("m5.xlarge", 4, 16)}
	c := NewCatalogue("aws", all).Choose(Question{
		Class: "m5.xlarge", Price: perVCPU(all),
		Use: Use{CPU: 0.2, GiB: 4, IOPS: 300, MiBps: 10, Mbps: 100},
	})
	fmt.Println(c.Class)
	// Output: m5.large
}
