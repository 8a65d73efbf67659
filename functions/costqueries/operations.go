// Package costqueries is the operations of free questions: sums of line items by any columns, with the price stated
// before any data is read. The function functions/queryrunner computes the answers, so that this one links no query
// engine.
package costqueries

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/report"
)

const queries = "/reports/queries"

type service struct {
	p         *platform.Platform
	costs     *cost.Store
	inventory *inventory.Store
}

// Operations returns the operations.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Reports & Analytics")
	s := &service{p, cost.New(p), inventory.New(p)}
	rest.Handle(g, rest.Op{
		ID: "askLineItems", Method: http.MethodPost, Path: "/reports/query", Policy: report.Policy, Scoped: true,
		Status: http.StatusAccepted, Reads: true,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict}, Summary: "Ask a free question of line items",
		Description: "Adds up the lines of bills in columns of FOCUS 1.2, each amount to its last digit. It never " +
			"adds amounts of two currencies. With dryRun the question is not run: the answer holds the bytes that " +
			"it would scan, and their price. Otherwise poll statusURL, at once at first: a small question is " +
			"answered by then. Estimates are not line items. The questions of an organization scan at most 1 TiB a " +
			"day (UTC) together; a question beyond that is 409. A grant on teams or resources asks about the lines " +
			"of its resources alone, of at most 1,000 resources.",
	}, s.ask)
	rest.Handle(g, rest.Op{
		ID: "getLineItemQuery", Method: http.MethodGet, Path: queries + "/{queryID}", Policy: report.Policy,
		Scoped:   true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Summary: "Get the answer to a free question",
		Description: "For a day, by everybody who may see the costs of the whole organization, and by the asker with " +
			"the same grants. rows are in the order of columns; nextCursor leads to further ones, and truncated says " +
			"that limit left some out.",
	}, s.get)
	return g
}
