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
	reopenedRule   = "aws-rds-no-auto-minor"
	reopenedAfter  = time.Second
	reopenedMargin = 2 * reopenedAfter // until it is evaluated again
)

// undecidedDemo is the base address of a demo whose decisions are not made yet.
type undecidedDemo struct{ base string }

// DecideDemo makes the decisions of the demo, once its rules have been evaluated. It makes them as any client does, and
// leaves recommendations alone on which somebody has decided. Once they are made, or the demo login is refused, it does
// nothing any more.
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
	password, err := DemoPassword(s.dir)
	if err != nil {
		return false, err
	}
	c := NewClient(base)
	if orgs, err := c.Login(ctx, DemoEmail, password, ""); err != nil || len(orgs) == 0 {
		return err == nil, fault.Wrap("decide in the demo", err)
	}
	dismissed, err := c.plantedFinding(ctx, dismissedRule)
	if err != nil || dismissed.ID == "" {
		return false, err
	}
	reopened, err := c.plantedFinding(ctx, reopenedRule)
	if err != nil || reopened.ID == "" {
		return false, err
	}
	now := s.Platform.Clock.Now()
	if _, err = c.dismissOnce(ctx, dismissed, map[string]any{
		"status": "dismissed", "reason": "intended", "until": now.Add(dismissedFor),
		"text": "Its agent reads the metadata without a token. The vendor's next release will not.",
	}); err != nil {
		return false, err
	}
	made, err := c.dismissOnce(ctx, reopened, map[string]any{
		"status": "dismissed", "reason": "later", "until": now.Add(reopenedAfter), "text": "After the release.",
	})
	if err != nil || !made {
		return err == nil, err
	}
	if err = s.Platform.Clock.Sleep(ctx, reopenedMargin); err != nil {
		return false, err
	}
	return true, c.Do(ctx, http.MethodPost, "/recommendations/refresh", nil, nil)
}

// demoFinding is the part of a recommendation that the demo reads.
type demoFinding struct {
	ID      string `json:"id"`
	History []struct {
		To string `json:"to"`
	} `json:"history"`
}

// plantedFinding returns the recommendation of a rule in the last account of the demo; without an ID if there is none.
func (c *Client) plantedFinding(ctx context.Context, ruleID string) (demoFinding, error) {
	var accounts struct {
		Items []struct {
			ID             string `json:"id"`
			CloudAccountID string `json:"cloudAccountID"`
		} `json:"items"`
	}
	if err := c.Do(ctx, http.MethodGet, "/cloud-accounts", nil, &accounts); err != nil {
		return demoFinding{}, err
	}
	for _, a := range accounts.Items {
		if a.CloudAccountID == demoAccounts[len(demoAccounts)-1].NativeID {
			return c.findingOf(ctx, url.Values{"cloud_account_id": {a.ID}, "search": {ruleID}, "size": {"1"}})
		}
	}
	return demoFinding{}, nil
}

// findingOf reads the first recommendation of a list with its history; without an ID if the list is empty.
func (c *Client) findingOf(ctx context.Context, query url.Values) (one demoFinding, err error) {
	var found struct {
		Items []demoFinding `json:"items"`
	}
	err = c.Do(ctx, http.MethodGet, "/recommendations/resources?"+query.Encode(), nil, &found)
	if err != nil || len(found.Items) == 0 {
		return demoFinding{}, err
	}
	err = c.Do(ctx, http.MethodGet, "/recommendations/"+found.Items[0].ID, nil, &one)
	return one, err
}

// dismissOnce dismisses a recommendation on which nobody has decided, and reports whether it did.
func (c *Client) dismissOnce(ctx context.Context, one demoFinding, decision map[string]any) (bool, error) {
	if len(one.History) > 1 {
		return false, nil
	}
	if err := c.Do(ctx, http.MethodPatch, "/recommendations/"+one.ID, decision, nil); err != nil {
		return false, fmt.Errorf("dismiss a recommendation of the demo: %w", err)
	}
	return true, nil
}
