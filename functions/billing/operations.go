// Package billing is the operation group Billing: the state of each account's bills, the import of all bills, the
// control totals of imported periods, and uploaded files of vendors.
package billing

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
)

const (
	statusPath  = "/billing/sync-status"
	periodsPath = "/billing/periods"
	importsPath = "/billing/imports"
	oneImport   = importsPath + "/{importID}"
)

type service struct {
	p     *platform.Platform
	costs *cost.Store
}

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Billing")
	s := &service{p, cost.New(p)}
	rest.Handle(g, rest.Op{
		ID: "listBillingSyncStatus", Method: http.MethodGet, Path: statusPath, Policy: "billing:read",
		Summary: "List the billing sync status of each cloud account",
		Description: "One entry for every cloud account, oldest first. stale: nothing was imported for 48 hours; " +
			"failed: the newest import failed, message names the step (reachability, schema, sample, totals), the " +
			"file and the row, and every month is unchanged; never: nothing was imported yet, message names the " +
			"reason for the wait.",
	}, s.listStatus)
	rest.Handle(g, rest.Op{
		ID: "verifyBilling", Method: http.MethodPost, Path: "/billing/verify", Policy: "billing:write",
		Status:   http.StatusAccepted,
		Statuses: []int{http.StatusConflict}, Summary: "Import the bills of every cloud account now",
		Description: "Checks that the export of each account can be reached, reads its data, compares rows and " +
			"totals with the provider's figures, and imports up to 13 months that are not imported yet. While a " +
			"run is under way, the answer is that run. Poll statusURL until no entry is syncing.",
	}, s.verify)
	rest.Handle(g, rest.Op{
		ID: "listBillingPeriods", Method: http.MethodGet, Path: periodsPath, Policy: "billing:read",
		Statuses:    []int{http.StatusBadRequest},
		Summary:     "List the billing periods that are in, with their control totals",
		Description: "The newest first, then by account.",
	}, s.listPeriods)
	s.importOperations(g)
	return g
}

func (s *service) importOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "createBillingImport", Method: http.MethodPost, Path: importsPath, Policy: "billing:write",
		Status:   http.StatusAccepted,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Import a file of any vendor in FOCUS columns",
		Description: "PUT the file (CSV or JSON lines, also gzipped, or Parquet) to uploadURL before expiresAt; the " +
			"import starts when the upload is complete. A file that BigQuery extracts as JSON from a table of Google " +
			"Cloud's standard or detailed billing export is read too. Each billing period in the file replaces the " +
			"earlier data of the vendor, or of the account, for that period as a whole. Poll statusURL.",
	}, s.createImport)
	rest.Handle(g, rest.Op{
		ID: "listBillingImports", Method: http.MethodGet, Path: importsPath, Policy: "billing:read",
		Statuses: []int{http.StatusBadRequest},
		Summary:  "List uploaded files", Description: "The newest first, of the last 90 days.",
	}, s.listImports)
	rest.Handle(g, rest.Op{
		ID: "getBillingImport", Method: http.MethodGet, Path: oneImport, Policy: "billing:read",
		Statuses: []int{http.StatusNotFound},
		Summary:  "Get an uploaded file and its errors",
	}, s.getImport)
	rest.Handle(g, rest.Op{
		ID: "withdrawBillingImport", Method: http.MethodDelete, Path: oneImport, Policy: "billing:write",
		Status:   http.StatusAccepted,
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "Withdraw an uploaded file",
		Description: "Restores the months that the file replaced, as they were before. A month that had no bill " +
			"before has none again, and a month that a later file or delivery replaced stays. A file that was not " +
			"imported yet is not imported any more. A file whose import runs is not withdrawn (409). Files can be " +
			"withdrawn for 90 days, as long as their records stay. Poll statusURL until the status is withdrawn.",
	}, s.withdrawImport)
}
