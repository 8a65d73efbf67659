package actions

import (
	"context"
	"net/http"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
)

// historyQuery is the query of GET /state-history.
type historyQuery struct {
	rest.Page
	ResourceUID   string `query:"resource_uid" maxLength:"1024" doc:"Only changes of this resource"`
	ChangedByType string `query:"changed_by_type" enum:"schedule,manual,bulk,override,override_expired,event,remediation" doc:"The kind of cause"`
}

func (s *service) historyOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listStateHistory", Method: http.MethodGet, Path: "/state-history", Policy: reading, Scoped: true,
		Statuses: lists,
		Summary:  "List state changes",
		Description: "Newest first. Each entry names the resource, its new state, the time and the cause. " +
			"changed_by_type searches the newest 10,000 changes, or those of the resource if resource_uid is " +
			"given. A caller with a grant on teams or resources sees the changes of resources in it; without " +
			"resource_uid, among the newest 10,000.",
	}, s.listHistory)
}

func (s *service) listHistory(ctx context.Context, in *historyQuery) (rest.List[StateChange], error) {
	found, err := s.readChanges(ctx, in)
	if err != nil {
		return rest.List[StateChange]{}, err
	}
	return showNamed(ctx, s, found, func(c execution.StateChange) string { return c.ResourceUID }, shownChange)
}

func (s *service) readChanges(ctx context.Context, in *historyQuery) (rest.List[execution.StateChange], error) {
	org := identity.CallerFrom(ctx).Org
	reach, err := s.resourceSets(ctx, reading)
	if err != nil {
		return rest.List[execution.StateChange]{}, err
	}
	r := rest.Reading[execution.StateChange]{Store: s.p.Table, Page: in.Page, Over: execution.HistoryPKs(org)}
	count := func() (int, error) { return execution.ReadTotal(ctx, r.Store, org, execution.HistoryList) }
	named := in.ResourceUID != ""
	if named {
		r.Over = []string{execution.HistoryResourcePK(org, in.ResourceUID)}
		count = func() (int, error) { return execution.ReadResourceTotal(ctx, r.Store, org, in.ResourceUID) }
	}
	q := table.Query{From: execution.FirstChange, Reverse: true}
	switch {
	case named && !reach[0].HasUID(in.ResourceUID):
		return rest.PageOf[execution.StateChange](nil, in.Page), nil
	case in.ChangedByType == "" && (named || reach[0].All()):
		return readCounted(ctx, r, q, count)
	}
	return r.Filtered(ctx, q, func(c execution.StateChange) bool {
		return reach[0].HasUID(c.ResourceUID) &&
			(in.ChangedByType == "" || execution.ChangedByType(c.ChangedBy) == in.ChangedByType)
	})
}
