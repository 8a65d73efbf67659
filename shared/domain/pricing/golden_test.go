package pricing_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/money"
)

// goldenLine is a line of a golden estimate: the monthly cost of a quantity.
type goldenLine struct {
	file, resource, label, unit string
	quantity, cost              money.Amount
	usage                       bool // its quantity is an assumption of use
}

var (
	goldenName = regexp.MustCompile(`^ ([a-z]\S*)\s*$`)
	goldenCost = regexp.MustCompile(`^[ │]+[├└]─ (.*?)\s{2,}([\d,.]+)\s{2}(.*?)\s{2,}\$([\d,.]+)(\s+\*)?\s*$`)
)

func goldenLines(tb testing.TB) []goldenLine {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(dataFolder(tb), "prices", "infracost-golden", "*", "*.golden.txt"))
	if err != nil || len(files) != 21 {
		tb.Fatalf("%d golden files, %v; want 21", len(files), err)
	}
	var out []goldenLine
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		resource := ""
		for line := range bytes.Lines(text) {
			s := strings.TrimRight(string(line), "\n ")
			if m := goldenName.FindStringSubmatch(s); m != nil {
				resource = m[1]
			}
			if m := goldenCost.FindStringSubmatch(s); m != nil {
				plain := func(s string) money.Amount { return amount(tb, strings.ReplaceAll(s, ",", "")) }
				file := filepath.Base(filepath.Dir(name)) + "/" + strings.TrimSuffix(filepath.Base(name), ".golden.txt")
				out = append(out,
					goldenLine{
						file, resource, strings.TrimSpace(m[1]), strings.TrimSpace(m[3]), plain(m[2]),
						plain(m[4]), m[5] != "",
					})
			}
		}
	}
	return out
}

// goldenTable is the prices of testdata/golden_prices.csv: public ones of us-east-1, eastus and us-central1 when the
// estimates were made.
func goldenTable(tb testing.TB) *pricing.Table {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "golden_prices.csv"))
	if err != nil {
		tb.Fatal(err)
	}
	t := &pricing.Table{}
	for line := range bytes.Lines(text) {
		f := strings.Split(strings.TrimSpace(string(line)), ",")
		t.Add(cloud.Price{Key: f[0], Unit: cloud.PriceUnit(f[1]), USD: amount(tb, f[2])})
	}
	return t
}

// goldenRule makes the resource of lines whose file, resource and label match the patterns, as a discovery would find
// it, and names the component of the line. In its texts, $1 … are the groups of the label's pattern, and $q is the
// line's quantity.
type goldenRule struct {
	file, resource, label string
	kind, class           string
	facts                 string // name=value;… with numbers as they are
	capacity              string
	key                   string
	sustained             string // Google's discount for machines that run all month; not part of the rate
}

var goldenRules = []goldenRule{
	{
		"aws/instance", "LaunchTemplate", `^Instance usage \(Linux/UNIX, on-demand, (t3.medium)\)`, "aws-ec2", "$1",
		"platform=Linux/UNIX;tenancy=dedicated", "", "ec2/$1/linux/dedicated", "",
	},
	{
		"aws/", "", `^Instance usage \(Linux/UNIX, on-demand, (.+)\)`, "aws-ec2", "$1",
		"platform=Linux/UNIX;tenancy=default", "", "ec2/$1/linux/default", "",
	},
	{
		"aws/", "", `^Instance usage \(Windows, on-demand, (.+)\)`, "aws-ec2", "$1", "platform=Windows;tenancy=default",
		"", "ec2/$1/windows/default", "",
	},
	{
		"aws/db_instance", "multi|gp3\\[\"multi", `^Storage \(.*(gp2|gp3)\)`, "aws-rds", "db.t3.large",
		"engine=mysql;multi_az=1;storage_type=$1", "storageGiB=$q", "rds-storage/$1/multi", "",
	},
	{
		"aws/db_instance", "", `^Storage \(.*(gp2|gp3)\)`, "aws-rds", "db.t3.large",
		"engine=mysql;multi_az=0;storage_type=$1", "storageGiB=$q", "rds-storage/$1/single", "",
	},
	{
		"aws/db_instance", "", `^Storage \(.*(io1)\)`, "aws-rds", "db.t3.large",
		"engine=mysql;multi_az=0;storage_type=io1;iops=0", "storageGiB=$q", "rds-storage/io1/single", "",
	},
	{
		"aws/db_instance", "", `^Storage \(magnetic\)`, "aws-rds", "db.t3.large",
		"engine=mysql;multi_az=0;storage_type=standard", "storageGiB=$q", "rds-storage/standard/single", "",
	},
	{
		"aws/db_instance", "", `^Provisioned IOPS$`, "aws-rds", "db.t3.large",
		"engine=mysql;multi_az=0;storage_type=io1;iops=$q", "storageGiB=100", "rds-iops/io1/single", "",
	},
	{
		"aws/db_instance", "multi", `^Provisioned GP3 IOPS \(above 12,000\)`, "aws-rds", "db.t4g.small",
		"engine=mysql;multi_az=1;storage_type=gp3;iops=12000+$q", "storageGiB=400", "rds-iops/gp3/multi", "",
	},
	{
		"aws/db_instance", "", `^Provisioned GP3 IOPS \(above 12,000\)`, "aws-rds", "db.t4g.small",
		"engine=mysql;multi_az=0;storage_type=gp3;iops=12000+$q", "storageGiB=400", "rds-iops/gp3/single", "",
	},
	{
		"aws/db_instance", "", `^Provisioned GP3 IOPS \(above 3,000\)`, "aws-rds", "db.t4g.small",
		"engine=mysql;multi_az=0;storage_type=gp3;iops=3000+$q", "storageGiB=20", "rds-iops/gp3/single", "",
	},
	{"aws/", "", `^Storage \(.*(gp2|st1|sc1)\)`, "aws-ebs", "$1", "", "sizeGiB=$q", "ebs/$1/storage", ""},
	{
		"aws/", "", `^Storage \(.*(gp3)\)`, "aws-ebs", "gp3", "iops=3000;throughput_mibps=125", "sizeGiB=$q",
		"ebs/gp3/storage", "",
	},
	{"aws/", "", `^Storage \(.*(io1|io2)\)`, "aws-ebs", "$1", "iops=100", "sizeGiB=$q", "ebs/$1/storage", ""},
	{"aws/", "", `^Storage \(magnetic\)`, "aws-ebs", "standard", "", "sizeGiB=$q", "ebs/standard/storage", ""},
	{
		"aws/ebs_volume", "gp3", `^Provisioned IOPS`, "aws-ebs", "gp3", "iops=3000+$q;throughput_mibps=125",
		"sizeGiB=1",
		"ebs/gp3/iops", "",
	},
	{
		"aws/ebs_volume", "gp3", `^Provisioned throughput`, "aws-ebs", "gp3", "iops=3000;throughput_mibps=125+$q",
		"sizeGiB=1", "ebs/gp3/throughput", "",
	},
	{"aws/ebs_volume", "io2", `^Provisioned IOPS`, "aws-ebs", "io2", "iops=$q", "sizeGiB=1", "ebs/io2/iops", ""},
	{"aws/", "", `^Provisioned IOPS`, "aws-ebs", "io1", "iops=$q", "sizeGiB=1", "ebs/io1/iops", ""},
	{"aws/lb", "", `^Application load balancer`, "aws-elb", "", "lb_type=application", "", "elb/application/hours", ""},
	{"aws/lb", "", `^Network load balancer`, "aws-elb", "", "lb_type=network", "", "elb/network/hours", ""},
	{"aws/", "", `^NAT gateway`, "aws-nat", "", "", "", "nat/hours", ""},
	{"aws/", "", `^EKS cluster$`, "aws-eks", "", "", "", "eks/cluster", ""},
	{
		"aws/", "", `^ElastiCache \(on-demand, (.+)\)`, "aws-elasticache", "$1", "engine=redis", "nodes=1",
		"elasticache/$1/redis", "",
	},
	{
		"azure/", "", `^Instance usage \(Linux, pay as you go, (.+)\)`, "azure-vm", "$1",
		"os_type=Linux;priority=Regular",
		"", "vm/$1/linux", "",
	},
	{
		"azure/", "", `^Instance usage \(Windows, pay as you go, (.+)\)`, "azure-vm", "$1",
		"os_type=Windows;priority=Regular", "", "vm/$1/windows", "",
	},
	{"azure/", "", `^Uptime SLA`, "azure-aks", "", "tier=Standard", "", "aks/standard", ""},
	{
		"azure/managed_disk", "", `^Storage \(ultra`, "azure-disk", "", "sku=UltraSSD_LRS;tier_iops=1;tier_mbps=1",
		"sizeGiB=$q", "disk/ultra/gib", "",
	},
	{
		"azure/managed_disk", "", `^Provisioned IOPS`, "azure-disk", "", "sku=UltraSSD_LRS;tier_iops=$q;tier_mbps=1",
		"sizeGiB=1", "disk/ultra/iops", "",
	},
	{
		"azure/managed_disk", "", `^Throughput`, "azure-disk", "", "sku=UltraSSD_LRS;tier_iops=1;tier_mbps=$q",
		"sizeGiB=1", "disk/ultra/mbps", "",
	},
	{"azure/", "", `^Storage \(P4, LRS\)`, "azure-disk", "", "sku=Premium_LRS", "sizeGiB=30", "disk/P4/LRS", ""},
	{"azure/", "", `^Storage \(P10, LRS\)`, "azure-disk", "", "sku=Premium_LRS", "sizeGiB=128", "disk/P10/LRS", ""},
	{"azure/", "", `^Storage \(E4, LRS\)`, "azure-disk", "", "sku=StandardSSD_LRS", "sizeGiB=32", "disk/E4/LRS", ""},
	{
		"azure/", "", `^Storage \(E30, LRS\)`, "azure-disk", "", "sku=StandardSSD_LRS", "sizeGiB=1000", "disk/E30/LRS",
		"",
	},
	{"azure/", "", `^Storage \(S4, LRS\)`, "azure-disk", "", "sku=Standard_LRS", "sizeGiB=30", "disk/S4/LRS", ""},
	{"azure/", "", `^Storage \(S10, LRS\)`, "azure-disk", "", "sku=Standard_LRS", "sizeGiB=128", "disk/S10/LRS", ""},
	{
		"azure/mssql_database", "", `^Compute \(provisioned, (\w+_\w+)_(\d+)\)`, "azure-sql-database", "$1",
		"serverless=0;zone_redundant=0;max_gb=1", "desired=$2", "sqldb/$1/vcore", "",
	},
	{
		"azure/mssql_database", "", `^Compute \(([SP]\d+)\)`, "azure-sql-database", "$1", "serverless=0", "",
		"sqldb/$1",
		"",
	},
	{
		"azure/mssql_database", "business_critical", `^SQL license`, "azure-sql-database", "BC_Gen5", "max_gb=1",
		"desired=1", "sqldb/BC/license", "",
	},
	{
		"azure/mssql_database", "", `^SQL license`, "azure-sql-database", "GP_Gen5", "max_gb=1", "desired=1",
		"sqldb/GP/license", "",
	},
	{
		"azure/mssql_database", "business_critical", `^Storage`, "azure-sql-database", "BC_Gen5", "max_gb=$q",
		"desired=2",
		"sqldb/BC/storage", "",
	},
	{
		"azure/mssql_database", "hyperscale", `^Storage`, "azure-sql-database", "HS_Gen5", "max_gb=$q", "desired=2",
		"sqldb/HS/storage", "",
	},
	{
		"azure/mssql_database", "backup|gen$|gen_without|serverless$|blank", `^Storage`, "azure-sql-database",
		"GP_Gen5",
		"max_gb=$q", "desired=2", "sqldb/GP/storage", "",
	},
	{"azure/", "", `^NAT gateway`, "azure-natgateway", "", "", "", "nat/hours", ""},
	{
		"azure/", "", `^IP address \(static, regional\)`, "azure-publicip", "", "sku=Standard;allocation=Static", "",
		"publicip/standard/static", "",
	},
	{"azure/postgresql", "readable_location", `^Compute`, "", "", "", "", "", ""}, // of another region
	{
		"azure/postgresql", "", `^Compute \((?:GP|MO|B)_(.+)\)`, "azure-postgresql-flexible", "$1",
		"ha_mode=Disabled;storage_gb=32", "", "postgresql/$1", "",
	},
	{
		"azure/postgresql", "", `^Storage$`, "azure-postgresql-flexible", "Standard_D4s_v3",
		"ha_mode=Disabled;storage_gb=$q", "", "postgresql-storage", "",
	},
	{
		"google/", "", `^(Standard|SSD) provisioned storage \((.+)\)`, "gcp-disk", "", "disk_type=$2;regional=0",
		"sizeGiB=$q", "disk/$2/zonal", "",
	},
	{
		"google/compute_disk", "", `^(?:Hyperdisk|Extreme) provisioned storage \((.+)\)`, "gcp-disk", "",
		"disk_type=$1;regional=0;provisioned_iops=0", "sizeGiB=$q", "disk/$1/zonal", "",
	},
	{
		"google/compute_disk", "hyperdisk", `^Provisioned IOPS`, "gcp-disk", "",
		"disk_type=hyperdisk-extreme;provisioned_iops=$q", "sizeGiB=1", "disk/hyperdisk-extreme/iops", "",
	},
	{
		"google/compute_disk", "extreme", `^Provisioned IOPS`, "gcp-disk", "",
		"disk_type=pd-extreme;provisioned_iops=$q",
		"sizeGiB=1", "disk/pd-extreme/iops", "",
	},
	{"google/", "", `^Cluster management fee`, "gcp-gke", "", "", "", "gke/cluster", ""},
	{"google/", "", `^Forwarding rules`, "gcp-forwarding-rule", "", "", "", "forwarding/rule", ""},
	{
		"google/container_cluster", "", `^Instance usage \(Linux/UNIX, on-demand, (e2-.+)\)`, "gcp-compute", "$1",
		"spot=0;gpu_count=0;local_ssd_count=0;os_license=", "", "compute/", "",
	},
	{
		"google/container_cluster", "", `^Instance usage \(Linux/UNIX, on-demand, (n1-.+)\)`, "gcp-compute", "$1",
		"spot=0;gpu_count=0;local_ssd_count=0;os_license=", "", "compute/", "0.7",
	},
	{
		"google/compute_instance", "with_hours$", `^Instance usage \(Linux/UNIX, on-demand, (n1-.+|f1-.+)\)`,
		"gcp-compute", "$1", "spot=0;gpu_count=0;local_ssd_count=0;os_license=", "", "compute/", "",
	},
	{
		"google/compute_instance", "", `^Instance usage \(Linux/UNIX, on-demand, (n1-.+|f1-.+)\)`, "gcp-compute", "$1",
		"spot=0;gpu_count=0;local_ssd_count=0;os_license=", "", "compute/", "0.7",
	},
	{
		"google/compute_instance", "", `^Instance usage \(Linux/UNIX, on-demand, (n2-.+)\)`, "gcp-compute", "$1",
		"spot=0;gpu_count=0;local_ssd_count=0;os_license=", "", "compute/", "0.8",
	},
	{
		"google/compute_instance", "", `^Custom instance CPU \(Linux/UNIX, on-demand, N1 (\d+) vCPUs\)`, "gcp-compute",
		"n1-custom-$1-4096", "spot=0;gpu_count=0;local_ssd_count=0;os_license=", "", "compute/n1/custom-core", "0.7",
	},
	{
		"google/compute_instance", "", `^Custom Instance RAM \(Linux/UNIX, on-demand, N1 (\d+) GB\)`, "gcp-compute",
		"n1-custom-6-$1*1024", "spot=0;gpu_count=0;local_ssd_count=0;os_license=", "", "compute/n1/custom-ram", "0.7",
	},
	{
		"google/compute_instance", "", `^Custom Instance Extended RAM \(Linux/UNIX, on-demand, N1 2 GB\)`,
		"gcp-compute",
		"n1-custom-2-15360-ext", "spot=0;gpu_count=0;local_ssd_count=0;os_license=", "", "compute/n1/extended-ram",
		"0.7",
	},
	{
		"google/compute_instance", "", `^Custom instance CPU \(Linux/UNIX, on-demand, N2 (\d+) vCPUs\)`, "gcp-compute",
		"n2-custom-$1-8192", "spot=0;gpu_count=0;local_ssd_count=0;os_license=", "", "compute/n2/custom-core", "0.8",
	},
	{
		"google/compute_instance", "", `^Custom Instance RAM \(Linux/UNIX, on-demand, N2 (\d+) GB\)`, "gcp-compute",
		"n2-custom-6-$1*1024", "spot=0;gpu_count=0;local_ssd_count=0;os_license=", "", "compute/n2/custom-ram", "0.8",
	},
}

// engines are the engines and licences of the golden databases, by parts of their names.
var engines = []struct{ part, engine, license string }{
	{"sqlserver-ee", "sqlserver-ee", "license-included"},
	{"sqlserver-se", "sqlserver-se", "license-included"},
	{"sqlserver-web", "sqlserver-web", "license-included"},
	{"sqlserver-ex", "sqlserver-ex", "license-included"},
	{"oracle-se2", "oracle-se2", "license-included"},
	{"oracle-se1-byol", "oracle-se1", "bring-your-own-license"},
	{"oracle-se1", "oracle-se1", "license-included"},
	{"oracle-se", "oracle-se", "bring-your-own-license"},
	{"oracle-ee", "oracle-ee", "bring-your-own-license"},
	{"aurora-postgresql", "aurora-postgresql", ""},
	{"aurora", "aurora-mysql", ""},
	{"postgres", "postgres", ""},
	{"mariadb", "mariadb", ""},
	{"", "mysql", ""},
}

// TestRate_ReproducesTheGoldenEstimates makes a resource of each golden line that prices the resource itself, not its
// usage, and wants the same price to the cent.
func TestRate_ReproducesTheGoldenEstimates(t *testing.T) {
	table, left, files := goldenTable(t), map[string]int{}, map[string]int{}
	reproduced := 0
	for _, l := range goldenLines(t) {
		r, rule, ok := resourceOf(t, l)
		if !ok {
			left[l.file+": "+l.label]++
			continue
		}
		reproduced++
		files[l.file]++
		got, why := monthlyOf(t, table, r, rule, l)
		if off := got.Sub(l.cost).Abs(); why != "" || off.Cmp(amount(t, "0.005")) > 0 { // the estimates round half up
			t.Errorf("%s %s: %s of %s %s: %s a month (%s); want %s", l.file, l.resource, l.label, l.quantity, l.unit,
				got.Fixed(4), why, l.cost)
		}
	}
	t.Logf("%d lines of %d files are reproduced; %d kinds of lines are about use, reservations or what has no "+
		"kind here:", reproduced, len(files), len(left))
	for what, n := range left {
		t.Logf("  %d × %s", n, what)
	}
	if reproduced < 440 || len(files) < 18 {
		t.Errorf("only %d lines of %d files were looked at", reproduced, len(files))
	}
}

// resourceOf returns the resource of a line, or false if no rule matches the line.
func resourceOf(t *testing.T, l goldenLine) (pricing.Resource, goldenRule, bool) {
	t.Helper()
	if l.file == "aws/db_instance" && strings.HasPrefix(l.label, "Database instance (on-demand") {
		return databaseOf(l)
	}
	for _, rule := range goldenRules {
		m := regexp.MustCompile(rule.label).FindStringSubmatch(l.label)
		if m == nil || !strings.HasPrefix(l.file, rule.file) ||
			!regexp.MustCompile(rule.resource).MatchString(l.resource) {
			continue
		}
		fill := func(s string) string {
			for i, found := range m {
				s = strings.ReplaceAll(s, fmt.Sprint("$", i), found)
			}
			return evaluate(t, strings.ReplaceAll(s, "$q", l.quantity.String()))
		}
		rule.key = fill(rule.key)
		if name, size, ok := strings.Cut(rule.key, "vm/s"); ok && name == "" { // Azure takes sizes in any case
			rule.key = "vm/S" + size
		}
		r := pricing.Resource{
			Type: rule.kind, Class: fill(rule.class), Status: cloud.Running, Inputs: fill(rule.facts),
			Capacity: map[string]int64{},
		}
		if rest, ok := strings.CutPrefix(r.Class, "standard_"); ok {
			r.Class = "Standard_" + strings.ToUpper(rest[:1]) + rest[1:]
			rule.key = "vm/" + r.Class + "/linux"
		}
		if name, n, ok := strings.Cut(fill(rule.capacity), "="); ok {
			var v int64
			_, _ = fmt.Sscan(n, &v)
			r.Capacity[name] = v
		}
		return r, rule, rule.kind != ""
	}
	return pricing.Resource{}, goldenRule{}, false
}

func databaseOf(l goldenLine) (pricing.Resource, goldenRule, bool) {
	m := regexp.MustCompile(`on-demand, (Single|Multi)-AZ, (.+)\)`).FindStringSubmatch(l.label)
	multi := map[string]string{"Single": "0", "Multi": "1"}[m[1]]
	for _, e := range engines {
		if !strings.Contains(l.resource, e.part) {
			continue
		}
		key := "rds/" + m[2] + "/" + e.engine + strings.NewReplacer("license-included", "/license-included",
			"bring-your-own-license", "/byol").Replace(e.license) + "/" + strings.ToLower(m[1])
		return pricing.Resource{
			Type: "aws-rds", Class: m[2], Status: cloud.Running, Capacity: map[string]int64{"storageGiB": 20},
			Inputs: "engine=" + e.engine + ";multi_az=" + multi + ";storage_type=gp2;license_model=" + e.license,
		}, goldenRule{key: key}, true
	}
	return pricing.Resource{}, goldenRule{}, false
}

var arithmetic = regexp.MustCompile(`(\d+)([+*])(\d+)`)

// evaluate replaces sums and products of whole numbers.
func evaluate(t *testing.T, s string) string {
	t.Helper()
	return arithmetic.ReplaceAllStringFunc(s, func(found string) string {
		m := arithmetic.FindStringSubmatch(found)
		a, b := amount(t, m[1]), amount(t, m[3])
		if m[2] == "*" {
			return a.Mul(b).String()
		}
		return a.Add(b).String()
	})
}

// monthlyOf estimates the resource and returns the cost of its components of the key in the line's number of hours.
func monthlyOf(t *testing.T, table *pricing.Table, r pricing.Resource, rule goldenRule, l goldenLine) (sum money.Amount,
	why string,
) {
	t.Helper()
	e := pricing.Rate(table, r)
	if !e.OK() {
		return sum, e.Reason
	}
	for i := range e.Components {
		if c := &e.Components[i]; strings.HasPrefix(c.Key, rule.key) {
			sum = sum.Add(c.Monthly())
		}
	}
	switch l.unit {
	case "hours", "vCore-hours":
		sum = sum.Mul(l.quantity).DivInt(pricing.HoursPerMonth)
	case "months":
		sum = sum.Mul(l.quantity)
	}
	if rule.sustained != "" {
		sum = sum.Mul(amount(t, rule.sustained))
	}
	return sum, ""
}
