package local

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud/simulated"
)

// resource is the part of a resource that the demo reads.
type resource struct {
	DemoResource

	ID     string            `json:"id"`
	Status string            `json:"status"`
	Tags   map[string]string `json:"tags"`
}

// teamTag is the tag that assigns resources to the demo's teams.
const teamTag = "team"

// seedCosts makes, once, the records that cost reports need besides bills: teams that own the resources with their
// tag, groups of the resources with planted cost spikes, budgets, a rule that splits unowned costs, a unit to divide
// by, a history of weekends, and an applied recommendation.
func (s *Service) seedCosts(ctx context.Context, c *Client, org string) error {
	var teams struct {
		Total int `json:"total"`
	}
	if err := c.Do(ctx, http.MethodGet, "/teams", nil, &teams); err != nil || teams.Total > 0 {
		return err
	}
	found, err := c.resources(ctx)
	if err != nil || len(found) == 0 {
		return err // of a discovery that is slow: the next start looks again
	}
	owners, err := c.seedTeams(ctx, found)
	if err != nil {
		return err
	}
	now := s.Platform.Clock.Now()
	plan, err := simulated.Planted(DemoAccounts(now)[0], now)
	if err != nil {
		return err
	}
	for _, seed := range []func() error{
		func() error { return c.seedGroups(ctx, plan) },
		func() error { return c.seedBudgets(ctx, plan, owners) },
		func() error { return c.seedRule(ctx, owners) },
		func() error { return c.seedOrders(ctx, now) },
		func() error { return s.seedWeekends(ctx, c, org, found) },
		func() error { return s.seedPast(ctx, c, org, found) },
	} {
		if err = seed(); err != nil {
			return err
		}
	}
	return nil
}

// resources returns all resources found so far.
func (c *Client) resources(ctx context.Context) ([]resource, error) {
	var out []resource
	for page := 1; ; page++ {
		var some []resource
		if err := c.Do(ctx, http.MethodGet, fmt.Sprintf("/resources?limit=100&page=%d", page), nil, &some); err != nil {
			return nil, fmt.Errorf("list the demo's resources: %w", err)
		}
		if out = append(out, some...); len(some) < 100 {
			return out, nil
		}
	}
}

// seedTeams makes a team for each value of teamTag. It returns their ids by name.
func (c *Client) seedTeams(ctx context.Context, found []resource) (map[string]string, error) {
	owned := map[string][]string{}
	for _, r := range found {
		if name := r.Tags[teamTag]; name != "" {
			owned[name] = append(owned[name], r.ID)
		}
	}
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(owned)) {
		id, err := c.create(ctx, "/teams", map[string]any{"name": titled(name), "resources": owned[name]})
		if err != nil {
			return nil, err
		}
		out[name] = id
	}
	return out, nil
}

// create makes a record, and returns its id.
func (c *Client) create(ctx context.Context, path string, in any) (string, error) {
	var made struct {
		ID string `json:"id"`
	}
	err := c.Do(ctx, http.MethodPost, path, in, &made)
	return made.ID, err
}

func titled(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// seedGroups makes a resource group for each planted spike of a group. The group selects resources by the tag of the
// spike.
func (c *Client) seedGroups(ctx context.Context, plan simulated.Plan) error {
	made := map[string]bool{}
	for _, a := range plan.Anomalies {
		if a.Dimension != "resource_group" || made[a.TagValue] {
			continue
		}
		made[a.TagValue] = true
		group := map[string]any{
			"name":     titled(a.TagValue),
			"selector": map[string]any{"tags": map[string]string{a.TagKey: a.TagValue}},
		}
		if _, err := c.create(ctx, "/resource-groups", group); err != nil {
			return err
		}
	}
	return nil
}

// seedBudgets makes two monthly budgets: the organization stays within its budget, and its first team does not.
func (c *Client) seedBudgets(ctx context.Context, plan simulated.Plan, owners map[string]string) error {
	last := plan.Months[max(len(plan.Months)-2, 0)].Billed
	if _, err := c.create(ctx, "/budgets", map[string]any{
		"name": "Everything", "scopeType": "org",
		"amountUSD": last.MulInt(12).DivInt(10_000).Round(0).MulInt(1000).Fixed(2), "forecastAlerts": true,
	}); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(owners))[:min(1, len(owners))] {
		budget := map[string]any{
			"name": titled(name), "scopeType": "team", "scopeID": owners[name],
			"amountUSD": last.DivInt(1000).Round(0).MulInt(100).Fixed(2),
		}
		if _, err := c.create(ctx, "/budgets", budget); err != nil {
			return err
		}
	}
	return nil
}

// seedRule makes a rule that splits the unowned support costs over the teams, in proportion to their costs.
func (c *Client) seedRule(ctx context.Context, owners map[string]string) error {
	var shares []map[string]string
	for _, name := range slices.Sorted(maps.Keys(owners)) {
		shares = append(shares, map[string]string{"teamID": owners[name]})
	}
	if len(shares) == 0 {
		return nil
	}
	rule := map[string]any{
		"name": "Support", "split": "proportional", "shares": shares,
		"selector": map[string][]string{"service_name": {"AWS Support (Business)"}},
	}
	_, err := c.create(ctx, "/showback/rules", rule)
	return err
}

// ordersName is the demo's unit metric: orders per day for the last 90 days, fewer at weekends.
const ordersName = "orders"

func (c *Client) seedOrders(ctx context.Context, now time.Time) error {
	if _, err := c.create(ctx, "/reports/unit-metrics",
		map[string]string{
			"name": ordersName, "unit": "order",
			"description": "Orders of the demo's shop",
		}); err != nil {
		return err
	}
	var values []map[string]any
	for n := 90; n > 0; n-- {
		day := now.UTC().AddDate(0, 0, -n)
		orders := 4000 + 37*(90-n) + 90*(day.Day()%7)
		if d := day.Weekday(); d == time.Saturday || d == time.Sunday {
			orders /= 2
		}
		values = append(values, map[string]any{"date": day.Format(time.DateOnly), "value": orders})
	}
	return c.Do(ctx, http.MethodPost, "/reports/unit-metrics/"+url.PathEscape(ordersName)+"/values",
		map[string]any{"values": values}, nil)
}
