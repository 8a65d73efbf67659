// Package auditlogs is the operation group Audit Logs: who changed what in the organization, or tried to, to search, to
// prove and to take away. shared/api/rest leaves the entries; what of them waits is linked before anything is read.
package auditlogs

import (
	"net/http"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

const (
	rows   = "/audit-logs"
	policy = "audit-logs:read"
)

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	return operations(&service{p: p, log: audit.New(p)})
}

func operations(s *service) *rest.Group {
	g := rest.NewGroup("Audit Logs")
	invalid := []int{http.StatusBadRequest}
	rest.Handle(g, rest.Op{
		ID: "listAuditLogs", Method: http.MethodGet, Path: rows, Policy: policy, Statuses: invalid,
		Summary: "Search the audit log",
		Description: "One row for each request that changed something in the organization and for each that was " +
			"refused, newest first. " +
			"Requests that the gateway turns away (401, 429) leave none. Secrets are [redacted] before a row is " +
			"written. from and to " +
			"are cheap and exact over any number of rows; with another filter the newest 10,000 rows between them " +
			"are looked at.",
	}, s.listRows)
	rest.Handle(g, rest.Op{
		ID: "verifyAuditLogs", Method: http.MethodGet, Path: rows + "/verify", Policy: policy, Statuses: invalid,
		Summary: "Prove that the audit log is whole",
		Description: "Every row holds the hash of the row before, so one that was altered, left out or put in breaks " +
			"the chain. " +
			"A log that is too long for one answer is looked at in parts: while complete is false, ask again with " +
			"next as cursor. " +
			"Keep hash and lastSeq of a whole look elsewhere: an export that has the hash proves that nothing before " +
			"it was rewritten.",
	}, s.verifyChain)
	rest.Handle(g, rest.Op{
		ID: "exportAuditLogs", Method: http.MethodGet, Path: rows + "/export", Policy: policy, Statuses: invalid,
		Produces: rest.NDJSONType + ", " + rest.CSVType, Summary: "Export the audit log",
		Description: "The rows from a time until another, oldest first and without gaps, as NDJSON (default) or CSV. " +
			"`lamplighter audit verify` proves the files, in their order, without asking anybody; " +
			"of old rows of sign-ins the other organizations of the user are [withheld], so that the files prove the " +
			"place of such a row " +
			"and GET /audit-logs/verify its content.",
	}, s.exportRows)
	return g
}

type service struct {
	p    *platform.Platform
	log  *audit.Log
	most rest.Bounds // of one answer of an export
}
