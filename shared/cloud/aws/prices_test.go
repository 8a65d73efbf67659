package aws_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clocktest"
)

// offers is a server of price lists in AWS's format: some lines with metadata, the columns, and the lines.
type offers struct {
	files    map[string][]string // by service
	refuse   atomic.Int64        // number of requests to refuse with 429 first
	truncate string              // the service with a truncated file
	asked    atomic.Int64
	prefix   string // of the addresses
}

const offerColumns = `"SKU","OfferTermCode","RateCode","TermType","PriceDescription","EffectiveDate","StartingRange",` +
	`"EndingRange","Unit",` +
	`"PricePerUnit","Currency","Product Family","serviceCode","Location","Location Type","Instance Type","Tenancy",` +
	`"Operating System","License Model",` +
	`"CapacityStatus","Pre Installed S/W","usageType","Volume API Name","Database Engine","Database Edition",` +
	`"Deployment Option","Cache Engine","LeaseContractLength","PurchaseOption","OfferingClass"`

// offer returns a line of a file; more has its other columns.
func offer(family, usd string, more map[string]string) string {
	at := map[string]string{
		"SKU": "X", "TermType": "OnDemand", "StartingRange": "0", "EndingRange": "Inf", "PricePerUnit": usd,
		"Currency":       "USD",
		"Product Family": family, "Location Type": "AWS Region", "Unit": "Hrs",
	}
	maps.Copy(at, more)
	var out []string
	for c := range strings.SplitSeq(strings.ReplaceAll(offerColumns, `"`, ""), ",") {
		out = append(out, `"`+at[c]+`"`)
	}
	return strings.Join(out, ",")
}

func instanceOffer(usd string, more map[string]string) string {
	at := map[string]string{
		"Instance Type": "m5.large", "Tenancy": "Shared", "Operating System": "Linux",
		"License Model":  "No License required",
		"CapacityStatus": "Used", "Pre Installed S/W": "NA", "usageType": "EUW1-BoxUsage:m5.large",
	}
	maps.Copy(at, more)
	return offer("Compute Instance", usd, at)
}

func (o *offers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.asked.Add(1)
	if o.refuse.Add(-1) >= 0 {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "slow down", http.StatusTooManyRequests)
		return
	}
	service := strings.Split(strings.TrimPrefix(r.URL.Path, o.prefix), "/")[1]
	lines, ok := o.files[service]
	if !ok || !strings.HasSuffix(r.URL.Path, "/current/eu-west-1/index.csv") {
		http.NotFound(w, r)
		return
	}
	text := "\"FormatVersion\",\"v1.0\"\n\"Disclaimer\",\"This pricing list is for informational purposes only, and " +
		"\"\"as is\"\"\"\n" +
		"\"Publication Date\",\"2026-07-20T18:11:02Z\"\n\"Version\",\"20260720181102\"\n\"OfferCode\",\"" + service +
		"\"\n" +
		offerColumns + "\n" + strings.Join(lines, "\n") + "\n"
	if o.truncate == service {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		text = text[:len(text)*2/3]
	}
	_, _ = w.Write([]byte(text))
}

func euOffers() *offers {
	return &offers{files: map[string][]string{
		"AmazonEC2": {
			instanceOffer("0.1070000000", nil),
			instanceOffer("0.1990000000", map[string]string{"Operating System": "Windows"}),
			instanceOffer("0.5870000000", map[string]string{"Pre Installed S/W": "SQL Std"}),
			instanceOffer("0.1131000000", map[string]string{"Tenancy": "Dedicated"}),
			instanceOffer("0.0000000000", map[string]string{"Tenancy": "Host"}),
			instanceOffer("0.1070000000", map[string]string{"CapacityStatus": "AllocatedCapacityReservation"}),
			instanceOffer("0.0000000000", map[string]string{"CapacityStatus": "UnusedCapacityReservation"}),
			instanceOffer("0.1070000001",
				map[string]string{"Operating System": "Windows", "License Model": "Bring your own license"}),
			instanceOffer("0.1234000000", map[string]string{"Location Type": "AWS Local Zone"}),
			instanceOffer("0.0620000000", map[string]string{"TermType": "Reserved"}),
			offer("Storage", "0.0880000000",
				map[string]string{"Volume API Name": "gp3", "usageType": "EU-EBS:VolumeUsage.gp3"}),
			offer("Provisioned Throughput", "45.0560000000",
				map[string]string{"usageType": "EU-EBS:VolumeP-Throughput.gp3", "Unit": "GiBps-mo"}),
			offer("System Operation", "0.0055000000", map[string]string{"usageType": "EU-EBS:VolumeP-IOPS.gp3"}),
			offer("Storage Snapshot", "0.0530000000", map[string]string{"usageType": "EU-EBS:SnapshotUsage"}),
			offer("Storage Snapshot", "0.0132500000", map[string]string{"usageType": "EU-EBS:SnapshotArchiveStorage"}),
			offer("Compute", "0.0404800000", map[string]string{"usageType": "EU-Fargate-vCPU-Hours:perCPU"}),
			offer("Compute", "0.0323800000", map[string]string{"usageType": "EU-Fargate-ARM-vCPU-Hours:perCPU"}),
			offer("Compute", "0.0035600000", map[string]string{"usageType": "EU-Fargate-ARM-GB-Hours"}),
			offer("Compute", "0.0001110000", map[string]string{"usageType": "EU-Fargate-EphemeralStorage-GB-Hours"}),
			offer("Compute", "0.0914800000", map[string]string{"usageType": "EU-Fargate-Windows-vCPU-Hours:perCPU"}),
			offer("Compute", "0.0121440000", map[string]string{"usageType": "EU-SpotUsage-Fargate-vCPU-Hours:perCPU"}),
			offer("NAT Gateway", "0.0480000000", map[string]string{"usageType": "EU-NatGateway-Hours"}),
			offer("NAT Gateway", "0.0480000000", map[string]string{"usageType": "EU-NatGateway-Bytes"}),
		},
		"AmazonRDS": {
			offer("Database Instance", "0.0790000000", map[string]string{
				"Instance Type": "db.t3.medium", "Database Engine": "PostgreSQL",
				"License Model": "No license required", "Deployment Option": "Single-AZ",
				"usageType": "EU-InstanceUsage:db.t3.medium",
			}),
			offer("Database Instance", "0.1580000000", map[string]string{
				"Instance Type": "db.t3.medium", "Database Engine": "PostgreSQL",
				"License Model": "No license required", "Deployment Option": "Multi-AZ",
				"usageType": "EU-Multi-AZUsage:db.t3.medium",
			}),
			offer("Database Instance", "0.5450000000", map[string]string{
				"Instance Type": "db.m5.large", "Database Engine": "SQL Server", "Database Edition": "Standard",
				"License Model": "License included", "Deployment Option": "Single-AZ",
				"usageType": "EU-InstanceUsage:db.m5.large",
			}),
			offer("Database Storage", "0.1270000000",
				map[string]string{"usageType": "EU-RDS:GP2-Storage", "Database Engine": "Any"}),
		},
		"AWSELB": {
			offer("Load Balancer-Application", "0.0252000000",
				map[string]string{"usageType": "EU-LoadBalancerUsage"}),
			offer("Load Balancer-Application", "0.0080000000", map[string]string{"usageType": "EU-LCUUsage"}),
		},
		"AmazonCloudWatch": {offer("Metric", "0.3000000000",
			map[string]string{"usageType": "EU-CW:MetricMonitorUsage"})},
		"AmazonEKS": {offer("Compute", "0.1000000000",
			map[string]string{"usageType": "EUW1-AmazonEKS-Hours:perCluster"})},
		"AmazonElastiCache": {offer("Cache Instance", "0.1730000000",
			map[string]string{
				"Instance Type": "cache.m4.large", "Cache Engine": "Redis",
				"usageType": "EU-NodeUsage:cache.m4.large",
			})},
	}}
}

// fetch asks for the prices of eu-west-1.
func (o *offers) fetch(t *testing.T) (prices map[string]string, version string, err error) {
	t.Helper()
	s := httptest.NewServer(o)
	t.Cleanup(s.Close)
	p := aws.New(aws.Options{
		Clock:      clocktest.Instant{Manual: clock.NewManual(time.Date(2026, 7, 21, 1, 0, 0, 0, time.UTC))},
		PriceLists: s.URL, Transport: http.DefaultTransport,
	})
	prices = map[string]string{}
	version, err = p.Prices(t.Context(), "eu-west-1", func(p cloud.Price) error {
		prices[p.Key] = p.USD.String() + " " + string(p.Unit)
		return nil
	})
	return prices, version, err
}

func TestPrices_AreThoseOnDemandWithoutSoftware(t *testing.T) {
	got, version, err := euOffers().fetch(t)
	if err != nil || version != "2026-07-20T18:11:02Z" {
		t.Fatalf("version %q, %v", version, err)
	}
	want := map[string]string{
		"ec2/m5.large/linux/default": "0.107 hour", "ec2/m5.large/windows/default": "0.199 hour",
		"ec2/m5.large/linux/dedicated": "0.1131 hour",
		"ebs/gp3/storage":              "0.088 month", "ebs/gp3/throughput": "0.044 month",
		"ebs/gp3/iops":                     "0.0055 month",
		"ebs/snapshot":                     "0.053 month",
		"nat/hours":                        "0.048 hour",
		"fargate/vcpu":                     "0.04048 hour",
		"fargate/arm/vcpu":                 "0.03238 hour",
		"fargate/arm/gib":                  "0.00356 hour",
		"fargate/storage":                  "0.000111 hour",
		"rds/db.t3.medium/postgres/single": "0.079 hour", "rds/db.t3.medium/postgres/multi": "0.158 hour",
		"rds/db.m5.large/sqlserver-se/license-included/single": "0.545 hour", "rds-storage/gp2/single": "0.127 month",
		"elb/application/hours": "0.0252 hour", "eks/cluster": "0.1 hour",
		"elasticache/cache.m4.large/redis": "0.173 hour",
		"cloudwatch/metric":                "0.3 month",
	}
	for key, usd := range want {
		if got[key] != usd {
			t.Errorf("%s: %q; want %s", key, got[key], usd)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d prices; want %d: %v", len(got), len(want), got)
	}
}

func TestPrices_AreAskedForAgainAfter429(t *testing.T) {
	o := euOffers()
	o.refuse.Store(3)
	if got, _, err := o.fetch(t); err != nil || got["ec2/m5.large/linux/default"] == "" {
		t.Errorf("after three refusals: %v, %v", got, err)
	}
	o.refuse.Store(1000)
	if _, _, err := o.fetch(t); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("refused for good: %v; want an error that says 429", err)
	}
}

func TestPrices_OfAFileThatBreaksOffAreNone(t *testing.T) {
	for _, service := range []string{"AmazonEC2", "AmazonRDS"} {
		o := euOffers()
		o.truncate = service
		if _, _, err := o.fetch(t); err == nil || !strings.Contains(err.Error(), service) {
			t.Errorf("%s breaks off: %v; want an error that names it", service, err)
		}
	}
}

func TestPrices_OfWhichTwoAreToldAreNone(t *testing.T) {
	o := euOffers()
	o.files["AmazonEC2"] = append(o.files["AmazonEC2"], instanceOffer("0.2", nil))
	got, _, err := o.fetch(t)
	if err != nil || got["ec2/m5.large/linux/default"] != "" || got["ec2/m5.large/windows/default"] == "" {
		t.Errorf("%v, %v; want no price of m5.large with Linux, and that with Windows",
			got["ec2/m5.large/linux/default"], err)
	}
}

// reservedOffer returns a line of a reservation of a database.
func reservedOffer(usd, unit, term, payment string, more map[string]string) string {
	at := map[string]string{
		"TermType": "Reserved", "StartingRange": "", "Unit": unit, "LeaseContractLength": term,
		"PurchaseOption": payment, "OfferingClass": "standard",
		"Instance Type": "db.t3.medium", "Database Engine": "PostgreSQL", "License Model": "No license required",
		"Deployment Option": "Single-AZ", "usageType": "EU-InstanceUsage:db.t3.medium",
	}
	maps.Copy(at, more)
	return offer("Database Instance", usd, at)
}

func TestPrices_HaveTheRatesOfReservations(t *testing.T) {
	o := euOffers()
	o.files["AmazonRDS"] = append(o.files["AmazonRDS"],
		reservedOffer("0.0553", "Hrs", "1yr", "No Upfront", nil),
		reservedOffer("0.0250", "Hrs", "1yr", "Partial Upfront", nil),
		reservedOffer("219", "Quantity", "1yr", "Partial Upfront", nil),
		reservedOffer("0", "Hrs", "3yr", "All Upfront", nil),
		reservedOffer("1038.06", "Quantity", "3yr", "All Upfront", nil),
		reservedOffer("0.0100", "Hrs", "3yr", "Partial Upfront", nil), // without its price at once
		reservedOffer("0.0010", "Hrs", "1yr", "No Upfront", map[string]string{"OfferingClass": "convertible"}),
		reservedOffer("0.0010", "Hrs", "1yr", "Heavy Utilization", nil),
		reservedOffer("0.0010", "Hrs", "1yr", "No Upfront", map[string]string{"Location Type": "AWS Local Zone"}),
		reservedOffer("0.4000", "Hrs", "1yr", "No Upfront", map[string]string{"Instance Type": "db.x9.large"}),
	)
	o.files["AmazonEC2"] = append(o.files["AmazonEC2"], instanceOffer("0.05", map[string]string{
		"TermType": "Reserved", "LeaseContractLength": "1yr", "PurchaseOption": "No Upfront",
		"OfferingClass": "standard",
	}))
	got, _, err := o.fetch(t)
	rates := map[string]string{}
	for key, usd := range got {
		if strings.HasPrefix(key, "commitment/") {
			rates[key] = usd
		}
	}
	want := map[string]string{
		"commitment/reservation/rds/db.t3/1y/none":    "0.7 USD",
		"commitment/reservation/rds/db.t3/1y/partial": "0.632911 USD",
		"commitment/reservation/rds/db.t3/3y/all":     "0.5 USD",
	}
	if err != nil || !maps.Equal(rates, want) {
		t.Errorf("got %v (%v), want %v", rates, err, want)
	}
	o.files["AmazonRDS"] = append(o.files["AmazonRDS"], reservedOffer("0.06", "Hrs", "1yr", "No Upfront", nil))
	if got, _, _ = o.fetch(t); got["commitment/reservation/rds/db.t3/1y/none"] != "" {
		t.Errorf("two prices for one reservation: %v", got["commitment/reservation/rds/db.t3/1y/none"])
	}
}
