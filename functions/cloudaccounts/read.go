package cloudaccounts

import (
	"context"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
)

type listInput struct {
	rest.Page
	rest.Sort[inventory.Account, orders]
	Provider string `query:"provider" maxLength:"32" doc:"Only accounts of this provider"`
	Status   string `query:"status" enum:"connecting,connected,degraded,disconnected" doc:"Only this status"`
	Search   string `query:"search" maxLength:"128" doc:"Only accounts whose name or native id contains it"`
}

// orders are the sort orders of accounts. Accounts with equal keys are in the order of their connection.
type orders struct{}

var _ rest.Orders[inventory.Account] = orders{}

func (orders) Orders() []rest.Order[inventory.Account] {
	return []rest.Order[inventory.Account]{
		{},
		rest.OrderByText("name", func(a inventory.Account) string { return a.Name }),
		rest.OrderBy("provider", func(a inventory.Account) string { return a.Provider }),
		rest.OrderBy("status", func(a inventory.Account) string { return a.Status }),
		rest.OrderBy("resourceCount", func(a inventory.Account) int { return a.ResourceCount }),
		rest.OrderByTime("createdAt", func(a inventory.Account) time.Time { return a.CreatedAt }),
	}
}

func (s *service) listAccounts(ctx context.Context, in *listInput) (rest.List[connection.Account], error) {
	all, err := connection.ListAccounts(ctx, s.p.Table, identity.CallerOrg(ctx))
	if err != nil {
		return rest.List[connection.Account]{}, err
	}
	all = slices.DeleteFunc(all, func(a inventory.Account) bool { return !in.matches(a) })
	in.Apply(all)
	return rest.MapItems(rest.PageOf(all, in.Page), func(a inventory.Account) connection.Account {
		return connection.NewRecord(s.opener.Explain(a))
	}), nil
}

func (in *listInput) matches(a inventory.Account) bool {
	search := strings.ToLower(in.Search)
	return (in.Provider == "" || in.Provider == a.Provider) && (in.Status == "" || in.Status == a.Status) &&
		(strings.Contains(strings.ToLower(a.Name), search) || strings.Contains(a.CloudAccountID, in.Search))
}

type accountInput struct {
	AccountID string `path:"accountID" maxLength:"64"`
}

func (s *service) getAccount(ctx context.Context, in *accountInput) (connection.Account, error) {
	a, err := s.readAccount(ctx, identity.CallerOrg(ctx), in.AccountID)
	return connection.NewRecord(s.opener.Explain(a)), err
}
