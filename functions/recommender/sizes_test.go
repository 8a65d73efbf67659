package recommender

import (
	"context"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

// newSubjectOf returns a subject of a type with facts, without prices and bills.
func newSubjectOf(tb testing.TB, kind, class string, facts cloud.Facts) *subject {
	tb.Helper()
	of, err := condition.NewCatalogue().NewSubject(kind)
	if err != nil {
		tb.Fatal(err)
	}
	s := newSubject(tb)
	s.Type, s.InstanceType, s.Provider, s.Region = kind, class, vendorOf(kind), "eu-west-1"
	s.facts, s.rollups = of.Facts, &condition.Rollups{Kind: kind}
	for name, v := range facts {
		s.facts.Set(name, v)
	}
	return s
}

// listPrices gives the region of the subject a price list.
func (s *subject) listPrices(at time.Time, perHour map[string]string) {
	t := &pricing.Table{Provider: s.Provider, Region: s.Region, Version: "v1", FetchedAt: at}
	for key, usd := range perHour {
		t.Add(cloud.Price{Key: key, Unit: cloud.PerHour, USD: money.MustParse(usd)})
	}
	s.cheapest = map[sizeQuery]sizeAnswer{}
	pair := pricing.ProviderRegion{Provider: s.Provider, Region: s.Region}
	s.tables = &priceTables{kept: map[pricing.ProviderRegion]*pricing.Table{pair: t}}
}

// derived returns a derived fact of the subject.
func (s *subject) derived(tb testing.TB, fact string) (any, condition.Reason) {
	tb.Helper()
	d := derivationOf(s.Type, fact)
	if d == nil {
		tb.Fatalf("%s.%s is not derived", s.Type, fact)
	}
	return d.derive(s)
}

func TestReplacement_IsTheCheapestOfTheSameSize(t *testing.T) {
	linux := cloud.Facts{"platform": "Linux/UNIX", "tenancy": "default"}
	postgres := cloud.Facts{
		"engine": "postgres", "multi_az": false, "storage_type": "gp3", "allocated_gb": 100.0, "iops": 3000.0,
	}
	for name, tt := range map[string]struct {
		kind, class, fact string
		facts             cloud.Facts
		prices            map[string]string
		want              any
		why               condition.Reason
	}{
		"a later generation that costs less": {
			"aws-ec2", "m4.large", "newer_type", linux, map[string]string{
				"ec2/m4.large/linux/default": "0.1", "ec2/m5.large/linux/default": "0.096",
				"ec2/m6i.large/linux/default": "0.097",
			}, "m5.large", "",
		},
		"none costs less": {"aws-ec2", "m4.large", "newer_type", linux, map[string]string{
			"ec2/m4.large/linux/default": "0.1", "ec2/m5.large/linux/default": "0.1",
		}, "", ""},
		"none is offered in the region": {
			"aws-ec2", "m4.large", "newer_type", linux, map[string]string{"ec2/m4.large/linux/default": "0.1"}, "", "",
		},
		"of a size of its own, none replaces it": {
			"aws-ec2", "inf1.xlarge", "newer_type", linux, nil, "", "",
		},
		"without a price of its own unknown": {
			"aws-ec2", "m4.large", "newer_type", linux, map[string]string{
				"ec2/m5.large/linux/default": "0.096",
			}, nil, unpriced,
		},
		"of an unknown type unknown": {"aws-ec2", "m99.large", "newer_type", linux, nil, nil, unsized},
		"of an unknown system unknown": {"aws-ec2", "m4.large", "arm_type", nil, map[string]string{
			"ec2/m4.large/linux/default": "0.1", "ec2/m6g.large/linux/default": "0.08",
		}, nil, unpriced},
		"an arm64 type": {"aws-ec2", "m5.large", "arm_type", linux, map[string]string{
			"ec2/m5.large/linux/default": "0.096", "ec2/m6g.large/linux/default": "0.077",
			"ec2/m7g.large/linux/default": "0.082",
		}, "m6g.large", ""},
		"a type with a processor of AMD": {"aws-ec2", "m5.large", "amd_type", linux, map[string]string{
			"ec2/m5.large/linux/default": "0.096", "ec2/m5a.large/linux/default": "0.086",
		}, "m5a.large", ""},
		"of a group, by one of its instances": {"aws-asg", "m5.large", "arm_type", nil, map[string]string{
			"ec2/m5.large/linux/default": "0.096", "ec2/m6g.large/linux/default": "0.077",
		}, "m6g.large", ""},
		"a class of a database": {"aws-rds", "db.m5.large", "arm_class", postgres, map[string]string{
			"rds/db.m5.large/postgres/single": "0.178", "rds/db.m6g.large/postgres/single": "0.159",
			"rds-storage/gp3/single": "0.1",
		}, "db.m6g.large", ""},
		"a class that the engine does not have": {"aws-rds", "db.m5.large", "arm_class", postgres, map[string]string{
			"rds/db.m5.large/postgres/single": "0.178", "rds/db.m6g.large/mysql/single": "0.159",
			"rds-storage/gp3/single": "0.1",
		}, "", ""},
		"of a cache": {
			"aws-elasticache", "cache.m4.large", "newer_type", cloud.Facts{"engine": "redis"}, map[string]string{
				"elasticache/cache.m4.large/redis": "0.17", "elasticache/cache.m5.large/redis": "0.16",
			}, "cache.m5.large", "",
		},
		"of data nodes, with any processor": {
			"aws-opensearch", "m4.large.search", "newer_type", cloud.Facts{"dedicated_masters": 3.0}, map[string]string{
				"opensearch/m4.large.search": "0.15", "opensearch/m6g.large.search": "0.13",
			}, "m6g.large.search", "",
		},
		"of a machine of Azure": {
			"azure-vm", "Standard_DS2_v2", "newer_size",
			cloud.Facts{"os_type": "Linux", "priority": "Regular"},
			map[string]string{
				"vm/Standard_DS2_v2/linux": "0.146", "vm/Standard_D2s_v3/linux": "0.096",
			},
			"Standard_D2s_v3", "",
		},
		"of spare capacity unknown: its price moves": {
			"azure-vm", "Standard_DS2_v2", "newer_size",
			cloud.Facts{"os_type": "Linux", "priority": "Spot"},
			map[string]string{
				"vm/Standard_DS2_v2/linux": "0.146", "vm/Standard_D2s_v3/linux": "0.096",
			},
			nil, unpriced,
		},
		"of a pool of machines": {"azure-aks-nodepool", "Standard_D2s_v5", "arm_size", nil, map[string]string{
			"vm/Standard_D2s_v5/linux": "0.096", "vm/Standard_D2ps_v5/linux": "0.077",
		}, "Standard_D2ps_v5", ""},
		"the cheaper series of Google": {
			"gcp-compute", "n2-standard-4", "e2_type",
			cloud.Facts{"spot": false, "gpu_count": 0.0, "local_ssd_count": 0.0, "os_license": ""},
			map[string]string{
				"compute/n2/core": "0.031", "compute/n2/ram": "0.004", "compute/e2/core": "0.022",
				"compute/e2/ram": "0.003",
			},
			"e2-standard-4", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSubjectOf(t, tt.kind, tt.class, tt.facts)
			s.listPrices(savingsNow, tt.prices)
			for range 2 { // the second answer is kept from the first
				if got, why := s.derived(t, tt.fact); got != tt.want || why != tt.why {
					t.Errorf("%v (%q), want %v (%q)", got, why, tt.want, tt.why)
				}
			}
		})
	}
}

func TestReplacement_IsUnknownWithoutPricesOfToday(t *testing.T) {
	s := newSubjectOf(t, "aws-ec2", "m4.large", cloud.Facts{"platform": "Linux/UNIX", "tenancy": "default"})
	s.listPrices(savingsNow.Add(-pricing.StaleAfter-time.Hour), map[string]string{"ec2/m4.large/linux/default": "0.1"})
	if got, why := s.derived(t, "newer_type"); got != nil || why != condition.Stale {
		t.Errorf("with old prices: %v (%q)", got, why)
	}
	s.listPrices(savingsNow, nil)
	s.tables.kept[pricing.ProviderRegion{Provider: s.Provider, Region: s.Region}] = nil
	if got, why := s.derived(t, "newer_type"); got != nil || why != unpriced {
		t.Errorf("without a list: %v (%q)", got, why)
	}
}

func TestSizeFacts_AreThoseOfTheMachine(t *testing.T) {
	for name, tt := range map[string]struct {
		kind, class, fact string
		facts             cloud.Facts
		want              any
		why               condition.Reason
	}{
		"vCPUs of a database":            {"aws-rds", "db.m5.large", "vcpu", nil, 2.0, ""},
		"memory of a database":           {"aws-rds", "db.r5.large", "memory_gib", nil, 16.0, ""},
		"memory of an unknown class":     {"aws-rds", "db.custom", "memory_gib", nil, nil, unsized},
		"a serverless cluster has none":  {"aws-aurora", "", "vcpu", cloud.Facts{"serverless": true}, 0.0, ""},
		"GPUs of a machine":              {"azure-vm", "Standard_NC6s_v3", "gpu_count", nil, 1.0, ""},
		"no GPUs of a machine":           {"azure-vm", "Standard_D2s_v3", "gpu_count", nil, 0.0, ""},
		"vCPUs of a scale set's machine": {"azure-vmss", "Standard_D4s_v3", "vcpu", nil, 4.0, ""},
		"memory of a machine of Google":  {"gcp-compute", "n1-standard-4", "memory_gib", nil, 15.0, ""},
		"a shared core":                  {"gcp-compute", "e2-small", "shared_core", nil, true, ""},
		"no shared core":                 {"gcp-compute", "e2-standard-2", "shared_core", nil, false, ""},
		"of an unknown series":           {"gcp-compute", "z9-standard-2", "vcpu", nil, nil, unsized},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := newSubjectOf(t, tt.kind, tt.class, tt.facts).derived(t, tt.fact)
			if got != tt.want || why != tt.why {
				t.Errorf("%v (%q), want %v (%q)", got, why, tt.want, tt.why)
			}
		})
	}
}

func TestSizeFacts_OfAClusterAreThoseOfItsInstances(t *testing.T) {
	in := &inputs{parts: map[string]parts{}, machines: map[string]machine{}, classes: map[string]string{}}
	member := func(cluster, class string) inventory.IndexedResource {
		return inventory.IndexedResource{
			Type: "aws-rds", ParentUID: cluster, Class: class, Facts: "engine=aurora-mysql;multi_az=0",
		}
	}
	in.join(member("same", "db.r5.large"))
	in.join(member("same", "db.r5.large"))
	in.join(member("mixed", "db.r5.large"))
	in.join(member("mixed", "db.r5.xlarge"))
	for uid, want := range map[string]any{"same": 16.0, "mixed": nil, "empty": nil} {
		s := newSubjectOf(t, "aws-aurora", "", cloud.Facts{"serverless": false})
		s.UID, s.parts = uid, in.parts
		if got, _ := s.derived(t, "memory_gib"); got != want {
			t.Errorf("memory of the cluster %s: %v, want %v", uid, got, want)
		}
		s.listPrices(savingsNow, map[string]string{
			"rds/db.r5.large/aurora-mysql/single": "0.29", "rds/db.r6g.large/aurora-mysql/single": "0.26",
		})
		if got, _ := s.derived(t, "arm_class"); (got == "db.r6g.large") != (uid == "same") {
			t.Errorf("arm64 class of the cluster %s: %v", uid, got)
		}
	}
}

// pricer is a provider with a few prices.
type pricer struct {
	cloud.Provider
	unit   cloud.PriceUnit
	prices map[string]string
}

func (p pricer) Prices(_ context.Context, _ string, take func(cloud.Price) error) (string, error) {
	for key, usd := range p.prices {
		if err := take(cloud.Price{Key: key, Unit: p.unit, USD: money.MustParse(usd)}); err != nil {
			return "", err
		}
	}
	return "v1", nil
}

func TestEvaluate_AnInstanceOfAnOldGenerationHasARowWithTheDifferenceOfPrices(t *testing.T) {
	f := newFixture(t)
	old, recent := f.instance("i-old"), f.instance("i-new")
	old.InstanceType, recent.InstanceType = "m4.large", "m5.large"
	f.discover("aws-ec2", old, recent)
	f.bill(map[string]string{"i-old": "2", "i-new": "2"})
	amazon := pricer{unit: cloud.PerHour, prices: map[string]string{
		"ec2/m4.large/linux/default": "0.1", "ec2/m5.large/linux/default": "0.09",
	}}
	f.Must(pricing.New(f.Platform, cloud.Providers{"aws": amazon}).RefreshPrices(
		table.Within(f.Context(), pricing.Prefix), pricing.ProviderRegion{Provider: "aws", Region: "eu-west-1"}))
	apitest.Value(Evaluate(f.Context(), f.Platform, nil))(f)
	f.Equal("rows", f.rows(), "aws-ec2-previous-generation i-old open 6.00")
}

func TestSavings_OfAClusterAreClaimedAtItsInstances(t *testing.T) {
	s := newSubjectOf(t, "aws-aurora", "", cloud.Facts{"serverless": false, "newer_class": "db.r5.large"})
	s.UID = "cluster"
	s.parts["cluster"] = parts{
		member:  databaseMember{class: "db.r4.large", facts: "engine=aurora-mysql;multi_az=0"},
		members: []disk{{uid: "db-1", id: "res_1"}, {uid: "db-2", id: "res_2"}},
	}
	s.listPrices(savingsNow, map[string]string{
		"rds/db.r4.large/aurora-mysql/single": "0.4", "rds/db.r5.large/aurora-mysql/single": "0.3",
	})
	r := rule.ByID("aws-aurora-previous-generation")
	s.bill("db-1", cost.OnDemand, "8", 0)
	if _, _, why := s.savingsOf(r); why != unpriced {
		t.Errorf("with an instance that is not billed: %q", why)
	}
	s.bill("db-2", cost.Committed, "4", 0)
	got, _, why := s.savingsOf(r)
	if why != "" || got.Gross != money.FromInt(90) || got.Net != money.FromInt(60) || len(got.Claims) != 2 ||
		got.Claims[0] != (recommendation.Claim{ResourceID: "res_1", USD: money.FromInt(60), Cost: money.FromInt(240)}) {
		t.Errorf("%+v (%q), want a quarter of both, and net that of the instance without a commitment", got, why)
	}
}

func TestSettings_OfATarget(t *testing.T) {
	s := newSubjectOf(t, "aws-ebs", "", cloud.Facts{"iops": 6001.0, "volume_type": "io2"})
	s.end, s.read, s.fine = savingsNow.Truncate(day), true, true
	s.confirmation.Values = map[string]float64{"iops_max_14d": 900.1, "iops_p99_14d": 3}
	for name, tt := range map[string]struct {
		fact  string
		value rule.Value
		want  string
		known bool
	}{
		"the use and a fifth, rounded up": {
			"iops",
			rule.Value{Kind: rule.FromUse, Text: "iops_max_14d", Factor: 1.2},
			"1081", true,
		},
		"at least what the provider takes": {
			"iops",
			rule.Value{Kind: rule.FromUse, Text: "iops_p99_14d", Factor: 1.2},
			"100", true,
		},
		"a use that is not known": {
			"iops",
			rule.Value{Kind: rule.FromUse, Text: "mibps_p99_14d", Factor: 1},
			"100", false,
		},
		"half, rounded up": {
			"iops",
			rule.Value{Kind: rule.Computed, Text: "half", Factor: 1},
			"3001", true,
		},
		"half of a fact that is no number": {
			"volume_type",
			rule.Value{Kind: rule.Computed, Text: "half", Factor: 1},
			"0", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			set := rule.Setting{Name: tt.fact, Op: "=", Value: tt.value}
			if got, known := s.settingValue(&rule.Rule{}, set); got != tt.want || known != tt.known {
				t.Errorf("%q, known: %v; want %q, %v", got, known, tt.want, tt.known)
			}
		})
	}
}

func TestSettings_OfRequestsAreMillicoresAndMebibytes(t *testing.T) {
	s := newSubjectOf(t, cloud.KubernetesDeployment, "", cloud.Facts{})
	s.end, s.read, s.fine = savingsNow.Truncate(day), true, true
	for _, tt := range []struct {
		name, metric string
		use, factor  float64
		want         string
	}{
		{"cpu_request_cores", "cpu_p95_14d", 0.35, 1.15, "0.403"},
		{"cpu_request_cores", "cpu_p95_14d", 0.5, 1.2, "0.6"},
		{"cpu_request_cores", "cpu_p95_14d", 0.0001, 1.15, "0.01"},
		{"cpu_request_cores", "cpu_p95_14d", 3, 1.15, "3.45"},
		{"mem_request_gib", "mem_max_14d", 0.4, 1.15, "0.4609375"}, // 472 MiB
		{"mem_limit_gib", "mem_max_14d", 1, 1.25, "1.25"},
		{"mem_request_gib", "mem_max_14d", 0.001, 1.15, "0.03125"}, // 32 MiB
	} {
		s.confirmation.Values = map[string]float64{tt.metric: tt.use}
		set := rule.Setting{
			Name: tt.name, Op: "=", Value: rule.Value{Kind: rule.FromUse, Text: tt.metric, Factor: tt.factor},
		}
		if got, known := s.settingValue(&rule.Rule{}, set); got != tt.want || !known {
			t.Errorf("%s of %g × %g is %q, known: %v; want %q", tt.name, tt.use, tt.factor, got, known, tt.want)
		}
	}
}
