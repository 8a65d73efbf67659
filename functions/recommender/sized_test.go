package recommender

import (
	"maps"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/sizing"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// plant is a provider with machines of one type and rule. Each machine uses little, apart from what its name says.
type plant struct {
	provider, kind, rule, class string
	facts                       cloud.Facts
	sizes                       []cloud.MachineSize
	prices                      map[string]string             // of an hour
	hourly                      func(cloud.Measure) float64   // in the provider's units
	light                       map[string]float64            // confirmed
	machines                    map[string]map[string]float64 // what else is confirmed of the machines, by native id
	targets                     map[string]string             // the classes that open recommendations name
}

// hourlyUse returns the value of the first word that a measure's name has.
func hourlyUse(of map[string]float64) func(cloud.Measure) float64 {
	return func(m cloud.Measure) float64 {
		for word, v := range of {
			if strings.Contains(m.Metric, word) {
				return v
			}
		}
		return 0
	}
}

const gib = 1 << 30

var plants = map[string]plant{
	"databases of AWS": {
		provider: "aws", kind: "aws-rds", rule: "aws-rds-oversized", class: "db.m5.2xlarge",
		facts: cloud.Facts{
			"state": "available", "engine": "postgres", "multi_az": false, "storage_type": "gp3", "allocated_gb": 100.0,
			"iops": 3000.0, "license_model": "postgresql-license",
		},
		sizes: []cloud.MachineSize{
			{Name: "m5.xlarge", VCPU: 4, GiB: 16, IOPS: 6000, MiBps: 137, Mbps: 1250, Hypervisor: "nitro"},
			{Name: "m5.2xlarge", VCPU: 8, GiB: 32, IOPS: 8333, MiBps: 189, Mbps: 2500, Hypervisor: "nitro"},
			{Name: "r5.large", VCPU: 2, GiB: 16, IOPS: 3600, MiBps: 77, Mbps: 750, Hypervisor: "nitro"},
		},
		prices: map[string]string{
			"rds/db.m5.2xlarge/postgres/single": "0.712", "rds/db.m5.xlarge/postgres/single": "0.356",
			"rds/db.r5.large/postgres/single": "0.25", "rds-storage/gp3/single": "0.0001",
		},
		hourly: hourlyUse(map[string]float64{
			"CPUUtilization": 10, "DatabaseConnections": 5, "FreeableMemory": 26 * gib, "FreeStorageSpace": 90e9,
		}),
		light: map[string]float64{
			"cpu_p99_14d": 12, "free_mem_min_14d": 26, cloud.UseCPU: 0.13, cloud.UseAverage: 0.1, cloud.UseIOPS: 200,
			cloud.UseMiBps: 10, cloud.UseMbps: 50,
		},
		machines: map[string]map[string]float64{
			"arn:oversized": {}, "arn:disk-bound": {cloud.UseIOPS: 6500}, "arn:network-bound": {cloud.UseMbps: 1300},
			"arn:unmeasured-disk": {cloud.UseIOPS: 0}, "arn:cpu-peaks": {cloud.UseCPU: 0.45},
		},
		targets: map[string]string{"arn:oversized": "db.m5.xlarge"},
	},
	"machines of Azure": {
		provider: "azure", kind: "azure-vm", rule: "azure-vm-oversized", class: "Standard_D8s_v3",
		facts: cloud.Facts{
			"power_state": "running", "vmss_id": "", "os_type": "Linux", "priority": "Regular", "license_type": "",
		},
		sizes: []cloud.MachineSize{
			{Name: "Standard_D4s_v3", VCPU: 4, GiB: 16, IOPS: 6400, MiBps: 92, Disks: 8, NICs: 2},
			{Name: "Standard_D8s_v3", VCPU: 8, GiB: 32, IOPS: 12800, MiBps: 183, Disks: 16, NICs: 4},
		},
		prices: map[string]string{"vm/Standard_D4s_v3/linux": "0.192", "vm/Standard_D8s_v3/linux": "0.384"},
		hourly: hourlyUse(map[string]float64{"Percentage CPU": 10, "Available Memory": 26 * gib}),
		light: map[string]float64{
			"cpu_p99_14d": 12, "mem_available_min_14d": 26, cloud.UseCPU: 0.13, cloud.UseAverage: 0.1,
			cloud.UseIOPS: 200, cloud.UseMiBps: 10, cloud.UseMbps: 50,
		},
		machines: map[string]map[string]float64{
			"/vm/oversized": {}, "/vm/disk-bound": {cloud.UseIOPS: 7000}, "/vm/network-bound": {cloud.UseMbps: 900},
			"/vm/throughput-bound": {cloud.UseMiBps: 100},
		},
		targets: map[string]string{"/vm/oversized": "Standard_D4s_v3"},
	},
	"databases of Google": {
		provider: "gcp", kind: "gcp-cloudsql", rule: "gcp-cloudsql-oversized", class: "db-custom-4-15360",
		facts: cloud.Facts{
			"activation": "ALWAYS", "vcpu": 4.0, "engine": "POSTGRES_15", "edition": "ENTERPRISE", "ha": false,
			"storage_type": "PD_SSD", "storage_gb": 10.0,
		},
		prices: map[string]string{
			"cloudsql/postgres/core/zonal": "0.0413", "cloudsql/postgres/ram/zonal": "0.007",
			"cloudsql/storage/PD_SSD/zonal": "0.0001",
		},
		hourly: hourlyUse(map[string]float64{"cpu/util": 0.1, "connections": 9, "memory/util": 0.2}),
		light: map[string]float64{
			"cpu_p99_14d": 0.12, "mem_max_14d": 0.2, cloud.UseCPU: 0.13, cloud.UseAverage: 0.1, cloud.UseIOPS: 200,
			cloud.UseMbps: 50,
		},
		machines: map[string]map[string]float64{
			"//sql/oversized": {}, "//sql/disk-bound": {cloud.UseIOPS: 14000},
			"//sql/network-bound": {cloud.UseMbps: 4100, "mem_max_14d": 0.2},
		},
		// half of the vCPUs has half of the bandwidth: memory alone is lowered
		targets: map[string]string{"//sql/oversized": "db-custom-2-7680", "//sql/network-bound": "db-custom-4-7680"},
	},
}

// plantAll discovers the machines of a plant and gives them bills, prices and a list of sizes.
func (f *fixture) plantAll(p *plant) {
	f.Helper()
	f.Put(inventory.AccountKey(org, inventorytest.Account), inventory.Account{
		ID: inventorytest.Account, Provider: p.provider, Name: "plant", CloudAccountID: "123456789012",
		PermissionLevel: "read_write",
	})
	var found []cloud.Resource
	bills := map[string]string{}
	for uid := range p.machines {
		r := f.found(uid, maps.Clone(p.facts))
		r.InstanceType, bills[uid] = p.class, "10"
		if found = append(found, r); p.kind == "gcp-cloudsql" {
			found[len(found)-1].Capacity = map[string]int64{"storageGiB": 10}
		}
	}
	at := inventory.Partition{Provider: p.provider, AccountID: inventorytest.Account, Region: "eu-west-1", Kind: p.kind}
	_, err := inventory.New(f.Platform).UpsertScanned(f.In(org), org, inventory.Batch{
		Scan: inventory.Scan{Partition: at, ID: "job_1", Started: f.Clock.Now()}, At: f.Clock.Now(), Resources: found,
	})
	f.Must(err)
	f.bill(bills)
	f.Must(measurement.New(f.Platform).NoteCollection(f.In(org), org, inventorytest.Account,
		measurement.Collection{Day: "2026-01-01"}))
}

// evaluatePlant evaluates a plant on the next day, with prices, sizes, metrics and confirmations of that day.
func (f *fixture) evaluatePlant(p *plant) {
	f.Helper()
	f.Clock.Advance(day)
	pair := pricing.ProviderRegion{Provider: p.provider, Region: "eu-west-1"}
	if len(p.sizes) > 0 {
		f.Must(sizing.NewStore(f.Platform).Write(f.In(org), org, pair, p.sizes))
	}
	f.Must(pricing.New(f.Platform, cloud.Providers{p.provider: pricer{unit: cloud.PerHour, prices: p.prices}}).
		RefreshPrices(table.Within(f.Context(), pricing.Prefix), pair))
	var all []measurement.Confirmed
	for uid, special := range p.machines {
		f.measure(uid, p.kind, 20, func(_ time.Time, m cloud.Measure) float64 { return p.hourly(m) })
		values := maps.Clone(p.light)
		maps.Copy(values, special)
		maps.DeleteFunc(values, func(_ string, v float64) bool { return v == 0 })
		all = append(all, measurement.Confirmed{
			UID: uid, Values: values, Day: dayOf(f.Clock.Now().AddDate(0, 0, -1)),
		})
	}
	store := measurement.New(f.Platform)
	c := apitest.Value(store.LastCollection(f.In(org), org, inventorytest.Account))(f)
	f.Must(store.Confirm(f.In(org), org, inventorytest.Account, c, all))
	f.evaluate()
}

// targetsOf returns the classes that the open recommendations of a rule name.
func (f *fixture) targetsOf(rule string) map[string]string {
	f.Helper()
	out := map[string]string{}
	for _, r := range apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...) {
		if r.RuleID == rule && r.Status == recommendation.Open {
			class, _ := r.Evidence.Values["target_class"].(string)
			out[r.ResourceUID] = class
		}
	}
	return out
}

// The oracle of sizes: of planted machines, exactly those are lowered whose disks, network and processors permit it.
func TestPlanted_SizesRespectTheLimitsOfDisksAndNetwork(t *testing.T) {
	for name, p := range plants {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.plantAll(&p)
			f.evaluatePlant(&p)
			f.evaluatePlant(&p)
			if got := f.targetsOf(p.rule); !maps.Equal(got, p.targets) {
				t.Errorf("targets %v, want %v; %s", got, p.targets, f.missingOf(p.rule))
			}
		})
	}
}

// missingOf returns why a rule is unknown.
func (f *fixture) missingOf(rule string) string {
	f.Helper()
	var out []string
	for _, c := range apitest.Value(recommendation.New(f.Platform).ReadCounts(f.In(org), org))(f) {
		for _, m := range c.Missing {
			if c.RuleID == rule {
				out = append(out, m.Fact+": "+m.Reason)
			}
		}
	}
	return strings.Join(out, "; ")
}

func TestSized_EvidenceHasTheTargetItsNeedAndItsLimits(t *testing.T) {
	p := plants["databases of AWS"]
	p.machines = map[string]map[string]float64{"arn:oversized": {}}
	f := newFixture(t)
	f.plantAll(&p)
	f.evaluatePlant(&p)
	f.evaluatePlant(&p)
	for _, r := range apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...) {
		if r.RuleID != p.rule {
			continue
		}
		for name, want := range map[string]any{
			"target_class": "db.m5.xlarge", "need_vcpu": 1.3, "need_gib": 7.5, "need_iops": 200.0, "need_mbps": 50.0,
			"limit_vcpu": 4.0, "limit_gib": 16.0, "limit_iops": 6000.0, "limit_mibps": 137.0, "limit_mbps": 1250.0,
		} {
			f.Equal(name, r.Evidence.Values[name], want)
		}
		// half of the price of the class, and the whole price of the storage, of 300 USD a month
		f.Equal("net saving", r.Savings.Net.Fixed(2), "147.92")
		return
	}
	t.Errorf("no row of %s: %s", p.rule, f.missingOf(p.rule))
}

func TestSized_AMissingOrOldListDecidesNothing(t *testing.T) {
	p := plants["machines of Azure"]
	p.machines = map[string]map[string]float64{"/vm/oversized": {}}
	sizes := p.sizes
	f := newFixture(t)
	f.plantAll(&p)
	p.sizes = nil
	f.evaluatePlant(&p)
	f.evaluatePlant(&p)
	f.Equal("without a list", f.missingOf(p.rule), "savings: "+string(unlisted))
	p.sizes = sizes
	f.evaluatePlant(&p)
	f.evaluatePlant(&p)
	if len(f.targetsOf(p.rule)) != 1 {
		t.Errorf("with a list: %s", f.missingOf(p.rule))
	}
	p.sizes = nil
	f.Clock.Advance(sizing.StaleAfter)
	f.evaluatePlant(&p)
	f.Equal("with an old list", f.missingOf(p.rule), "savings: stale")
	if len(f.targetsOf(p.rule)) != 1 {
		t.Error("an old list closes a recommendation")
	}
}

// A recommendation closes when the use has grown beyond the target.
func TestSized_ClosesWithoutATarget(t *testing.T) {
	p := plants["machines of Azure"]
	p.machines = map[string]map[string]float64{"/vm/oversized": {}}
	f := newFixture(t)
	f.plantAll(&p)
	f.evaluatePlant(&p)
	f.evaluatePlant(&p)
	if len(f.targetsOf(p.rule)) != 1 {
		t.Fatalf("no recommendation: %s", f.missingOf(p.rule))
	}
	p.machines = map[string]map[string]float64{"/vm/oversized": {cloud.UseIOPS: 9000}}
	for range 4 {
		f.evaluatePlant(&p)
	}
	if got := f.targetsOf(p.rule); len(got) != 0 {
		t.Errorf("open: %v", got)
	}
}

func TestSized_AConfirmationAsksForTheUse(t *testing.T) {
	p := plants["machines of Azure"]
	p.machines = map[string]map[string]float64{"/vm/oversized": {}}
	f := newFixture(t)
	f.plantAll(&p)
	f.Clock.Advance(day)
	f.measure("/vm/oversized", p.kind, 20, func(_ time.Time, m cloud.Measure) float64 { return p.hourly(m) })
	f.evaluate()
	got := f.candidates()
	if len(got) != 1 || len(got[0].Metrics) != 7 {
		t.Fatalf("candidates: %+v", got)
	}
	for _, m := range got[0].Metrics {
		if _, is := p.light[m]; !is {
			t.Errorf("%s is asked for", m)
		}
	}
}
