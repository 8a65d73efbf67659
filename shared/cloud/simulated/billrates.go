package simulated

// Amounts of bills are whole billionths of a US dollar: sums of them are exact, and cheap for millions of lines.
const (
	dollar = 1_000_000_000
	cent   = dollar / 100
	// mill is a ten-thousandth of a dollar, the unit of hourly prices.
	mill = dollar / 10_000
)

// monthHours is the number of hours that a monthly price covers.
const monthHours = 730

// machineRates are prices of an hour of instance types, in mills.
var machineRates = map[string]int64{
	"t3.micro": 104, "t3.medium": 416, "t3.large": 832, "m6i.large": 960, "m6i.xlarge": 1920, "c6i.2xlarge": 3400,
	"r6i.2xlarge": 5040,
	"m6i.4xlarge": 7680, "db.t3.medium": 720, "db.m6g.large": 1570, "db.r6g.large": 2150, "db.r6g.xlarge": 4300,
}

// hourRates are prices of an hour of other kinds, in mills; of those that are scaled, an hour of one instance. A kind
// that is not here costs nothing by itself: an Auto Scaling group has its instances, a namespace its nodes.
var hourRates = map[string]int64{
	"aws-aurora": 2900, "aws-ecs": 494, "aws-eks-nodegroup": 960, "aws-eip": 50, "aws-elb": 225, "aws-nat": 450,
	"aws-s3":     120,
	"aws-lambda": 20, "aws-elasticache": 680, "aws-opensearch": 1670, "aws-redshift": 2500, "aws-docdb": 2770,
	"aws-neptune":            3480,
	"aws-sagemaker-notebook": 500, "aws-dynamodb": 70, "aws-sqs": 10, "aws-ecr": 30,
	"azure-vm": 960, "azure-aks": 1000, "azure-aks-nodepool": 960, "azure-postgresql-flexible": 1250,
	"azure-mysql-flexible": 1250,
	"azure-containerapp":   430, "azure-appservice": 1000, "azure-publicip": 50, "azure-loadbalancer": 250,
	"azure-storage": 110,
	"gcp-compute":   950, "gcp-cloudsql": 1130, "gcp-gke-nodepool": 950, "gcp-cloudrun": 480, "gcp-address": 50,
	"gcp-gcs": 100, "gcp-memorystore": 490,
}

// volumeRates are prices of a GB for a month, in mills.
var volumeRates = map[string]int64{"aws-ebs": 800, "aws-ebs-snapshot": 500, "azure-disk": 1350, "gcp-disk": 1700}

// hourRate returns the public price of an hour of n while it runs, in billionths of a dollar; 0 if n is free.
func (s *settings) hourRate(n node) int64 {
	if m, ok := s.machineType(n); ok {
		return machineRates[m.name] * mill
	}
	k := kinds[n.kind]
	if gb, ok := volumeRates[k.Type]; ok {
		return gb * mill * int64(s.volumeSize(n)) / monthHours
	}
	rate := hourRates[k.Type] * mill
	if on, size := s.initialState(n); k.Remembers && on {
		rate *= int64(max(size.Desired, 1))
	}
	return rate
}

// volumeSize is how many GB the volume n has.
func (s *settings) volumeSize(n node) int { return 8 << (s.drawProperty(n, asVolume) % 8) }

// product is the name of a kind on a bill.
type product struct{ code, name, category, unit string }

var products = map[string]product{
	"ec2":         {"AmazonEC2", "Amazon Elastic Compute Cloud", "Compute", "Hrs"},
	"rds":         {"AmazonRDS", "Amazon Relational Database Service", "Databases", "Hrs"},
	"ecs":         {"AmazonECS", "Amazon Elastic Container Service", "Compute", "Hrs"},
	"eks":         {"AmazonEC2", "Amazon Elastic Compute Cloud", "Compute", "Hrs"},
	"autoscaling": {"AmazonEC2", "Amazon Elastic Compute Cloud", "Compute", "Hrs"},
	"azure":       {"Azure", "Simulated Azure", "Other", "Hrs"},
	"gcp":         {"GoogleCloud", "Simulated Google Cloud", "Other", "Hrs"},
	"kubernetes":  {"Kubernetes", "Simulated Kubernetes", "Compute", "Hrs"},
}

// typeProducts are the products of kinds whose service does not determine the product.
var typeProducts = map[string]product{
	"aws-ebs":          {"AmazonEC2", "Amazon Elastic Compute Cloud", "Compute", "Hrs"},
	"aws-ebs-snapshot": {"AmazonEC2", "Amazon Elastic Compute Cloud", "Compute", "Hrs"},
	"aws-eip":          {"AmazonVPC", "Amazon Virtual Private Cloud", "Networking", "Hrs"},
	"aws-nat":          {"AmazonVPC", "Amazon Virtual Private Cloud", "Networking", "Hrs"},
	"aws-elb":          {"AWSELB", "Elastic Load Balancing", "Networking", "Hrs"},
	"aws-s3":           {"AmazonS3", "Amazon Simple Storage Service", "Storage", "Hrs"},
	"aws-lambda":       {"AWSLambda", "AWS Lambda", "Compute", "Hrs"},
}

var (
	transfer     = product{"AWSDataTransfer", "AWS Data Transfer", "Networking", "GB"}
	savingsPlans = product{"ComputeSavingsPlans", "Savings Plans for AWS Compute usage", "Compute", "Hrs"}
	support      = product{"AWSSupportBusiness", "AWS Support (Business)", "Management and Governance", "Month"}
	clusters     = product{"AmazonEKS", "Amazon Elastic Kubernetes Service", "Compute", "Hrs"}
	otherService = product{"AWSOthers", "Other AWS services", "Other", "Hrs"}
)

func productOf(k kind) product {
	if p, ok := typeProducts[k.Type]; ok {
		return p
	}
	if p, ok := products[k.service]; ok {
		return p
	}
	return otherService
}
