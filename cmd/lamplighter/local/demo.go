package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"lamplighter.dev/functions/auth"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
)

// DemoEmail is the address of the demo login. DemoPassword returns its password. Only `lamplighter serve` makes the
// login, which answers on this machine alone.
const DemoEmail = "demo@lamplighter.example"

// demoAccounts are the clouds of the demo. The bills of the first have the format of AWS's reports, those of the
// others FOCUS. The third has a
// cluster, so that its costs can be split. The fourth has volumes, snapshots and addresses, which remediation
// changes and removes. The last one is small: it has one resource for each kind of change that remediation makes, and
// healthy ones beside it.
var demoAccounts = []struct {
	name string
	cloud.Account
}{
	{"Demo cloud", cloud.Account{
		NativeID:    "123456789012",
		Credentials: map[string]string{"size": "200", "facts": "complete"},
	}},
	{"Demo data", cloud.Account{
		NativeID: "210987654321",
		Credentials: map[string]string{
			"size": "40", "seed": "2", "regions": "eu-central-1", "bills": "focus", "facts": "complete",
		},
	}},
	{"Demo clusters", cloud.Account{NativeID: "321098765432", Credentials: map[string]string{
		"size": "60", "seed": "3", "regions": "eu-west-1", "kinds": "aws-ec2,kubernetes-*", "bills": "focus",
		"facts": "complete",
	}}},
	{"Demo storage", cloud.Account{NativeID: "432109876543", Credentials: map[string]string{
		"size": "40", "seed": "4", "regions": "eu-central-1", "kinds": "aws-ebs,aws-ebs-snapshot,aws-eip",
		"bills": "focus", "facts": "complete",
	}}},
	{"Demo waste", cloud.Account{NativeID: "543210987654", Credentials: map[string]string{
		"seed": "5", "regions": "eu-west-1", "bills": "focus", "facts": "planted",
	}}},
}

// DemoAccounts returns the demo's clouds as they are when they are connected at a time: the time decides the day of the
// demo's change of the past.
func DemoAccounts(connected time.Time) []cloud.Account {
	out := make([]cloud.Account, len(demoAccounts))
	for i, a := range demoAccounts {
		out[i] = withPast(a.Account, changedOn(connected))
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

// Demo is the password of the demo login, and a running resource of the demo, with an empty UID if there is none.
type Demo struct {
	Password string
	DemoResource
}

// Demo makes the demo data where it is missing: a verified user, an organization, connected accounts of provider
// simulated, and the records that cost reports need. It makes them as any client does, over HTTP at base. If the demo
// user is refused, because of a second factor, single sign-on or a smaller role, the data stays as its users left it.
// DecideDemo adds decisions on recommendations later. From then on GET /healthz is ok, as soon as all accounts are
// discovered.
func (s *Service) Demo(ctx context.Context, base string) (Demo, error) {
	password, err := DemoPassword(s.dir)
	if err != nil {
		return Demo{}, err
	}
	if _, err := auth.EnsureVerifiedUser(ctx, s.Platform, DemoEmail, password, "Demo"); err != nil {
		return Demo{}, s.explainDemoPassword(err)
	}
	made := Demo{Password: password}
	c := NewClient(base)
	org, err := c.enter(ctx, password)
	if err != nil {
		err = fmt.Errorf("make the demo organization: %w", err)
	} else {
		made.DemoResource, err = s.fillDemo(ctx, c, org)
	}
	if e, ok := errors.AsType[*StatusError](err); ok && e.Status == http.StatusForbidden {
		org, err = "", nil
	}
	if err != nil {
		return Demo{}, err
	}
	s.demo.Store(&madeDemo{org})
	if org != "" {
		s.undecided.Store(&undecidedDemo{base})
	}
	return made, nil
}

// fillDemo makes the data of the demo's organization where it is missing, and returns a running resource.
func (s *Service) fillDemo(ctx context.Context, c *Client, org string) (DemoResource, error) {
	connected, err := c.connect(ctx, s.Platform.Clock.Now())
	if err != nil {
		return DemoResource{}, fmt.Errorf("connect the demo accounts: %w", err)
	}
	if err := s.awaitDiscovery(ctx, org); err != nil {
		return DemoResource{}, err
	}
	if err := s.seedCosts(ctx, c, org); err != nil {
		return DemoResource{}, fmt.Errorf("make what the demo's costs are of: %w", err)
	}
	if err := c.measure(ctx, connected); err != nil {
		return DemoResource{}, fmt.Errorf("collect the metrics of the demo: %w", err)
	}
	return c.oneRunning(ctx)
}

// measure discovers accounts once more, which collects their metrics of two weeks: the rules of recommendations read
// them. The schedule would do it within six hours.
func (c *Client) measure(ctx context.Context, accounts []string) error {
	for _, id := range accounts {
		err := c.Do(ctx, http.MethodPost, "/cloud-accounts/"+id+"/discover", nil, nil)
		if e, ok := errors.AsType[*StatusError](err); ok && e.Status == http.StatusConflict {
			continue // the schedule was faster
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// enter logs in as the demo user and returns the id of the organization. It makes an organization if the user has
// none.
func (c *Client) enter(ctx context.Context, password string) (string, error) {
	orgs, err := c.Login(ctx, DemoEmail, password, "")
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
	_, err = c.Login(ctx, DemoEmail, password, org)
	return org, err
}

// connect connects the demo's accounts, unless one is connected, and returns the ids of those that it connected. Their
// settings depend on the time.
func (c *Client) connect(ctx context.Context, now time.Time) (ids []string, err error) {
	var accounts struct {
		Total int `json:"total"`
	}
	if err := c.Do(ctx, http.MethodGet, "/cloud-accounts", nil, &accounts); err != nil || accounts.Total > 0 {
		return nil, err
	}
	for i, a := range DemoAccounts(now) {
		id, err := c.create(ctx, "/cloud-accounts", map[string]any{
			"provider": simulated.Name, "cloudAccountID": a.NativeID, "name": demoAccounts[i].name,
			"authMethod": simulated.AuthMethod, "permissionLevel": "read_write",
			"credentials": a.Credentials,
		})
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// The longest wait for the first discoveries, and the pause between two looks. A discovery of the demo takes less than
// a second on a quiet machine.
const (
	demoWait = 30 * time.Second
	demoLook = 250 * time.Millisecond
)

// awaitDiscovery waits until the demo's clouds have been discovered, for at most demoWait.
func (s *Service) awaitDiscovery(ctx context.Context, org string) error {
	for range demoWait / demoLook {
		if done, err := s.discovered(ctx, org); done || err != nil {
			return err
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
