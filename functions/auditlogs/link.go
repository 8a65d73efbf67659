package auditlogs

import (
	"context"
	"log/slog"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/foundation/fault"
)

// linkFor is how long a reader waits for entries to be linked. An organization's entries are linked at some hundred a
// second.
const linkFor = 8 * time.Second

// linkWaiting links the waiting entries of the organization, so that a reader finds all acknowledged changes. Entries
// that cannot be linked in time are read later: only the end of the log lags.
func (s *service) linkWaiting(ctx context.Context, org string) (audit.Linked, error) {
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
