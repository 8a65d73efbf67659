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

// The demo login is fixed and written in the README. It is made only by `lamplighter serve`, which answers on this
// machine alone.
const (
	DemoEmail    = "demo@lamplighter.example"
	DemoPassword = "light-the-lamps-2026" //nolint:gosec // of the local demo, in the README
)

// demoAccounts are clouds by their names: the bills of the first have the shape of AWS's reports, those of the others that of FOCUS. The last one
// has a cluster, whose costs are to be split.
var demoAccounts = []struct {
	name string
	cloud.Account
}{
	{"Demo cloud", cloud.Account{NativeID: "123456789012", Credentials: map[string]string{"size": "200"}}},
	{"Demo data", cloud.Account{NativeID: "210987654321", Credentials: map[string]string{"size": "40", "seed": "2", "regions": "eu-central-1", "bills": "focus"}}},
	{"Demo clusters", cloud.Account{NativeID: "321098765432", Credentials: map[string]string{
		"size": "60", "seed": "3", "regions": "eu-west-1", "kinds": "aws-ec2,kubernetes-*", "bills": "focus",
	}}},
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

// Demo makes what a newcomer tries the service with, where it is not there already: a verified user, an organization,
// connected accounts of provider simulated, and what reports of costs are about. It answers a running resource of it, whose UID is empty when
// there is none.
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
	found, err := s.firstRunning(ctx, c)
	if err != nil {
		return DemoResource{}, err
	}
	if err = s.seedCosts(ctx, c, org); err != nil {
		return DemoResource{}, fmt.Errorf("make what the demo's costs are of: %w", err)
	}
	return found, nil
}

// enter logs in as the demo user, into an organization that is made when the user has none, whose id it returns.
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
			"provider": simulated.Name, "cloudAccountID": a.NativeID, "name": a.name, "authMethod": simulated.AuthMethod, "permissionLevel": "read_write",
			"credentials": a.Credentials,
		}); err != nil {
			return err
		}
	}
	return nil
}

// demoWait bounds how long a first start waits for the first discovery.
const demoWait = 5 * time.Second

// firstRunning looks for a resource to be tried, and again when what is under way has ended: the first discovery.
func (s *Service) firstRunning(ctx context.Context, c *Client) (DemoResource, error) {
	found, err := c.oneRunning(ctx)
	if err != nil || found.UID != "" {
		return found, err
	}
	wait, cancel := context.WithTimeout(ctx, demoWait)
	defer cancel()
	if err = s.AwaitIdle(wait); err != nil && wait.Err() == nil {
		return DemoResource{}, err
	}
	return c.oneRunning(ctx)
}

// oneRunning returns a resource that can be stopped, the zero value when there is none.
func (c *Client) oneRunning(ctx context.Context) (DemoResource, error) {
	var found []DemoResource
	const path = "/resources?type=aws-ec2&status=running&schedulable=true&sort_by=name&limit=1"
	if err := c.Do(ctx, http.MethodGet, path, nil, &found); err != nil {
		return DemoResource{}, fmt.Errorf("look for a demo resource: %w", err)
	}
	return append(found, DemoResource{})[0], nil
}
