package actions

import (
	"context"
	"net/http"

	"lamplighter.dev/shared/execution"
	"lamplighter.dev/shared/identity"
	"lamplighter.dev/shared/listing"
	"lamplighter.dev/shared/rest"
	"lamplighter.dev/shared/table"
)

// historyQuery is the query of GET /state-history.
type historyQuery struct {
	rest.Page
	ResourceUID   string `query:"resource_uid" maxLength:"1024" doc:"Only changes of this resource"`
	ChangedByType string `query:"changed_by_type" enum:"schedule,manual,bulk,override,override_expired" doc:"Only changes of this kind of cause"`
}

func (s *service) historyOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listStateHistory", Method: http.MethodGet, Path: "/state-history", Policy: "actions:read", Statuses: lists,
		Summary: "List state changes",
		Description: "What came into which state, when, and who or what caused it; newest first. With both filters the newest " +
			"10,000 changes of the resource are looked at.",
	}, s.history)
}

func (s *service) history(ctx context.Context, in *historyQuery) (rest.List[execution.Change], error) {
	org := identity.From(ctx).Org
	q := table.Query{PK: execution.HistoryPK(org), From: execution.FirstChange, Reverse: true}
	count := counter{execution.CountKey(org, "HIST"), "all"}
	r := listing.Reading[execution.Change]{Store: s.p.Table, Page: in.Page}
	switch {
	case in.ResourceUID != "" && in.ChangedByType != "":
		q.PK = execution.HistoryResourcePK(org, in.ResourceUID)
		return r.Filtered(ctx, q, func(c execution.Change) bool {
			return execution.ChangedByType(c.ChangedBy) == in.ChangedByType
		})
	case in.ResourceUID != "":
		q.PK = execution.HistoryResourcePK(org, in.ResourceUID)
		count = counter{execution.ResourceCountKey(org, in.ResourceUID), "n"}
	case in.ChangedByType != "":
		q.PK = execution.HistoryTypePK(org, in.ChangedByType)
		count.field = in.ChangedByType
	}
	return counted(ctx, r, q, count)
}
