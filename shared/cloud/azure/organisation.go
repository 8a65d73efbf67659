package azure

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// organisationNeeds are the additional permissions to list the subscriptions of a management group, in a role that is
// assigned at the group.
var organisationNeeds = []string{
	"Microsoft.Management/managementGroups/descendants/read", "Microsoft.Management/managementGroups/read",
}

const (
	groupsPath    = "/providers/Microsoft.Management/managementGroups/"
	groupsVersion = "2020-05-01"
)

// groupName matches the ids of management groups.
var groupName = regexp.MustCompile(`^[\pL\pN_().-]{1,90}$`)

var _ cloud.Organisations = (*conn)(nil)

// managementGroup is a management group, or a descendant of one: that may be a subscription, whose id is
// "/subscriptions/…".
type managementGroup struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Properties struct {
		DisplayName string              `json:"displayName"`
		Parent      struct{ ID string } `json:"parent"` // of descendants
	} `json:"properties"`
}

// Organisation returns the id of the management group. It fails unless the credentials may read it and list its
// contents.
func (c *conn) Organisation(ctx context.Context) (string, error) {
	if err := c.demandAudience(ctx); err != nil {
		return "", err
	}
	g, err := c.readGroup(ctx)
	if err != nil {
		return "", err
	}
	one := call{
		method: http.MethodGet, path: groupsPath + c.account.Organisation + "/descendants", version: groupsVersion,
		query: url.Values{"$top": {"1"}},
	}
	return g.Name, c.client.callARM(ctx, one, nil) // who may see the group may yet not list it
}

// readGroup reads the management group of the connection.
func (c *conn) readGroup(ctx context.Context) (managementGroup, error) {
	var g managementGroup
	if !groupName.MatchString(c.account.Organisation) {
		return g, cloud.ErrInvalid("%.100q is not the id of a management group", c.account.Organisation)
	}
	err := c.client.callARM(ctx,
		call{method: http.MethodGet, path: groupsPath + c.account.Organisation, version: groupsVersion}, &g)
	return g, err
}

// Members lists the subscriptions of the management group and of all groups in it. The descendants have no states and
// tags; those come from the list of the subscriptions that the application sees, one page for many. A subscription
// that it does not see is listed too; opening it returns the reason. The credentials of the connection open all
// subscriptions.
func (c *conn) Members(ctx context.Context, _ bool) ([]cloud.Member, error) {
	root, err := c.readGroup(ctx)
	if err != nil {
		return nil, err
	}
	below, err := listAll[managementGroup](ctx, c.client, groupsPath+c.account.Organisation+"/descendants",
		groupsVersion)
	if err != nil {
		return nil, err
	}
	seen, err := c.listSubscriptions(ctx)
	if err != nil {
		return nil, err
	}
	groups := map[string]managementGroup{strings.ToLower(root.ID): root}
	var out []cloud.Member
	for _, d := range below {
		groups[strings.ToLower(d.ID)] = d
	}
	for _, d := range below {
		id, subscription := strings.CutPrefix(strings.ToLower(d.ID), subscriptionsPath+"/")
		if subscription {
			out = append(out, newMember(id, d, seen[id]))
			out[len(out)-1].Units = unitsOf(groups, d)
		}
	}
	if len(out) > cloud.MaxMembers {
		return nil, cloud.ErrUnsupported("the management group has more than %d subscriptions", cloud.MaxMembers)
	}
	return out, nil
}

// listSubscriptions lists the subscriptions that the application sees, by their ids.
func (c *conn) listSubscriptions(ctx context.Context) (map[string]subscriptionRow, error) {
	all, err := listAll[subscriptionRow](ctx, c.client, subscriptionsPath, subscriptionsVersion)
	out := make(map[string]subscriptionRow, len(all))
	for _, s := range all {
		out[strings.ToLower(s.ID)] = s
	}
	return out, err
}

// newMember makes a member from a subscription's entry in its group and its own description. A subscription that is
// Warned or PastDue still works.
func newMember(id string, d managementGroup, s subscriptionRow) cloud.Member {
	m := cloud.Member{NativeID: id, Name: d.Properties.DisplayName, Tags: s.Tags, Closed: s.State == "Disabled" ||
		s.State == "Deleted"}
	if s.Name != "" {
		m.Name = s.Name
	}
	return m
}

// unitsOf returns the groups around a descendant, the innermost first, up to the group of the connection.
func unitsOf(groups map[string]managementGroup, d managementGroup) []cloud.Unit {
	var out []cloud.Unit
	for range groups { // no way is longer, however the answers contradict each other
		g, known := groups[strings.ToLower(d.Properties.Parent.ID)]
		if !known {
			break
		}
		out, d = append(out, cloud.Unit{ID: g.Name, Name: g.Properties.DisplayName}), g
	}
	return out
}
