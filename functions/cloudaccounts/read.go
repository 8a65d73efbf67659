package cloudaccounts

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
)

type listInput struct {
	rest.Page
	rest.Sort
	Provider string `query:"provider" maxLength:"32" doc:"Only accounts of this provider"`
	Status   string `query:"status" enum:"connecting,connected,degraded,disconnected" doc:"Only accounts with this status"`
	Search   string `query:"search" maxLength:"128" doc:"Only accounts whose name or native id contains it"`
}

// orders are the ways to sort; accounts that are equal in one stay in the order they were connected in.
var orders = map[string]func(a, b inventory.Account) int{
	"name":          func(a, b inventory.Account) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) },
	"provider":      func(a, b inventory.Account) int { return cmp.Compare(a.Provider, b.Provider) },
	"status":        func(a, b inventory.Account) int { return cmp.Compare(a.Status, b.Status) },
	"resourceCount": func(a, b inventory.Account) int { return cmp.Compare(a.ResourceCount, b.ResourceCount) },
	"createdAt":     func(a, b inventory.Account) int { return a.CreatedAt.Compare(b.CreatedAt) },
}

func (s *service) list(ctx context.Context, in *listInput) (rest.List[Account], error) {
	out := rest.List[Account]{Page: in.Page.Page, Limit: in.Limit}
	if err := in.Check("name", "provider", "status", "resourceCount", "createdAt"); err != nil {
		return out, err
	}
	all, err := s.all(ctx, identity.From(ctx).Org)
	if err != nil {
		return out, err
	}
	all = slices.DeleteFunc(all, func(a inventory.Account) bool { return !in.meets(a) })
	if order := orders[in.By]; order != nil {
		slices.SortStableFunc(all, order)
	}
	if in.Descending() {
		slices.Reverse(all)
	}
	out.Total = len(all)
	for _, a := range all[min(in.Skip(), len(all)):min(in.Skip()+in.Limit, len(all))] {
		out.Items = append(out.Items, shown(a))
	}
	return out, nil
}

func (in *listInput) meets(a inventory.Account) bool {
	search := strings.ToLower(in.Search)
	return (in.Provider == "" || in.Provider == a.Provider) && (in.Status == "" || in.Status == a.Status) &&
		(strings.Contains(strings.ToLower(a.Name), search) || strings.Contains(a.CloudAccountID, in.Search))
}

type accountInput struct {
	AccountID string `path:"accountID" maxLength:"64"`
}

func (s *service) get(ctx context.Context, in *accountInput) (Account, error) {
	a, err := s.account(ctx, identity.From(ctx).Org, in.AccountID)
	return shown(a), err
}
