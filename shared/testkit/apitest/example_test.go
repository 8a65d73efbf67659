package apitest_test

import (
	"context"
	"fmt"
	"net/http"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// headcount is how many members an organization has.
type headcount struct {
	Members int64 `json:"members"`
}

// Operations returns a group of one operation, as the package of a function has it.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Users & Teams")
	rest.Handle(g, rest.Op{
		ID: "getHeadcount", Method: http.MethodGet, Path: "/headcount", Policy: "users:read",
		Summary:     "Count the members",
		Description: "How many belong to the organization.",
	}, func(ctx context.Context, _ *struct{}) (headcount, error) {
		org := identity.CallerOrg(ctx)
		a, err := table.Read[identity.Access](table.WithOrg(ctx, org), p.Table, identity.AccessKey(org))
		return headcount{a.Members}, err
	})
	return g
}

// A test of an operation calls it as a permitted user, as a user of another organization and as a user whose grant
// does not cover it, and counts round trips to the store. In a test of your own t is its *testing.T.
func Example() {
	t := newT()
	defer t.end()

	f := apitest.New(t, Operations)
	f.Join(apitest.Org, "ada", grant.Owner)
	f.Join(apitest.Org, "bob", grant.Viewer)

	a := f.Call(apitest.Caller(apitest.Org, "ada", "owner"), "GET /headcount").AtMost(1)
	fmt.Println(apitest.Data[headcount](a).Members)

	a = f.Call(f.Authorized(apitest.Org, "bob"), "GET /headcount") // as the authorizer hands bob on
	fmt.Println(a.Status)

	a = f.Call(apitest.Caller(apitest.OtherOrg, "eve", "users:read"), "GET /headcount")
	fmt.Println(apitest.Data[headcount](a).Members)

	a = f.Call(apitest.Caller(apitest.Org, "tim", "owner team:team_1"), "GET /headcount")
	a.Want(http.StatusForbidden, "users:read")
	fmt.Println(a.Status)
	// Output:
	// 2
	// 403
	// 0
	// 403
}
