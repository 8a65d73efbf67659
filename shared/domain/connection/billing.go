package connection

import (
	"regexp"
	"slices"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// Billing is the location of an account's bills, as given when the account was connected. Null fields are detected.
type Billing struct {
	Source         *string `json:"source" example:"data_export"`
	Export         *string `json:"export"`
	Bucket         *string `json:"bucket" doc:"Of S3"`
	StorageAccount *string `json:"storageAccount" doc:"Of Azure"`
	Container      *string `json:"container" doc:"In it"`
	Prefix         *string `json:"prefix" doc:"The folder in bucket or container"`
	Dataset        *string `json:"dataset" doc:"Of BigQuery"`
}

// newBilling returns the record of settings, or nil for empty settings.
func newBilling(b cloud.BillSettings) *Billing {
	if b == (cloud.BillSettings{}) {
		return nil
	}
	return &Billing{
		rest.Optional(string(b.Source)), rest.Optional(b.Export), rest.Optional(b.Bucket),
		rest.Optional(b.StorageAccount), rest.Optional(b.Container),
		rest.Optional(b.Prefix), rest.Optional(b.Dataset),
	}
}

// billingField is a field of the location of bills: its format and the providers that have it.
type billingField struct {
	name, value string
	form        *regexp.Regexp
	providers   []string
}

// The formats of names in the clouds. These names become parts of addresses that receive tokens, and of queries, so
// all other names are refused.
var (
	exportName     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$`)
	bucketName     = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	storageName    = regexp.MustCompile(`^[a-z0-9]{3,24}$`)
	containerName  = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9]){2,62}$`)
	folderName     = regexp.MustCompile(`^[A-Za-z0-9!_.*'()/ -]{1,512}$`)
	billingDataset = regexp.MustCompile(`^([a-z0-9.-]+(:[a-z0-9-]+)?\.)?[A-Za-z0-9_]{1,1000}$`)
)

// billingSources are the sources of bills, by provider.
var billingSources = map[string][]cloud.BillSource{
	"aws": {cloud.DataExport, cloud.CostReport, cloud.CostExplorer}, "azure": {cloud.StorageExport},
	"gcp":          {cloud.BigQueryExport},
	simulatedCloud: {cloud.SimulatedBills},
}

// checkBilling validates the location of an account's bills. The error is fault.Invalid and names the field.
func checkBilling(a inventory.Account) error {
	b := a.Billing
	for _, f := range []billingField{
		{"export", b.Export, exportName, []string{"aws", "azure"}},
		{"bucket", b.Bucket, bucketName, []string{"aws"}},
		{"storageAccount", b.StorageAccount, storageName, []string{"azure"}},
		{"container", b.Container, containerName, []string{"azure"}},
		{"prefix", b.Prefix, folderName, []string{"aws", "azure"}},
		{"dataset", b.Dataset, billingDataset, []string{"gcp"}},
	} {
		switch {
		case f.value == "":
		case !slices.Contains(f.providers, a.Provider):
			return fault.New(fault.Invalid, "billing.%s: bills of %s have none", f.name, a.Provider)
		case !f.form.MatchString(f.value):
			return fault.New(fault.Invalid, "billing.%s: %.100q is not the name of one", f.name, f.value)
		}
	}
	switch {
	case b.Source != "" && !slices.Contains(billingSources[a.Provider], b.Source):
		return fault.New(fault.Invalid, "billing.source: %.32q is not one of %v, which are those of %s", b.Source,
			billingSources[a.Provider], a.Provider)
	case (b.StorageAccount == "") != (b.Container == ""):
		return fault.New(fault.Invalid, "billing.container: storageAccount and container are only together a place")
	case b.Prefix != "" && b.Bucket == "" && b.StorageAccount == "":
		return fault.New(fault.Invalid, "billing.prefix: is only beside bucket, or storageAccount and container")
	}
	return nil
}
