package local

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"lamplighter.dev/functions/auth"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
)

// The demo login. It is fixed and written in the README. Only `lamplighter serve` makes it, which answers on this
// machine alone.
const (
	DemoEmail    = "demo@lamplighter.example"
	DemoPassword = "light-the-lamps-2026" //nolint:gosec // of the local demo, in the README
)

// demoAccounts are the clouds of the demo. The bills of the first have the format of AWS's reports, those of the
// others FOCUS. The last one has a cluster, so that its costs can be split.
var demoAccounts = []struct {
	name string
	cloud.Account
}{
	{"Demo cloud", cloud.Account{NativeID: "123456789012", Credentials: map[string]string{"size": "200"}}},
	{"Demo data", cloud.Account{
		NativeID:    "210987654321",
		Credentials: map[string]string{"size": "40", "seed": "2", "regions": "eu-central-1", "bills": "focus"},
	}},
	{"Demo clusters", cloud.Account{NativeID: "321098765432", Credentials: map[string]string{
		"size": "60", "seed": "3", "regions": "eu-west-1", "kinds": "aws-ec2,kubernetes-*", "bills": "focus",
	}}},
}

// DemoAccounts returns the demo's clouds.
func DemoAccounts() []cloud.Account {
	out := make([]cloud.Account, len(demoAccounts))
	for i, a := range demoAccounts {
		out[i] = a.Account
		out[i].Provider = simulated.Name
	}
	return out
}

// DemoResource is a resource of the demo that can be stopped.
type DemoResource struct {
	UID            string `json:"uid"`
	Name           string `json:"name"`
	Type           string `json:"type"`
	Provider       string `json:"provider"`
	CloudAccountID string `json:"cloudAccountID"`
	Region         string `json:"region"`
}

// Demo makes the demo data where it is missing: a verified user, an organization, connected accounts of provider
// simulated, and the records that cost reports need. It returns a running resource, with an empty UID if there is
// none.
func (s *Service) Demo(ctx context.Context, base string) (DemoResource, error) {
	if _, err := auth.CreateVerifiedUser(ctx, s.Platform, DemoEmail, DemoPassword, "Demo"); err != nil {
		return DemoResource{}, fmt.Errorf("make the demo user: %w", err)
	}
	c := NewClient(base)
	org, err := c.enter(ctx)
	if err != nil {
		return DemoResource{}, fmt.Errorf("make the demo organization: %w", err)
	}
	if err = c.connect(ctx); err != nil {
		return DemoResource{}, fmt.Errorf("connect the demo accounts: %w", err)
	}
	if err = s.awaitDiscovery(ctx, c); err != nil {
		return DemoResource{}, err
	}
	if err = s.seedCosts(ctx, c, org); err != nil {
		return DemoResource{}, fmt.Errorf("make what the demo's costs are of: %w", err)
	}
	return c.oneRunning(ctx)
}

// enter logs in as the demo user and returns the id of the organization. It makes an organization if the user has
// none.
func (c *Client) enter(ctx context.Context) (string, error) {
	orgs, err := c.Login(ctx, DemoEmail, DemoPassword, "")
	if err != nil {
		return "", err
	}
	if len(orgs) > 0 {
		return orgs[0], nil
	}
	org, err := c.create(ctx, "/organisations", map[string]string{"name": "Demo"})
	if err != nil {
		return "", err
	}
	_, err = c.Login(ctx, DemoEmail, DemoPassword, org)
	return org, err
}

// connect connects the demo's accounts, unless one is connected.
func (c *Client) connect(ctx context.Context) error {
	var accounts struct {
		Total int `json:"total"`
	}
	if err := c.Do(ctx, http.MethodGet, "/cloud-accounts", nil, &accounts); err != nil || accounts.Total > 0 {
		return err
	}
	for _, a := range demoAccounts {
		if _, err := c.create(ctx, "/cloud-accounts", map[string]any{
			"provider": simulated.Name, "cloudAccountID": a.NativeID, "name": a.name,
			"authMethod": simulated.AuthMethod, "permissionLevel": "read_write",
			"credentials": a.Credentials,
		}); err != nil {
			return err
		}
	}
	return nil
}

// The longest wait for the first discoveries, and the pause between two looks.
const (
	demoWait = 5 * time.Second
	demoLook = 250 * time.Millisecond
)

// awaitDiscovery waits until the demo's clouds have been discovered, for at most demoWait.
func (s *Service) awaitDiscovery(ctx context.Context, c *Client) error {
	for range demoWait / demoLook {
		var accounts struct {
			Items []struct {
				Status string `json:"status"`
			} `json:"items"`
		}
		if err := c.Do(ctx, http.MethodGet, "/cloud-accounts?limit=100", nil, &accounts); err != nil {
			return fmt.Errorf("look at the demo's accounts: %w", err)
		}
		waiting := false
		for _, a := range accounts.Items {
			waiting = waiting || a.Status == "connecting"
		}
		if !waiting {
			return nil
		}
		if err := s.Platform.Clock.Sleep(ctx, demoLook); err != nil {
			return err
		}
	}
	return nil
}

// oneRunning returns a running resource that can be stopped, or the zero value if there is none.
func (c *Client) oneRunning(ctx context.Context) (DemoResource, error) {
	var found []DemoResource
	const path = "/resources?type=aws-ec2&status=running&schedulable=true&sort_by=name&limit=1"
	if err := c.Do(ctx, http.MethodGet, path, nil, &found); err != nil {
		return DemoResource{}, fmt.Errorf("look for a demo resource: %w", err)
	}
	return append(found, DemoResource{})[0], nil
}
