package aws

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/bcmdataexports"
	"lamplighter.dev/shared/cloud/aws/wire/costandusagereportservice"
)

// billingNeeds are the permissions to read bills. Those of S3 are needed only for the bucket of the export.
var billingNeeds = []string{
	"bcm-data-exports:ListExports", "bcm-data-exports:GetExport", "cur:DescribeReportDefinitions", "ce:GetCostAndUsage",
	"organizations:DescribeOrganization", "s3:GetObject", "s3:ListBucket",
}

// billingRegion is the only region with the services of billing.
const billingRegion = "us-east-1"

// maxExports is the maximum number of exports of an account that are looked at.
const maxExports = 50

// billExport is an export or a report, as the account has it.
type billExport struct {
	source               cloud.BillSource
	form                 cloud.BillForm // "" when its manifests tell
	name, bucket, prefix string
	region               string // of the bucket; "" when it is not known
	notice               string // AWS's own error for the export
}

// folder returns the folder of the export's files, with a slash at its end.
func (e billExport) folder() string {
	prefix := strings.Trim(e.prefix, "/")
	if prefix == "" {
		return e.name + "/"
	}
	return prefix + "/" + e.name + "/"
}

// exported finds the table of a query.
var exported = regexp.MustCompile(`(?i)\bFROM\s+"?(\w+)"?(\s+WHERE\b)?`)

// findExports lists the exports and reports of the account, the best first, and the errors of those that could not be
// read.
func (c *conn) findExports(ctx context.Context) ([]billExport, []error) {
	set := c.account.Billing
	if set.Bucket != "" {
		all, err := c.namedExports(ctx)
		return all, []error{err}
	}
	var all []billExport
	var why []error
	if set.Source == "" || set.Source == cloud.DataExport {
		found, err := c.listDataExports(ctx)
		all, why = append(all, found...), append(why, err)
	}
	if set.Source == "" || set.Source == cloud.CostReport {
		found, err := c.listReports(ctx)
		all, why = append(all, found...), append(why, err)
	}
	if set.Export != "" {
		all = slices.DeleteFunc(all, func(e billExport) bool { return e.name != set.Export })
	}
	rank := []cloud.BillForm{cloud.FOCUSForm, cloud.CUR2Form, cloud.LegacyCURForm}
	slices.SortStableFunc(all, func(a, b billExport) int {
		return cmp.Or(cmp.Compare(slices.Index(rank, a.form), slices.Index(rank, b.form)), cmp.Compare(a.name, b.name))
	})
	return all, why
}

// listDataExports lists the Data Exports of costs. It leaves out an export whose query filters rows, unless the
// account names it.
func (c *conn) listDataExports(ctx context.Context) ([]billExport, error) {
	api := bcmdataexports.NewFromConfig(c.regionConfig(billingRegion))
	var arns []string
	pages := wire.NewPages(api.ListExports, &bcmdataexports.ListExportsInput{})
	for pages.HasMorePages() && len(arns) < maxExports {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, resource.ClassifyError(err)
		}
		for _, e := range page.Exports {
			arns = append(arns, sdk.ToString(e.ExportArn))
		}
	}
	arns = arns[:min(len(arns), maxExports)]
	found, errs := make([]*billExport, len(arns)), make([]error, len(arns))
	cloud.InParallel(len(arns), resource.Width, func(i int) {
		got, err := api.GetExport(ctx, &bcmdataexports.GetExportInput{ExportArn: &arns[i]})
		if errs[i] = resource.ClassifyError(err); err == nil {
			found[i] = c.newDataExport(got)
		}
	})
	var out []billExport
	for _, e := range found {
		if e != nil {
			out = append(out, *e)
		}
	}
	return out, firstError(errs)
}

// newDataExport makes an export of AWS's description; nil when the export is not of costs.
func (c *conn) newDataExport(got *bcmdataexports.GetExportOutput) *billExport {
	if !isWhole(got.Export) {
		return nil
	}
	query := exported.FindStringSubmatch(sdk.ToString(got.Export.DataQuery.QueryStatement))
	if query == nil || query[2] != "" && sdk.ToString(got.Export.Name) != c.account.Billing.Export {
		return nil
	}
	to := got.Export.DestinationConfigurations.S3Destination
	e := billExport{
		source: cloud.DataExport, name: sdk.ToString(got.Export.Name), bucket: sdk.ToString(to.S3Bucket),
		prefix: sdk.ToString(to.S3Prefix), region: sdk.ToString(to.S3Region),
	}
	switch table := strings.ToUpper(query[1]); {
	case strings.HasPrefix(table, "FOCUS_"):
		e.form = cloud.FOCUSForm
	case table == "COST_AND_USAGE_REPORT":
		e.form = cloud.CUR2Form
	default:
		return nil
	}
	if s := got.ExportStatus; s != nil && s.StatusCode == bcmdataexports.ExportStatusCodeUnhealthy {
		e.notice = "AWS says that the export " + e.name + " is unhealthy: " + cmp.Or(string(s.StatusReason),
			"it gives no reason")
	}
	return &e
}

// isWhole reports whether AWS's description has all parts that are needed to read the export.
func isWhole(e *bcmdataexports.Export) bool {
	return e != nil && e.DataQuery != nil && e.DestinationConfigurations != nil &&
		e.DestinationConfigurations.S3Destination != nil
}

// listReports lists the Cost and Usage Reports.
func (c *conn) listReports(ctx context.Context) ([]billExport, error) {
	api := costandusagereportservice.NewFromConfig(c.regionConfig(billingRegion))
	var out []billExport
	pages := wire.NewPages(api.DescribeReportDefinitions,
		&costandusagereportservice.DescribeReportDefinitionsInput{})
	for pages.HasMorePages() && len(out) < maxExports {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return out, resource.ClassifyError(err)
		}
		for _, r := range page.ReportDefinitions {
			e := billExport{
				source: cloud.CostReport, form: cloud.LegacyCURForm, name: sdk.ToString(r.ReportName),
				bucket: sdk.ToString(r.S3Bucket), prefix: sdk.ToString(r.S3Prefix), region: string(r.S3Region),
			}
			if s := r.ReportStatus; s != nil && strings.HasPrefix(string(s.LastStatus), "ERROR") {
				e.notice = "AWS says of the report " + e.name + ": " + string(s.LastStatus)
			}
			out = append(out, e)
		}
	}
	return out, nil
}

// namedExports returns the exports in the bucket that the account names. It sends requests only to S3.
func (c *conn) namedExports(ctx context.Context) ([]billExport, error) {
	set := c.account.Billing
	names := []string{set.Export}
	if set.Export == "" {
		b, err := c.openBucket(ctx, set.Bucket, "")
		if err != nil {
			return nil, err
		}
		prefix := strings.Trim(set.Prefix, "/")
		if prefix != "" {
			prefix += "/"
		}
		folders, err := b.folders(ctx, prefix)
		if err != nil {
			return nil, err
		}
		names = names[:0]
		for _, f := range folders[:min(len(folders), maxExports)] {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(f, prefix), "/"))
		}
	}
	var out []billExport
	for _, n := range names {
		for _, source := range []cloud.BillSource{cloud.DataExport, cloud.CostReport} {
			if set.Source == "" || set.Source == source {
				out = append(out, billExport{source: source, name: n, bucket: set.Bucket, prefix: set.Prefix})
			}
		}
	}
	return out, nil
}

// errCharged and errNoBucket are the reasons why a permission is not tried.
var (
	errCharged  = errors.New("AWS charges for each call: its first use will tell")
	errNoBucket = errors.New("it is of the bucket of an export: the first delivery will tell")
)

// probeBilling tries the calls that list exports and reports. Credentials that AWS refuses altogether are an error.
func (c *conn) probeBilling(ctx context.Context) ([]cloud.Permission, error) {
	cfg := c.regionConfig(billingRegion)
	_, err := bcmdataexports.NewFromConfig(cfg).ListExports(ctx,
		&bcmdataexports.ListExportsInput{MaxResults: sdk.Int32(1)})
	if cloud.ClassOf(resource.ClassifyError(err)) == cloud.Refused {
		return nil, resource.ClassifyError(err)
	}
	_, reportErr := costandusagereportservice.NewFromConfig(cfg).DescribeReportDefinitions(ctx,
		&costandusagereportservice.DescribeReportDefinitionsInput{MaxResults: sdk.Int32(5)})
	tried := map[string]error{
		"bcm-data-exports:ListExports": err, "cur:DescribeReportDefinitions": reportErr,
		"ce:GetCostAndUsage": errCharged,
		"s3:GetObject":       errNoBucket, "s3:ListBucket": errNoBucket,
	}
	var out []cloud.Permission
	for _, need := range billingNeeds {
		failed, known := tried[need]
		if !known {
			failed = resource.ErrNoneToTry
		}
		out = append(out, newPermission("billing", need, failed))
	}
	return out, nil
}
