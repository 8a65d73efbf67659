package auditlogs

import (
	"context"
	"log/slog"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/foundation/fault"
)

// linkFor is how long a reader waits for entries to be linked: of one organization, some hundred a second are.
const linkFor = 8 * time.Second

// link links what waits for the organization, so that whoever reads finds what was acknowledged before. What there is no time
// for, or what cannot be linked just now, is read later: only the end of the log lags.
func (s *service) link(ctx context.Context, org string) (audit.Linked, error) {
	at, until := audit.PlaceOf(org), s.p.Clock.Now().Add(linkFor)
	got, err := s.log.Link(ctx, at, func() bool { return s.p.Clock.Now().After(until) })
	if !fault.Is(err, fault.Unavailable) {
		return got, err
	}
	s.p.Log.WarnContext(ctx, "audit log is read without its last rows", slog.String("org", org),
		slog.String("error", err.Error()))
	got.Head, err = audit.ReadHead(ctx, s.p.Table, at)
	return got, err
}
