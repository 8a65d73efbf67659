package evaluation

import (
	"context"
	"slices"

	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// endOverrides ends the overrides whose time is over, and determines when the next one ends. An override that cannot
// be ended fails alone.
func (e *pass) endOverrides(ctx context.Context) {
	live, err := override.ReadLive(ctx, e.p.Table, e.org)
	if err != nil {
		e.broken = true
		e.errs = append(e.errs, err)
		return
	}
	expired := live.Expired(e.p.Clock.Now())
	for _, h := range expired {
		if !e.troubles.waits(overrideTrouble, h.ID, e.minute) {
			e.endExpired(ctx, h)
		}
	}
	listed := map[string]bool{}
	for _, h := range expired {
		listed[h.ID] = true
	}
	e.troubles = e.troubles.keep(overrideTrouble, func(id string) bool { return listed[id] })
	for _, h := range live.At(e.p.Clock.Now()) {
		if end := h.ExpiresAt.Unix() / 60; e.expiring == 0 || end < e.expiring {
			e.expiring = end
		}
	}
}

// endExpired ends one override. If another evaluator or a user changes it at the same moment, it is looked at again.
func (e *pass) endExpired(ctx context.Context, h override.Held) {
	err := recovered(func() error {
		_, err := e.EndOverride(ctx, e.org, h.ID, "")
		return err
	})
	if err == nil {
		e.done.Ended++
	}
	switch {
	case fault.Is(err, fault.NotFound):
		err = e.unlist(ctx, e.org, h.ID)
	case fault.Is(err, fault.Conflict):
		err = e.checkEnded(ctx, h.ID, err)
	}
	if err != nil {
		e.fail(ctx, trouble{Kind: overrideTrouble, ID: h.ID}, err)
		return
	}
	e.troubles = e.troubles.without(overrideTrouble, h.ID)
}

// checkEnded returns nil if another process has ended the override meanwhile, else the cause.
func (e *pass) checkEnded(ctx context.Context, overrideID string, cause error) error {
	live, err := override.ReadLive(ctx, e.p.Table, e.org)
	if err == nil && slices.ContainsFunc(live.Overrides, func(h override.Held) bool { return h.ID == overrideID }) {
		return cause
	}
	return err
}

// unlist removes an override without a record from the list of live overrides.
func (s *Store) unlist(ctx context.Context, org, overrideID string) error {
	return override.ChangeLive(ctx, s.p.Table, org, func(l override.Live) (override.Live, []table.Write, error) {
		return l.Without(overrideID), nil, nil
	})
}
