package awstwin

import (
	"net/http"
	"slices"
)

// Unit is a unit of the organization. The first unit is its root.
type Unit struct{ ID, Name, Parent string }

// Member is an account of the organization. An account without State and Status is listed with neither.
type Member struct {
	ID, Name, Unit string
	State, Status  string // Status is the field that AWS retires in favour of State
	Tags           map[string]string
}

// AddUnits adds units of the organization o-twintwintw.
func (c *Cloud) AddUnits(units ...Unit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.units = append(c.units, units...)
}

// AddMembers adds accounts of the organization.
func (c *Cloud) AddMembers(members ...Member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = append(c.members, members...)
}

func (c *Cloud) describeOrganization(request) (any, *failure) {
	if len(c.units) == 0 {
		return nil, newFailure(http.StatusBadRequest, "AWSOrganizationsNotInUseException", "Your account is not a "+
			"member of an organization.")
	}
	return map[string]any{"Organization": map[string]any{"Id": "o-twintwintw", "MasterAccountId": Account}}, nil
}

// organisationPage answers with a page of the children of the requested parent, which must exist.
func (c *Cloud) organisationPage(q request, name string, all []map[string]any) map[string]any {
	from, to, next := c.cutPage(q, len(all), "MaxResults", "NextToken")
	out := map[string]any{name: all[from:to]}
	if next != "" {
		out["NextToken"] = next
	}
	return out
}

func (c *Cloud) listRoots(q request) (any, *failure) {
	var all []map[string]any
	for _, u := range c.units[:min(1, len(c.units))] {
		all = append(all, map[string]any{"Id": u.ID, "Name": u.Name})
	}
	return c.organisationPage(q, "Roots", all), nil
}

func (c *Cloud) parent(q request) *failure {
	if !slices.ContainsFunc(c.units, func(u Unit) bool { return u.ID == q.getString("ParentId") }) {
		return newFailure(http.StatusBadRequest, "ParentNotFoundException",
			"You specified a parent that doesn't exist.")
	}
	return nil
}

func (c *Cloud) listUnits(q request) (any, *failure) {
	var all []map[string]any
	for _, u := range c.units {
		if u.Parent == q.getString("ParentId") {
			all = append(all, map[string]any{"Id": u.ID, "Name": u.Name})
		}
	}
	return c.organisationPage(q, "OrganizationalUnits", all), c.parent(q)
}

func (c *Cloud) listAccounts(q request) (any, *failure) {
	var all []map[string]any
	for _, m := range c.members {
		if m.Unit != q.getString("ParentId") {
			continue
		}
		listed := map[string]any{"Id": m.ID, "Name": m.Name}
		for field, value := range map[string]string{"State": m.State, "Status": m.Status} {
			if value != "" {
				listed[field] = value
			}
		}
		all = append(all, listed)
	}
	return c.organisationPage(q, "Accounts", all), c.parent(q)
}

func (c *Cloud) listMemberTags(q request) (any, *failure) {
	at := slices.IndexFunc(c.members, func(m Member) bool { return m.ID == q.getString("ResourceId") })
	if at < 0 {
		return nil, newFailure(http.StatusBadRequest, "TargetNotFoundException", "You specified a target that "+
			"doesn't exist.")
	}
	var all []map[string]any
	for k, v := range c.members[at].Tags {
		all = append(all, map[string]any{"Key": k, "Value": v})
	}
	return map[string]any{"Tags": all}, nil
}
