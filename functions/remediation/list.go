package remediation

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	domain "lamplighter.dev/shared/domain/remediation"
)

// WorkflowSummary is a workflow as lists show it.
type WorkflowSummary struct {
	ID                string        `json:"id" example:"rem_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Status            domain.Status `json:"status" enum:"pending,awaiting_approval,running,succeeded,failed,cancelled,expired,rolled_back"`
	Message           *string       `json:"message"`
	Title             string        `json:"title" doc:"Of the first recommendation"`
	Reason            *string       `json:"reason"`
	RecommendationIDs []string      `json:"recommendationIDs" nullable:"false"`
	Digest            string        `json:"digest"`
	SavingsUSD        string        `json:"savingsUSD" doc:"Expected, net a month"`
	RequestedBy       string        `json:"requestedBy"`
	DecidedBy         *string       `json:"decidedBy"`
	ExpiresAt         time.Time     `json:"expiresAt"`
	CreatedAt         time.Time     `json:"createdAt"`
	UpdatedAt         time.Time     `json:"updatedAt"`
	EndedAt           *time.Time    `json:"endedAt"`
}

// orders are the fields that the list can be sorted by.
type orders struct{}

var _ rest.Orders[domain.Line] = orders{}

// Orders returns them.
func (orders) Orders() []rest.Order[domain.Line] {
	newest := rest.OrderByTime("created_at", func(l domain.Line) time.Time { return l.CreatedAt })
	newest.LargestFirst = true
	updated := rest.OrderByTime("updated_at", func(l domain.Line) time.Time { return l.UpdatedAt })
	updated.LargestFirst = true
	return []rest.Order[domain.Line]{newest, updated}
}

type listInput struct {
	Status []string `query:"status" maxItems:"8" enum:"pending,awaiting_approval,running,succeeded,failed,cancelled,expired,rolled_back" doc:"Only in these statuses"`
	rest.Page
	rest.Sort[domain.Line, orders]
}

func (s *service) list(ctx context.Context, in *listInput) (rest.List[WorkflowSummary], error) {
	c := identity.CallerFrom(ctx)
	all, err := s.store.List(ctx, c.Org)
	if err != nil {
		return rest.List[WorkflowSummary]{}, err
	}
	sees, err := s.sets(ctx, reading)
	if err != nil {
		return rest.List[WorkflowSummary]{}, err
	}
	now := s.p.Clock.Now()
	all = slices.DeleteFunc(all, func(l domain.Line) bool {
		return !coversAll(sees[0], l.ResourceIDs) ||
			len(in.Status) > 0 && !slices.Contains(in.Status, string(l.StatusAt(now)))
	})
	slices.Reverse(all) // oldest first, so that equal times keep their order in both directions
	in.Apply(all)
	return rest.MapItems(rest.PageOf(all, in.Page), func(l domain.Line) WorkflowSummary {
		return WorkflowSummary{
			ID: l.ID, Status: l.StatusAt(now), Message: rest.Optional(l.Message), Title: l.Title,
			Reason: rest.Optional(l.Reason), RecommendationIDs: l.RecIDs, Digest: l.Digest,
			SavingsUSD: l.SavingUSD.Fixed(2), RequestedBy: l.Requester, DecidedBy: rest.Optional(l.Approver),
			ExpiresAt: l.ExpiresAt, CreatedAt: l.CreatedAt, UpdatedAt: l.UpdatedAt, EndedAt: rest.Optional(l.EndedAt),
		}
	}), nil
}

// sets returns the resources on which the caller holds each of the policies.
func (s *service) sets(ctx context.Context, policies ...string) ([]inventory.ResourceSet, error) {
	c := identity.CallerFrom(ctx)
	scopes := make([]grant.Scopes, len(policies))
	for i, policy := range policies {
		scopes[i] = c.Scopes(policy)
	}
	return s.inventory.ResourceSets(ctx, c.Org, scopes...)
}

// coversAll reports whether a set has all of the resources.
func coversAll(set inventory.ResourceSet, ids []string) bool {
	return set.All() || len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return !set.Has(id) })
}

type workflowInput struct {
	WorkflowID string `path:"workflowID" maxLength:"64"`
}

func (s *service) get(ctx context.Context, in *workflowInput) (WorkflowDetail, error) {
	w, err := s.visible(ctx, in.WorkflowID)
	if err != nil {
		return WorkflowDetail{}, err
	}
	return newWorkflow(&w, s.p.Clock.Now()), nil
}

// visible reads a workflow that the caller may see. One outside the caller's scopes is missing.
func (s *service) visible(ctx context.Context, workflowID string) (domain.Workflow, error) {
	w, err := s.store.Get(ctx, identity.CallerOrg(ctx), workflowID)
	if err != nil {
		return w, err
	}
	sees, err := s.sets(ctx, reading)
	if err == nil && !coversAll(sees[0], resourcesOf(&w)) {
		err = domain.Missing(workflowID)
	}
	if err != nil {
		return domain.Workflow{}, err
	}
	return w, nil
}

func resourcesOf(w *domain.Workflow) []string {
	out := make([]string, len(w.Targets))
	for i := range w.Targets {
		out[i] = w.Targets[i].ResourceID
	}
	return out
}
