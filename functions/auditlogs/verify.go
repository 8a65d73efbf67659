package auditlogs

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
)

// maxVerifyTime is how long one answer may read: the gateway waits 29 seconds, and the last page must be read, too.
const maxVerifyTime = 20 * time.Second

type verifyInput struct {
	Cursor string `query:"cursor" maxLength:"128" doc:"next of the previous answer; default: the first row"`
}

func (s *service) verifyChain(ctx context.Context, in *verifyInput) (audit.Verdict, error) {
	from, err := audit.ParseCursor(in.Cursor)
	if err != nil {
		return audit.Verdict{}, err
	}
	org := identity.CallerOrg(ctx)
	linked, err := s.linkWaiting(ctx, org)
	if err != nil {
		return audit.Verdict{}, err
	}
	until := s.p.Clock.Now().Add(maxVerifyTime)
	v, err := audit.VerifyChain(ctx, s.p.Table, audit.PlaceOf(org), from, func(int64) bool {
		return s.p.Clock.Now().After(until)
	})
	v.Waiting = int64(linked.Waiting)
	return v, err
}
