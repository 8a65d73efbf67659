// Package costqueries is the operations of free questions: what line items add up to, by whichever columns, with the price said before
// anything is read. Another function answers them (functions/queryrunner), for this one links no engine.
package costqueries

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
)

const queries = "/reports/queries"

type service struct {
	p     *platform.Platform
	costs *cost.Store
}

// Operations returns the operations.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Reports & Analytics")
	s := &service{p, cost.New(p)}
	rest.Handle(g, rest.Op{
		ID: "askLineItems", Method: http.MethodPost, Path: "/reports/query", Policy: "reports:read", Status: http.StatusAccepted, Reads: true,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict}, Summary: "Ask a free question of line items",
		Description: "Adds up the lines of bills in columns of FOCUS 1.2, each amount to its last digit, and never amounts of two currencies. " +
			"With dryRun nothing is asked: the answer says what would be scanned, and what that costs. Otherwise poll statusURL, at once at " +
			"first: a small question is answered by then. Estimates are no line items. A grant on teams or resources alone does not suffice, for lines are those of a whole bill.",
	}, s.ask)
	rest.Handle(g, rest.Op{
		ID: "getLineItemQuery", Method: http.MethodGet, Path: queries + "/{queryID}", Policy: "reports:read",
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Summary: "Get the answer to a free question",
		Description: "For a day. rows are in the order of columns; nextCursor leads to further ones, and truncated says that limit left some out.",
	}, s.get)
	return g
}
