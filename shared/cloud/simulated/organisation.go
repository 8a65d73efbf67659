package simulated

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	"lamplighter.dev/shared/cloud"
)

// organisation holds the settings of an organization of accounts. By default all are left out:
//
//	organisation     its id; without one the account belongs to none
//	members          how many accounts it has (12)
//	closedMembers    how many of them, the last ones, are closed (0)
//	refusingMembers  how many, before these, do not accept the credentials (0)
//
// Each member is an account with the other settings.
type organisation struct {
	id                        string
	members, closed, refusing int
	shared                    map[string]string
}

// unitsOf are the units of members in turn, within the root.
var unitsOf = []cloud.Unit{
	{ID: "ou-sim-prod", Name: "Prod"},
	{ID: "ou-sim-dev", Name: "Dev"},
	{ID: "ou-sim-sandbox", Name: "Sandbox"},
}

var simulatedRoot = cloud.Unit{ID: "r-sim", Name: "Root"}

func (r *reader) readOrganisation() organisation {
	o := organisation{
		id: r.readText("organisation", ""), members: r.readInteger("members", 12, 0, cloud.MaxMembers),
		closed:   r.readInteger("closedMembers", 0, 0, cloud.MaxMembers),
		refusing: r.readInteger("refusingMembers", 0, 0, cloud.MaxMembers), shared: maps.Clone(r.values),
	}
	for _, name := range []string{"organisation", "members", "closedMembers", "refusingMembers", "accountID"} {
		delete(o.shared, name)
	}
	return o
}

var _ cloud.Organisations = (*conn)(nil)

// Organisation returns the id in the settings. An account without one belongs to no organization.
func (c *conn) Organisation(ctx context.Context) (string, error) {
	r := request{method: "Organisation", op: "organizations:DescribeOrganization", capability: discover}
	if err := c.simulateCall(ctx, r, nil); err != nil {
		return "", err
	}
	if c.organisation.id == "" {
		return "", newFailure(cloud.Invalid, r, "AWSOrganizationsNotInUseException", "Your account is not a member "+
			"of an organization.")
	}
	return c.organisation.id, nil
}

// Members lists as many accounts as the settings say.
func (c *conn) Members(ctx context.Context, tags bool) ([]cloud.Member, error) {
	err := c.simulateCall(ctx, request{method: "Members", op: "organizations:ListAccounts", capability: discover}, nil)
	if err != nil {
		return nil, err
	}
	o := c.organisation
	out := make([]cloud.Member, o.members)
	for i := range out {
		unit := unitsOf[i%len(unitsOf)]
		m := cloud.Member{
			NativeID: fmt.Sprintf("2%011d", i), Name: fmt.Sprintf("%s %03d", unit.Name, i),
			Units:      []cloud.Unit{unit, simulatedRoot},
			AuthMethod: AuthMethod, Credentials: maps.Clone(o.shared), Closed: i >= o.members-o.closed,
		}
		if i >= o.members-o.closed-o.refusing {
			m.Credentials["refuse"] = "true"
		}
		if tags {
			m.Tags = map[string]string{"env": unit.Name, "number": strconv.Itoa(i)}
		}
		out[i] = m
	}
	return out, nil
}
