package readiness_test

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/fault"
)

func TestPlan_TimesAreMomentsAlsoWhereTheClocksChange(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		start, end time.Time
		up, down   string
	}{
		"in spring the night is an hour shorter": {
			time.Date(2026, 3, 29, 3, 10, 0, 0, berlin), time.Date(2026, 3, 29, 5, 0, 0, 0, berlin),
			"2026-03-29T01:40:00+01:00", "2026-03-29T05:30:00+02:00",
		},
		"in autumn two o'clock comes twice": {
			time.Date(2026, 10, 25, 3, 10, 0, 0, berlin), time.Date(2026, 10, 25, 6, 0, 0, 0, berlin),
			"2026-10-25T02:40:00+01:00", "2026-10-25T06:30:00+01:00",
		},
		"across the change in autumn": {
			time.Date(2026, 10, 24, 20, 0, 0, 0, berlin), time.Date(2026, 10, 25, 4, 0, 0, 0, berlin),
			"2026-10-24T19:30:00+02:00", "2026-10-25T04:30:00+01:00",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := readiness.Plan{
				EventStart: c.start.UTC(), EventEnd: c.end.UTC(), PreScaleMinutes: 30,
				PostEventMinutes: 30, Timezone: "Europe/Berlin",
			}
			if up, down := readiness.InZone(p.ScaleUpAt(), p.Timezone),
				readiness.InZone(p.ScaleDownAt(), p.Timezone); up != c.up || down != c.down {
				t.Errorf("from %s to %s", up, down)
			}
			if p.EventStart.Sub(p.ScaleUpAt()) != 30*time.Minute || p.ScaleDownAt().Sub(p.EventEnd) != 30*time.Minute {
				t.Error("half an hour is not half an hour")
			}
		})
	}
}

func TestPlan_TimesThatContradictEachOtherAreRefusedByField(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		start, end time.Time
		says       string
	}{
		"a start in the past": {
			now.Add(-time.Second), now.Add(time.Hour),
			"eventStart: 2026-11-22T12:59:59+01:00 is not after now",
		},
		"a start that is now": {now, now.Add(time.Hour), "eventStart: "},
		"an end before the start": {
			now.Add(2 * time.Hour), now.Add(time.Hour),
			"eventEnd: 2026-11-22T14:00:00+01:00 is not after eventStart",
		},
		"an end at the start": {now.Add(time.Hour), now.Add(time.Hour), "eventEnd: "},
		"a window of more than a month": {
			now.Add(time.Hour), now.AddDate(0, 0, 33),
			"more than 31 days after eventStart",
		},
		"one that ends farther than waiting": {now.AddDate(1, 0, 0), now.AddDate(1, 0, 1), "more than 330 days ahead"},
	} {
		t.Run(name, func(t *testing.T) {
			p := readiness.Plan{
				EventStart: c.start, EventEnd: c.end, PreScaleMinutes: 30, PostEventMinutes: 30,
				Timezone: "Europe/Berlin",
			}
			if err := p.CheckTimes(now); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
		})
	}
	good := readiness.Plan{
		EventStart: now.Add(time.Minute), EventEnd: now.Add(time.Hour), PreScaleMinutes: 30,
		Timezone: "Europe/Berlin",
	}
	if err := good.CheckTimes(now); err != nil {
		t.Errorf("an event that begins before its scaling up could: %v", err)
	}
}
