package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// The decisions on recommendations that the demo shows, on planted waste of its last account: one is dismissed with a
// reason until a time, and one was dismissed for a moment, after which an evaluation has opened it again.
const (
	dismissedRule  = "aws-ec2-imdsv1"
	dismissedFor   = 90 * 24 * time.Hour
	dismissedText  = "Its agent reads the metadata without a token. The vendor's next release will not."
	reopenedRule   = "aws-rds-no-auto-minor"
	reopenedAfter  = time.Second
	reopenedText   = "After the release."
	reopenedMargin = 2 * reopenedAfter // until it is evaluated again
)

// undecidedDemo is the base address of a demo whose decisions are not made yet.
type undecidedDemo struct{ base string }

// DecideDemo makes the decisions of the demo, once its rules have been evaluated. It makes them as any client does. It
// does not touch a recommendation that somebody has decided on. It does nothing any more once they are made, or the
// demo login is refused.
func (s *Service) DecideDemo(ctx context.Context) error {
	due := s.undecided.Load()
	if due == nil {
		return nil
	}
	done, err := s.decideAt(ctx, due.base)
	if e, ok := errors.AsType[*StatusError](err); ok && (e.Status == http.StatusForbidden ||
		e.Status == http.StatusUnauthorized) {
		done, err = true, nil
	}
	if done {
		s.undecided.Store(nil)
	}
	return err
}

// decideAt makes the decisions at a base address. It returns false if the rules are not evaluated yet.
func (s *Service) decideAt(ctx context.Context, base string) (done bool, err error) {
	c, err := s.loginDemo(ctx, base)
	if err != nil || c == nil {
		return err == nil, err
	}
	found, err := c.plantedFindings(ctx, dismissedRule, reopenedRule)
	if err != nil || len(found) < 2 {
		return false, err
	}
	if _, err = c.dismissOnce(ctx, found[0], s.dismissal("intended", dismissedText, dismissedFor)); err != nil {
		return false, err
	}
	made, err := c.dismissOnce(ctx, found[1], s.dismissal("later", reopenedText, reopenedAfter))
	if err != nil || !made {
		return err == nil, err
	}
	if err = s.Platform.Clock.Sleep(ctx, reopenedMargin); err != nil {
		return false, err
	}
	return true, c.Do(ctx, http.MethodPost, "/recommendations/refresh", nil, nil)
}

// loginDemo returns a client of the demo user, or nil if the user has no organization any more.
func (s *Service) loginDemo(ctx context.Context, base string) (*Client, error) {
	password, err := DemoPassword(s.dir)
	if err != nil {
		return nil, err
	}
	c := NewClient(base)
	orgs, err := c.Login(ctx, DemoEmail, password, "")
	if err != nil || len(orgs) == 0 {
		return nil, fault.Wrap("decide in the demo", err)
	}
	return c, nil
}

// dismissal returns the request that dismisses a recommendation for a time.
func (s *Service) dismissal(reason, text string, wait time.Duration) map[string]any {
	return map[string]any{
		"status": "dismissed", "reason": reason, "text": text, "until": s.Platform.Clock.Now().Add(wait),
	}
}

// demoFinding is the part of a recommendation that the demo reads.
type demoFinding struct {
	ID      string `json:"id"`
	History []struct {
		To string `json:"to"`
	} `json:"history"`
}

// plantedFindings returns the recommendations of some rules in the last account of the demo, as far as there are any.
func (c *Client) plantedFindings(ctx context.Context, rules ...string) (out []demoFinding, err error) {
	account, err := c.lastDemoAccount(ctx)
	if err != nil || account.ID == "" {
		return nil, err
	}
	for _, id := range rules {
		query := url.Values{"cloud_account_id": {account.ID}, "search": {id}, "size": {"1"}}
		var found struct {
			Items []demoFinding `json:"items"`
		}
		err = c.Do(ctx, http.MethodGet, "/recommendations/resources?"+query.Encode(), nil, &found)
		if err != nil || len(found.Items) == 0 {
			return out, err
		}
		one := found.Items[0]
		if err = c.Do(ctx, http.MethodGet, "/recommendations/"+one.ID, nil, &one); err != nil {
			return out, err
		}
		out = append(out, one)
	}
	return out, nil
}

// connectedAccount is the part of a connected account that the demo reads.
type connectedAccount struct {
	ID             string    `json:"id"`
	CloudAccountID string    `json:"cloudAccountID"`
	CreatedAt      time.Time `json:"createdAt"`
}

// lastDemoAccount returns the last account of the demo, or one without an ID if it is not connected any more.
func (c *Client) lastDemoAccount(ctx context.Context) (connectedAccount, error) {
	var accounts struct {
		Items []connectedAccount `json:"items"`
	}
	if err := c.Do(ctx, http.MethodGet, "/cloud-accounts", nil, &accounts); err != nil {
		return connectedAccount{}, err
	}
	for _, a := range accounts.Items {
		if a.CloudAccountID == demoAccounts[len(demoAccounts)-1].NativeID {
			return a, nil
		}
	}
	return connectedAccount{}, nil
}

// dismissOnce dismisses a recommendation without earlier decisions, and reports whether it did.
func (c *Client) dismissOnce(ctx context.Context, one demoFinding, decision map[string]any) (bool, error) {
	if len(one.History) > 1 {
		return false, nil
	}
	if err := c.Do(ctx, http.MethodPatch, "/recommendations/"+one.ID, decision, nil); err != nil {
		return false, fmt.Errorf("dismiss a recommendation of the demo: %w", err)
	}
	return true, nil
}
