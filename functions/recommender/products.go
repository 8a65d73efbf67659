package recommender

import (
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/commitment"
)

// product is what a kind of commitment covers: the use of some types in an account.
type product struct {
	name     string // unique with the provider
	subject  string // the type of the account
	kind     commitment.Kind
	types    []string
	rules    []string // that recommend to buy it
	regional bool     // a commitment is for one region
	families bool     // a commitment is for one family of machines in one region
	listed   string   // the group of its rates in public prices (cloud.CommitmentRate); empty: there are none
}

// products are the commitments that rules recommend.
var products = []product{
	{
		name: "compute", subject: "aws-account", kind: commitment.Plan,
		types: []string{cloud.AWSEC2, "aws-lambda", "aws-ecs"}, rules: []string{"aws-account-compute-plan"},
		listed: "ec2",
	},
	{
		name: "databases", subject: "aws-account", kind: commitment.Reservation, types: []string{cloud.AWSRDS},
		rules: []string{"aws-account-rds-reserved"}, families: true, listed: "rds",
	},
	{
		name: "caches", subject: "aws-account", kind: commitment.Reservation,
		types: []string{"aws-elasticache", "aws-memorydb"}, rules: []string{"aws-account-cache-reserved"},
		families: true, listed: "elasticache",
	},
	{
		name: "search", subject: "aws-account", kind: commitment.Reservation, types: []string{"aws-opensearch"},
		rules: []string{"aws-account-search-reserved"}, families: true, listed: "opensearch",
	},
	{
		name: "warehouses", subject: "aws-account", kind: commitment.Reservation, types: []string{"aws-redshift"},
		rules: []string{"aws-account-redshift-reserved"}, families: true, listed: "redshift",
	},
	{
		name: "machine learning", subject: "aws-account", kind: commitment.Plan,
		types: []string{
			"aws-sagemaker-notebook", "aws-sagemaker-endpoint", "aws-sagemaker-app", "aws-sagemaker-training",
		},
		rules: []string{"aws-account-sagemaker-plan"},
	},
	{
		name: "compute", subject: "azure-subscription", kind: commitment.Plan,
		types: []string{"azure-vm", "azure-vmss", "azure-appserviceplan", "azure-containerapp"},
		rules: []string{"azure-subscription-savings-plan"}, listed: "vm",
	},
	{
		name: "machines", subject: "azure-subscription", kind: commitment.Reservation,
		types: []string{"azure-vm", "azure-vmss"}, rules: []string{"azure-subscription-vm-reserved"},
		families: true, listed: "vm",
	},
	{
		name: "databases", subject: "azure-subscription", kind: commitment.Reservation,
		types: []string{"azure-sql-database", "azure-sql-elasticpool", "azure-sql-mi"},
		rules: []string{"azure-subscription-sql-reserved"}, regional: true,
	},
	{
		name: "documents", subject: "azure-subscription", kind: commitment.Reservation,
		types: []string{"azure-cosmosdb"}, rules: []string{"azure-subscription-cosmos-reserved"}, regional: true,
	},
	{
		name: "compute", subject: "gcp-project", kind: commitment.CUD, types: []string{"gcp-compute"},
		rules: []string{"gcp-project-compute-commitment"},
	},
	{
		name: "databases", subject: "gcp-project", kind: commitment.CUD, types: []string{"gcp-cloudsql"},
		rules: []string{"gcp-project-sql-commitment"}, regional: true,
	},
	{
		name: "caches", subject: "gcp-project", kind: commitment.CUD,
		types: []string{"gcp-memorystore", "gcp-memorystore-cluster"}, rules: []string{"gcp-project-cache-commitment"},
		regional: true,
	},
	{
		name: "serverless", subject: "gcp-project", kind: commitment.CUD,
		types: []string{"gcp-cloudrun", "gcp-cloudrun-job"}, rules: []string{"gcp-project-run-commitment"},
	},
	{
		name: "spanner", subject: "gcp-project", kind: commitment.CUD, types: []string{"gcp-spanner"},
		rules: []string{"gcp-project-spanner-commitment"},
	},
}

// productOfRule returns what a rule recommends to commit to, or nil.
func productOfRule(ruleID string) *product {
	i := slices.IndexFunc(products, func(p product) bool { return slices.Contains(p.rules, ruleID) })
	if i < 0 {
		return nil
	}
	return &products[i]
}

// productNamed returns a product of a type of account.
func productNamed(subject, name string) *product {
	i := slices.IndexFunc(products, func(p product) bool { return p.subject == subject && p.name == name })
	return &products[i]
}

// covers reports whether a commitment covers the use of a type.
func (p *product) covers(kind string) bool { return slices.Contains(p.types, kind) }

// isCommittable reports whether any commitment covers the use of a type.
func isCommittable(kind string) bool {
	return slices.ContainsFunc(products, func(p product) bool { return p.covers(kind) })
}
