package aws

import (
	"regexp"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// throughputKey is the key of the price of gp3 throughput per MiB/s.
const throughputKey = "ebs/gp3/throughput"

// usagePrefix matches the start of usage types outside of us-east-1: "EUW1-NatGateway-Hours".
var usagePrefix = regexp.MustCompile(`^[A-Z]{2,4}[0-9]?-`)

// usages are prices that the usage type alone identifies.
var usages = map[string]cloud.Price{
	"NatGateway-Hours":                   {Key: "nat/hours", Unit: cloud.PerHour},
	"PublicIPv4:InUseAddress":            {Key: "eip/hours", Unit: cloud.PerHour},
	"AmazonEKS-Hours:perCluster":         {Key: "eks/cluster", Unit: cloud.PerHour},
	"Fargate-vCPU-Hours:perCPU":          {Key: "fargate/vcpu", Unit: cloud.PerHour},
	"Fargate-GB-Hours":                   {Key: "fargate/gib", Unit: cloud.PerHour},
	"Fargate-ARM-vCPU-Hours:perCPU":      {Key: "fargate/arm/vcpu", Unit: cloud.PerHour},
	"Fargate-ARM-GB-Hours":               {Key: "fargate/arm/gib", Unit: cloud.PerHour},
	"Fargate-EphemeralStorage-GB-Hours":  {Key: "fargate/storage", Unit: cloud.PerHour},
	"EBS:VolumeP-IOPS.gp3":               {Key: "ebs/gp3/iops", Unit: cloud.PerMonth},
	"EBS:VolumeP-Throughput.gp3":         {Key: throughputKey, Unit: cloud.PerMonth},
	"EBS:VolumeP-IOPS.piops":             {Key: "ebs/io1/iops", Unit: cloud.PerMonth},
	"EBS:VolumeP-IOPS.io2":               {Key: "ebs/io2/iops", Unit: cloud.PerMonth},
	"EBS:VolumeP-IOPS.io2.tier2":         {Key: "ebs/io2/iops2", Unit: cloud.PerMonth},
	"EBS:VolumeP-IOPS.io2.tier3":         {Key: "ebs/io2/iops3", Unit: cloud.PerMonth},
	"EBS:SnapshotUsage":                  {Key: "ebs/snapshot", Unit: cloud.PerMonth},
	"RDS:GP2-Storage":                    {Key: "rds-storage/gp2/single", Unit: cloud.PerMonth},
	"RDS:Multi-AZ-GP2-Storage":           {Key: "rds-storage/gp2/multi", Unit: cloud.PerMonth},
	"RDS:GP3-Storage":                    {Key: "rds-storage/gp3/single", Unit: cloud.PerMonth},
	"RDS:Multi-AZ-GP3-Storage":           {Key: "rds-storage/gp3/multi", Unit: cloud.PerMonth},
	"RDS:PIOPS-Storage":                  {Key: "rds-storage/io1/single", Unit: cloud.PerMonth},
	"RDS:Multi-AZ-PIOPS-Storage":         {Key: "rds-storage/io1/multi", Unit: cloud.PerMonth},
	"RDS:PIOPS":                          {Key: "rds-iops/io1/single", Unit: cloud.PerMonth},
	"RDS:Multi-AZ-PIOPS":                 {Key: "rds-iops/io1/multi", Unit: cloud.PerMonth},
	"RDS:GP3-PIOPS":                      {Key: "rds-iops/gp3/single", Unit: cloud.PerMonth},
	"RDS:Multi-AZ-GP3-PIOPS":             {Key: "rds-iops/gp3/multi", Unit: cloud.PerMonth},
	"RDS:StorageUsage":                   {Key: "rds-storage/standard/single", Unit: cloud.PerMonth},
	"RDS:Multi-AZ-StorageUsage":          {Key: "rds-storage/standard/multi", Unit: cloud.PerMonth},
	"ES:GP2-Storage":                     {Key: "opensearch-storage/gp2", Unit: cloud.PerMonth},
	"ES:gp3-Storage":                     {Key: "opensearch-storage/gp3", Unit: cloud.PerMonth},
	"CW:MetricMonitorUsage":              {Key: "cloudwatch/metric", Unit: cloud.PerMonth},
	"Lambda-Provisioned-Concurrency":     {Key: "lambda/provisioned/x86_64", Unit: cloud.PerHour},
	"Lambda-Provisioned-Concurrency-ARM": {Key: "lambda/provisioned/arm64", Unit: cloud.PerHour},
}

// price returns the price of the line; false if this package does not use such a price.
func (l priceLine) price() (cloud.Price, bool) {
	usage := usagePrefix.ReplaceAllString(l.get("usageType"), "")
	if p, ok := usages[usage]; ok {
		return p, !strings.HasPrefix(usage, "RDS:") || l.get("Database Engine") == "Any" ||
			l.get("Database Engine") == ""
	}
	if l.get("Product Family") == "Storage" {
		api := l.get("Volume API Name")
		return cloud.Price{Key: "ebs/" + api + "/storage", Unit: cloud.PerMonth}, api != ""
	}
	key := l.hourly(usage)
	return cloud.Price{Key: key, Unit: cloud.PerHour}, key != ""
}

// hourly returns the key of an hourly price; "" if this package does not use such a price.
func (l priceLine) hourly(usage string) string {
	switch l.get("Product Family") {
	case "Compute Instance", "Compute Instance (bare metal)":
		return l.instance(usage)
	case "Database Instance":
		return l.database()
	case "Load Balancer-Application", "Load Balancer-Network", "Load Balancer-Gateway", "Load Balancer":
		return l.balancer(usage)
	case "Cache Instance":
		return "elasticache/" + l.get("Instance Type") + "/" + strings.ToLower(l.get("Cache Engine"))
	case "Amazon OpenSearch Service Instance", "Elastic Search Instance":
		return "opensearch/" + l.get("Instance Type")
	case "ML Instance":
		if t, ok := strings.CutPrefix(usage, "Notebk:"); ok {
			return "sagemaker/" + t + "/notebook"
		}
	}
	return ""
}

// priceSystems are the operating systems of prices.
var priceSystems = map[string]string{"Linux": "linux", "Windows": "windows", "RHEL": "rhel", "SUSE": "suse"}

// priceTenancies are the tenancies of prices.
var priceTenancies = map[string]string{"Shared": "default", "Dedicated": "dedicated"}

// instance returns the key of an EC2 instance or of a Redshift node; "" if the line is not the plain on-demand price.
// Of many lines for an instance type, one has this price: without software, with the licence included or not needed,
// and for used capacity, not reserved capacity.
func (l priceLine) instance(usage string) string {
	if node, ok := strings.CutPrefix(usage, "Node:"); ok {
		return "redshift/" + node
	}
	system, tenancy := priceSystems[l.get("Operating System")], priceTenancies[l.get("Tenancy")]
	if system == "" || tenancy == "" || l.get("CapacityStatus") != "Used" || l.get("Pre Installed S/W") != "NA" ||
		l.get("License Model") != "No License required" {
		return ""
	}
	return "ec2/" + l.get("Instance Type") + "/" + system + "/" + tenancy
}

// priceEngines are the engines of prices, by Engine and Edition.
var priceEngines = map[string]string{
	"PostgreSQL": "postgres", "MySQL": "mysql", "MariaDB": "mariadb", "Aurora MySQL": "aurora-mysql",
	"Aurora PostgreSQL":   "aurora-postgresql",
	"Oracle Standard Two": "oracle-se2", "Oracle Enterprise": "oracle-ee", "SQL Server Standard": "sqlserver-se",
	"SQL Server Enterprise": "sqlserver-ee", "SQL Server Web": "sqlserver-web", "SQL Server Express": "sqlserver-ex",
}

// priceLicences are the suffixes of keys by licence.
var priceLicences = map[string]string{
	"No license required": "", "License included": "/license-included",
	"Bring your own license": "/byol",
}

// priceDeployments are the deployments in keys. Deployments with readable standbys belong to clusters and are left
// out.
var priceDeployments = map[string]string{"Single-AZ": "single", "Multi-AZ": "multi"}

func (l priceLine) database() string {
	engine := priceEngines[strings.TrimSpace(l.get("Database Engine")+" "+l.get("Database Edition"))]
	license, known := priceLicences[l.get("License Model")]
	zones := priceDeployments[l.get("Deployment Option")]
	if engine == "" || !known || zones == "" || strings.Contains(l.get("usageType"), "IOOptimized") {
		return ""
	}
	return "rds/" + l.get("Instance Type") + "/" + engine + license + "/" + zones
}

func (l priceLine) balancer(usage string) string {
	if usage != "LoadBalancerUsage" {
		return ""
	}
	kind := strings.ToLower(strings.TrimPrefix(l.get("Product Family"), "Load Balancer"))
	if kind = strings.TrimPrefix(kind, "-"); kind == "" {
		kind = "classic"
	}
	return "elb/" + kind + "/hours"
}
