package evaluator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/killpoint"
)

// moment is an act at a time, before the evaluator runs. Repeated after a kill, it may return fault.Conflict.
type moment struct {
	at time.Time
	do func(ctx context.Context, p *platform.Platform) error
}

// runMoments runs the moments from the next one on. Each process begins a minute after the one before was killed.
func (a *fixture) runMoments(t *testing.T, lives *killpoint.Lives, moments []moment) {
	t.Helper()
	next, lived := 0, 0
	lives.Run(a.In(ours), t, func(ctx context.Context, p *killpoint.Process) error {
		mine := p.Platform(a.Platform)
		if lived++; lived > 1 {
			a.Clock.Advance(time.Minute)
		}
		for ; next < len(moments); next++ {
			m := moments[next]
			if a.Clock.Now().Before(m.at) {
				a.Clock.Advance(m.at.Sub(a.Clock.Now()))
			}
			if err := m.do(ctx, mine); err != nil && !fault.Is(err, fault.Conflict) {
				return err
			}
			if _, err := EvaluateDue(ctx, mine); err != nil {
				return err
			}
		}
		return nil
	})
}

func nothing(context.Context, *platform.Platform) error { return nil }

// decided returns the evaluator's decisions and queued bulk actions, without IDs and with only the minutes of
// firings.
func (a *fixture) decided() string {
	a.Helper()
	var lines []string
	bulks := a.listBulks(ours)
	for _, b := range bulks {
		lines = append(lines, fmt.Sprintf("%s %v for %s", b.Type, a.targetsOf(ours, b), b.Plan.ChangedBy))
	}
	for _, e := range onlyFirings(apitest.Rows[evaluation.Entry](a.Fixture, evaluation.FiringPK(ours))) {
		lines = append(lines,
			fmt.Sprintf("%s %s at %s: %d acted, %v skipped", e.Kind, e.CronID, e.At.Format(time.RFC3339), e.Acted,
				e.Skips))
	}
	for _, o := range apitest.Rows[override.Override](a.Fixture, override.PK(ours)) {
		if o.Action != "" {
			lines = append(lines,
				fmt.Sprintf("override %s, ended %v, restored by %d", o.Action, !o.EndedAt.IsZero(), len(o.RestoredBy)))
		}
	}
	pending := apitest.Value(killpoint.Pending(a.In(ours), a.Table))(a)
	slices.Sort(lines)
	return fmt.Sprintf("%s\n%d of %d bulk actions pending, due again: %v", strings.Join(lines, "\n"), len(pending),
		len(bulks), a.countDue() > 0)
}

// A schedule is made, attached, and fires three times; its hints are its own.
func TestKilledAtAnyStep_FiringsLoseNothing(t *testing.T) {
	killpoint.LosesNothing(t, 50, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		a := newFixture(t)
		a.Workflow = apitest.Idle{}
		now := a.Clock.Now()
		sch := scheduling.Schedule{
			ID: id.New("sch", now), Name: "Hours", Timezone: "Europe/Berlin", Crons: newCrons(hours...), Enabled: true,
			Drift:     scheduling.ReportDrift,
			CreatedAt: now, UpdatedAt: now,
		}
		moments := []moment{{now, func(ctx context.Context, p *platform.Platform) error {
			_, err := scheduling.New(p).CreateSchedule(ctx, ours, sch)
			return err
		}}}
		for n := range 3 {
			moments = append(moments, moment{now, func(ctx context.Context, p *platform.Platform) error {
				return scheduling.New(p).Attach(ctx, ours, scheduling.Attachment{
					ScheduleID: sch.ID, ResourceID: a.ids[ours][n], CloudAccountID: inventorytest.Account,
					CreatedAt: now,
				})
			}})
		}
		for _, end := range []time.Time{
			atTime(1, 8, 0), atTime(1, 8, 10), atTime(1, 19, 0), atTime(2, 8, 0),
			atTime(2, 8, 10),
		} {
			moments = append(moments, moment{end, nothing})
		}
		a.runMoments(t, lives, moments)
		return a.decided()
	})
}

// One override begins on a resource and ends by itself, another is ended by hand, and a third belongs to a wake link.
func TestKilledAtAnyStep_OverridesLoseNothing(t *testing.T) {
	killpoint.LosesNothing(t, 50, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		a := newFixture(t)
		a.Workflow = apitest.Idle{}
		a.newSchedule(func(s *scheduling.Schedule) { s.Name = "Hours" }, hours, 0, 1, 2)
		now := atTime(1, 9, 0)
		begin := func(o *override.Override) moment {
			return moment{now, func(ctx context.Context, p *platform.Platform) error {
				return a.beginOverride(ctx, p, o, now)
			}}
		}
		off := &override.Override{
			Action: override.ForceOff, ResourceID: a.ids[ours][0], ResourceUID: "i-0",
			ExpiresAt: atTime(1, 12, 0),
		}
		byHand := &override.Override{
			Action: override.ForceOff, ResourceID: a.ids[ours][1], ResourceUID: "i-1",
			ExpiresAt: atTime(2, 12, 0),
		}
		woken := &override.Override{
			Action: override.ForceOn, ResourceID: a.ids[ours][2], ResourceUID: "i-2",
			ExpiresAt: atTime(1, 21, 0), WakeLinkID: "wake_1",
		}
		a.runMoments(t, lives, []moment{
			{atTime(1, 8, 0), nothing},
			begin(off),
			begin(byHand),
			begin(woken),
			{atTime(1, 10, 0), func(ctx context.Context, p *platform.Platform) error {
				_, err := evaluation.New(p).EndOverride(ctx, ours, byHand.ID, "ada@example.com")
				return err
			}},
			{atTime(1, 12, 0), nothing},
			{atTime(1, 12, 5), nothing},
			{atTime(1, 19, 0), nothing},
			{atTime(1, 19, 5), nothing},
			{atTime(1, 21, 0), nothing},
			{atTime(1, 21, 5), nothing},
		})
		return a.decided()
	})
}

// beginOverride begins an override. Each try uses the same ID.
func (a *fixture) beginOverride(ctx context.Context, p *platform.Platform, o *override.Override, at time.Time) error {
	store := evaluation.New(p)
	t, err := store.ResourceTarget(ctx, ours, o.ResourceID)
	if err != nil {
		return err
	}
	if o.ID == "" {
		o.ID, o.CreatedAt = override.NewID(at), at
	}
	_, err = store.BeginOverride(ctx, ours, *o, t)
	return err
}

// The last restore of an event ends a hold, and the evaluator makes the stops that the event has delayed.
func TestKilledAtAnyStep_EndsOfEventsLoseNothing(t *testing.T) {
	killpoint.LosesNothing(t, 50, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		a := newFixture(t)
		a.Workflow = apitest.Idle{}
		a.newSchedule(func(s *scheduling.Schedule) { s.Name = "Hours" }, hours, 0, 1)
		a.runUntil(atTime(1, 8, 0))
		a.holdForEvent(atTime(1, 23, 0), 0)
		a.Clock.Advance(atTime(1, 19, 5).Sub(a.Clock.Now()))
		a.runEvaluator()
		a.Clock.Advance(atTime(1, 23, 0).Sub(a.Clock.Now()))
		a.endEvent(0)
		a.runMoments(t, lives, []moment{{atTime(1, 23, 1), nothing}, {atTime(1, 23, 5), nothing}})
		return a.decided()
	})
}
