package auditlogs

import (
	"context"
	"log/slog"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/audit/anchor"
	"lamplighter.dev/shared/api/identity"
)

// maxVerifyTime is how long one answer may read: the gateway waits 29 seconds, and the last page must be read, too.
const maxVerifyTime = 15 * time.Second

// anchorTime is how long an answer waits for the anchor.
const anchorTime = 4 * time.Second

type verifyInput struct {
	Cursor string `query:"cursor" maxLength:"128" doc:"next of the previous answer; default: the first row"`
}

// verifyChain verifies the chain and compares it with its anchor. A chain whose damage keeps entries from being linked
// is verified all the same: the answer tells where it breaks.
func (s *service) verifyChain(ctx context.Context, in *verifyInput) (audit.Verdict, error) {
	from, err := audit.ParseCursor(in.Cursor)
	if err != nil {
		return audit.Verdict{}, err
	}
	org := identity.CallerOrg(ctx)
	anchored, known := s.readAnchor(ctx, org)
	linked, linkErr := s.linkWaiting(ctx, org)
	until := s.p.Clock.Now().Add(maxVerifyTime)
	v, err := audit.VerifyAnchored(ctx, s.p.Table, audit.Verification{
		Place: audit.PlaceOf(org), From: from, Anchored: anchored,
		Enough: func(int64) bool { return s.p.Clock.Now().After(until) },
	})
	if err != nil {
		return v, err
	}
	if v.Waiting = int64(linked.Waiting); !known {
		v.Anchor = audit.UnavailableAnchor()
	}
	if linkErr != nil && v.Holds {
		return v, linkErr
	}
	return v, nil
}

// readAnchor asks for the anchor of the organization's chain; nil if it has none. known is false if the anchors cannot
// be read now.
func (s *service) readAnchor(ctx context.Context, org string) (anchored *audit.Anchored, known bool) {
	within, cancel := context.WithTimeout(ctx, anchorTime)
	defer cancel()
	var a anchor.Answer
	if err := s.p.Workers.Invoke(within, anchor.Worker, anchor.Question{Org: org}, &a); err != nil {
		s.p.Log.WarnContext(ctx, "the audit log is verified without its anchor", slog.String("org", org),
			slog.String("error", err.Error()))
		return nil, false
	}
	if a.Leaf == nil {
		return nil, true
	}
	return &audit.Anchored{
		Seq: a.Leaf.Seq, Hash: a.Leaf.Hash, At: a.Leaf.Anchored, Explained: a.Leaf.Explained(s.p.Settings.Epoch),
	}, true
}
