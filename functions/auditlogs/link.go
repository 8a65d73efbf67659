package auditlogs

import (
	"context"
	"log/slog"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/attempts"
)

// linkFor is how long a reader waits for entries to be linked. An organization's entries are linked at some hundred a
// second.
const linkFor = 8 * time.Second

// tellFor is how long a reader waits for the attempts on credentials of the organization's members to become entries.
const tellFor = 2 * time.Second

// tellAttempts turns the counts of refused log-ins, codes and tokens into entries, so that a reader finds them. What
// cannot be told in time, or fails, the worker tells within a minute.
func (s *service) tellAttempts(ctx context.Context, org string) {
	until := s.p.Clock.Now().Add(tellFor)
	err := attempts.New(s.p).TellOrganisation(ctx, org, func() bool { return s.p.Clock.Now().After(until) })
	if err != nil {
		s.p.Log.WarnContext(ctx, "audit log is read without its last attempts", slog.String("org", org),
			slog.String("error", err.Error()))
	}
}

// linkWaiting links the waiting entries of the organization, so that a reader finds all acknowledged changes. Entries
// that cannot be linked in time are read later: only the end of the log lags.
func (s *service) linkWaiting(ctx context.Context, org string) (audit.Linked, error) {
	s.tellAttempts(ctx, org)
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
