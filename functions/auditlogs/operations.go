// Package auditlogs is the operation group Audit Logs: it searches, verifies and exports the log of changes and
// refused requests of the organization. shared/api/rest writes the entries. Waiting entries are linked before
// anything is read.
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
		Description: "One row for each request that changed something in the organization, and for each refused " +
			"request, newest first. Refused log-ins, codes and tokens of members, used codes and password resets are " +
			"rows of the category platform. One row stands for many of them, and changes.after has their count. The " +
			"actor of such a row is the member whose address or token was used; another person may have used it. " +
			"Other requests that the gateway refuses (401, 429) leave no row. Secrets are [redacted] before a row is " +
			"written. from and to are cheap and exact for any number of rows; another filter searches the newest " +
			"10,000 rows between them.",
	}, s.listRows)
	rest.Handle(g, rest.Op{
		ID: "verifyAuditLogs", Method: http.MethodGet, Path: rows + "/verify", Policy: policy, Statuses: invalid,
		Summary: "Verify the audit log",
		Description: "Every row contains the hash of the row before, so a changed, removed or inserted row breaks " +
			"the chain. A log that is too long for one answer is verified in parts: while complete is false, ask " +
			"again with next as cursor. Each night the last row is recorded outside of the service's store, signed " +
			"and locked: anchor tells whether the chain still has that row, so that a cut end and an older copy of " +
			"the store are detected. Keep hash and lastSeq of a complete verification elsewhere: an export that " +
			"contains the hash proves that nothing before it was rewritten.",
	}, s.verifyChain)
	rest.Handle(g, rest.Op{
		ID: "exportAuditLogs", Method: http.MethodGet, Path: rows + "/export", Policy: policy, Statuses: invalid,
		Produces: rest.NDJSONType + ", " + rest.CSVType, Summary: "Export the audit log",
		Description: "The rows between two times, oldest first and without gaps, as NDJSON (default) or CSV. " +
			"`lamplighter audit verify` verifies the files, in their order, without the service. In old rows of " +
			"sign-ins the user's other organizations are [withheld]: the files then prove the position of such a " +
			"row, and GET /audit-logs/verify its content.",
	}, s.exportRows)
	return g
}

type service struct {
	p    *platform.Platform
	log  *audit.Log
	most rest.Bounds // of one answer of an export
}
