package gcp

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// billingNeeds are the permissions that reading bills takes: the first in the project, the others in the dataset.
var billingNeeds = []string{
	"bigquery.jobs.create", "bigquery.datasets.get", "bigquery.tables.list",
	"bigquery.tables.get", "bigquery.tables.getData",
}

// The tables of Google's billing export, the best first: with the columns of FOCUS, with resources, without resources.
const (
	focusTable    = "gcp_billing_export_focus_"
	detailedTable = "gcp_billing_export_resource_v1_"
	standardTable = "gcp_billing_export_v1_"
)

var (
	datasetName = regexp.MustCompile(`^\w{1,1000}$`)
	tableName   = regexp.MustCompile(`^gcp_billing_export_(focus|resource_v1|v1)_(\w{1,100})$`)
)

// billTable is a table of a billing export.
type billTable struct {
	project, dataset, id, location string
	columns                        map[string]bool
}

func (t billTable) qualifiedName() string { return t.project + "." + t.dataset + "." + t.id }

// quoted is the name as SQL has it.
func (t billTable) quoted() string { return "`" + t.qualifiedName() + "`" }

func (t billTable) hasPrefix(prefix string) bool { return strings.HasPrefix(t.id, prefix) }

// billingAccount returns the billing account of the table.
func (t billTable) billingAccount() string {
	m := tableName.FindStringSubmatch(t.id)
	if m == nil {
		return ""
	}
	return m[2]
}

// findTables lists the best table of each billing account in the dataset that was named, or in all of the project.
func (s *session) findTables(ctx context.Context) ([]billTable, error) {
	datasets, err := s.findDatasets(ctx)
	if err != nil {
		return nil, err
	}
	all, errs := make([][]billTable, len(datasets)), make([]error, len(datasets))
	cloud.InParallel(len(datasets), parallelCalls, func(i int) { all[i], errs[i] = s.tablesIn(ctx, datasets[i]) })
	best := bestOf(slices.Concat(all...))
	for _, err := range errs {
		if err != nil && len(best) == 0 || err != nil && cloud.ClassOf(err).Retryable() {
			return nil, err
		}
	}
	for i := range best {
		if best[i].columns, err = s.columnsOf(ctx, best[i]); err != nil {
			return nil, err
		}
	}
	return best, nil
}

// findDatasets returns the datasets and their locations, because a query must run in the location.
func (s *session) findDatasets(ctx context.Context) ([]billTable, error) {
	if named := s.account.Billing.Dataset; named != "" {
		at := billTable{project: s.project, dataset: named}
		if i := strings.LastIndexByte(named, '.'); i >= 0 {
			at.project, at.dataset = named[:i], named[i+1:]
		}
		if !projectID.MatchString(at.project) || !datasetName.MatchString(at.dataset) {
			return nil, cloud.ErrInvalid("billing.dataset %.200q is neither DATASET nor PROJECT.DATASET", named)
		}
		got, err := call[googlerest.Dataset](ctx, s, googlerest.NewGet("bigquery.datasets.get",
			googlerest.BigQuery+"projects/{+projectId}/datasets/{+datasetId}", at.project, at.dataset))
		if err != nil {
			return nil, err
		}
		at.location = got.Location
		return []billTable{at}, nil
	}
	var out []billTable
	list := googlerest.NewGet("bigquery.datasets.get", googlerest.BigQuery+"projects/{+projectId}/datasets", s.project)
	err := eachPage(ctx, s, list.SetInt("maxResults", 500), func(page *googlerest.DatasetList) (string, error) {
		for _, d := range page.Datasets {
			if id := d.DatasetReference.DatasetID; datasetName.MatchString(id) {
				out = append(out, billTable{project: s.project, dataset: id, location: d.Location})
			}
		}
		if len(out) > mostTables {
			return "", cloud.ErrUnsupported("project %s has more than %d datasets: name the one of the billing "+
				"export in "+
				"billing.dataset", s.project, mostTables)
		}
		return page.NextPageToken, nil
	})
	return out, err
}

// tablesIn lists the tables of billing exports in a dataset.
func (s *session) tablesIn(ctx context.Context, in billTable) ([]billTable, error) {
	var out []billTable
	seen := 0
	list := googlerest.NewGet("bigquery.tables.list",
		googlerest.BigQuery+"projects/{+projectId}/datasets/{+datasetId}/tables", in.project, in.dataset)
	err := eachPage(ctx, s, list.SetInt("maxResults", 1000), func(page *googlerest.TableList) (string, error) {
		for _, t := range page.Tables {
			if id := t.TableReference.TableID; tableName.MatchString(id) {
				found := in
				found.id = id
				out = append(out, found)
			}
		}
		if seen += len(page.Tables); seen > 50*mostTables {
			return "", cloud.ErrUnsupported(
				"dataset %s has more than %d tables: name the one of the billing export in "+
					"billing.dataset", in.dataset, 50*mostTables)
		}
		return page.NextPageToken, nil
	})
	return out, err
}

// bestOf keeps the table with the most details of each billing account.
func bestOf(all []billTable) []billTable {
	rank := func(t billTable) int {
		return slices.IndexFunc([]string{focusTable, detailedTable, standardTable}, t.hasPrefix)
	}
	slices.SortFunc(all, func(a, b billTable) int {
		return cmp.Or(strings.Compare(a.billingAccount(), b.billingAccount()), cmp.Compare(rank(a), rank(b)),
			strings.Compare(a.qualifiedName(), b.qualifiedName()))
	})
	return slices.CompactFunc(all, func(a, b billTable) bool { return a.billingAccount() == b.billingAccount() })
}

// columnsOf returns those of namedColumns that the table has. Older exports have fewer.
func (s *session) columnsOf(ctx context.Context, t billTable) (map[string]bool, error) {
	got, err := call[googlerest.Table](ctx, s, googlerest.NewGet("bigquery.tables.get",
		googlerest.BigQuery+"projects/{+projectId}/datasets/{+datasetId}/tables/{+tableId}", t.project, t.dataset,
		t.id))
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	if got.Schema != nil {
		addNamed(out, "", got.Schema.Fields)
	}
	return out, nil
}

// addNamed adds the columns that queries name, and fields of records as "credits.name".
func addNamed(to map[string]bool, prefix string, fields []googlerest.TableField) {
	for _, f := range fields {
		if name := prefix + f.Name; slices.Contains(namedColumns, name) {
			to[name] = true
		}
		addNamed(to, prefix+f.Name+".", f.Fields)
	}
}
