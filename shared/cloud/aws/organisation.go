package aws

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/organizations"
)

// organisationNeeds are the permissions to list the accounts of an organization, in its management account or in a
// delegated administrator's account.
var organisationNeeds = []string{
	"organizations:DescribeOrganization", "organizations:ListRoots", "organizations:ListAccountsForParent",
	"organizations:ListOrganizationalUnitsForParent", "organizations:ListTagsForResource",
}

// maxUnits is the maximum number of units in a walk that would not end. AWS allows 2,000 in an organization.
const maxUnits = 5_000

// organisationAPI is the subset of the AWS Organizations API that is called here.
type organisationAPI interface {
	DescribeOrganization(context.Context,
		*organizations.DescribeOrganizationInput) (*organizations.DescribeOrganizationOutput, error)
	ListRoots(context.Context, *organizations.ListRootsInput) (*organizations.ListRootsOutput, error)
	ListAccountsForParent(context.Context,
		*organizations.ListAccountsForParentInput) (*organizations.ListAccountsForParentOutput, error)
	ListOrganizationalUnitsForParent(context.Context,
		*organizations.ListOrganizationalUnitsForParentInput) (*organizations.ListOrganizationalUnitsForParentOutput,
		error)
	ListTagsForResource(context.Context,
		*organizations.ListTagsForResourceInput) (*organizations.ListTagsForResourceOutput, error)
}

func (c *conn) organisation() organisationAPI { return organizations.NewFromConfig(c.config) }

// Organisation returns the id of the account's organization: "o-…".
func (c *conn) Organisation(ctx context.Context) (string, error) {
	out, err := c.organisation().DescribeOrganization(ctx, &organizations.DescribeOrganizationInput{})
	if err != nil {
		return "", resource.ClassifyError(err)
	}
	return sdk.ToString(out.Organization.Id), nil
}

// managementAccount returns the number of the organization's management account, which pays for all accounts.
func (c *conn) managementAccount(ctx context.Context) (string, error) {
	out, err := c.organisation().DescribeOrganization(ctx, &organizations.DescribeOrganizationInput{})
	if err != nil {
		return "", resource.ClassifyError(err)
	}
	return sdk.ToString(out.Organization.MasterAccountId), nil
}

// Members returns the accounts of the organization. It walks through the units from the root down, with two calls per
// unit; asking for the parents of each account would take a call per account. A member is opened by the role that the
// connection's credentials name, with its external id. The connection's own account is opened by these credentials
// directly.
func (c *conn) Members(ctx context.Context, tags bool) ([]cloud.Member, error) {
	self, err := c.Identify(ctx)
	if err != nil {
		return nil, err
	}
	w := walk{api: c.organisation()}
	if err = w.roots(ctx); err != nil {
		return nil, resource.ClassifyError(err)
	}
	errs := make([]error, len(w.found))
	cloud.InParallel(len(w.found), resource.Width, func(i int) {
		m := &w.found[i]
		if m.NativeID != self {
			c.openByRole(m)
		}
		if tags && !m.Closed {
			m.Tags, errs[i] = w.tags(ctx, m.NativeID)
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, resource.ClassifyError(err)
		}
	}
	return w.found, nil
}

// openByRole sets the credentials of a member.
func (c *conn) openByRole(m *cloud.Member) {
	partition := "aws"
	if f := strings.SplitN(c.account.Credentials["roleArn"], ":", 3); len(f) == 3 {
		partition = f[1]
	}
	m.AuthMethod = "assume_role"
	m.Credentials = map[string]string{
		"roleArn":    "arn:" + partition + ":iam::" + m.NativeID + ":role/" + c.account.Credentials["memberRole"],
		"externalID": c.account.Credentials["externalID"],
	}
}

// walk is a walk through an organization, unit by unit.
type walk struct {
	api   organisationAPI
	found []cloud.Member
	units int
}

func (w *walk) roots(ctx context.Context) error {
	pages := wire.NewPages(w.api.ListRoots, &organizations.ListRootsInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, r := range page.Roots {
			if err = w.unit(ctx, []cloud.Unit{{ID: sdk.ToString(r.Id), Name: sdk.ToString(r.Name)}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// unit adds the accounts of the first unit in units, and of the units below it. The other units are its parents, up to
// the root.
func (w *walk) unit(ctx context.Context, units []cloud.Unit) error {
	if w.units++; w.units > maxUnits {
		return cloud.ErrUnsupported("the organization has more than %d units", maxUnits)
	}
	if err := w.accounts(ctx, units); err != nil {
		return err
	}
	pages := wire.NewPages(w.api.ListOrganizationalUnitsForParent,
		&organizations.ListOrganizationalUnitsForParentInput{ParentId: &units[0].ID})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, u := range page.OrganizationalUnits {
			inner := append([]cloud.Unit{{ID: sdk.ToString(u.Id), Name: sdk.ToString(u.Name)}}, units...)
			if err = w.unit(ctx, inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walk) accounts(ctx context.Context, units []cloud.Unit) error {
	pages := wire.NewPages(w.api.ListAccountsForParent,
		&organizations.ListAccountsForParentInput{ParentId: &units[0].ID})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, a := range page.Accounts {
			w.found = append(w.found, cloud.Member{
				NativeID: sdk.ToString(a.Id), Name: sdk.ToString(a.Name), Units: units, Closed: isClosed(a),
			})
		}
		if len(w.found) > cloud.MaxMembers {
			return cloud.ErrUnsupported("the organization has more than %d accounts", cloud.MaxMembers)
		}
	}
	return nil
}

// isClosed reports whether the account is closed for good. AWS retires the field Status in favour of State, so Status
// counts only without State. An account without either, or with an unknown state, counts as open: a connection to it
// will show.
func isClosed(a organizations.Account) bool {
	if a.State == "" {
		return a.Status == organizations.AccountStatusSuspended || a.Status == organizations.AccountStatusPendingClosure
	}
	closed := []organizations.AccountState{
		organizations.AccountStateSuspended,
		organizations.AccountStatePendingClosure,
		organizations.AccountStateClosed,
	}
	return slices.Contains(closed, a.State)
}

func (w *walk) tags(ctx context.Context, account string) (map[string]string, error) {
	out := map[string]string{}
	pages := wire.NewPages(w.api.ListTagsForResource,
		&organizations.ListTagsForResourceInput{ResourceId: &account})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tags {
			out[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
		}
	}
	return out, nil
}
