package integrations

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/foundation/fault"
)

// patience is the longest duration of a test, including all its requests.
const patience = 20 * time.Second

// IntegrationTest is the result of a test.
type IntegrationTest struct {
	ID      string    `json:"id"`
	Success bool      `json:"success"`
	Message string    `json:"message" doc:"The service's answer"`
	At      time.Time `json:"at"`
}

func (s *service) test(ctx context.Context, in *IntegrationInput) (IntegrationTest, error) {
	org := identity.CallerOrg(ctx)
	old, err := s.store.Read(ctx, org, in.IntegrationID)
	if err != nil {
		return IntegrationTest{}, err
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	said, failed := s.services.Test(asking, org, &old)
	if fault.Is(failed, fault.Internal) {
		return IntegrationTest{}, failed
	}
	next := old
	next.Status, next.Message, next.TestedAt = receiver.IntegrationConnected, said, s.p.Clock.Now()
	next.FailingAt, next.FailingWhy = time.Time{}, ""
	if failed != nil {
		next.Status, next.Message = receiver.IntegrationFailed, fault.Message(failed)
	}
	audit.NoteChange(ctx, audit.Change{Target: old.ID, Before: s.shown(ctx, old), After: s.shown(ctx, next)})
	if err = s.store.Update(ctx, org, &old, &next); err != nil {
		return IntegrationTest{}, err
	}
	return IntegrationTest{old.ID, failed == nil, next.Message, next.TestedAt}, nil
}
