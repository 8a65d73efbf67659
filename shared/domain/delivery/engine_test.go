package delivery_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
)

func TestDeliver_TellsEachReceiverOnce(t *testing.T) {
	f := newFixture(t, chat, chat, hook)
	rows := f.happen(event.ResourceStarted, 1)
	for range 3 {
		f.deliver(rows)
	}
	f.rounds(2 * time.Minute)
	if f.post.count() != 2 || len(f.log()) != 2 || f.due() != 0 {
		t.Errorf("sent %d, on record %d, due %d", f.post.count(), len(f.log()), f.due())
	}
	for _, r := range f.log() {
		if r.Status != delivery.Delivered || r.DeliveredAt.IsZero() || len(r.Attempts) != 1 ||
			r.Attempts[0].Status != 200 || r.EventKey != event.ResourceStarted || !r.NextAttemptAt.IsZero() {
			t.Errorf("%+v", r)
		}
	}
}

// The ladder of contract.md, section 11: a receiver that is down for six hours, and one that is down for good.
func TestRound_TriesAlongTheLadder(t *testing.T) {
	for name, tt := range map[string]struct {
		downFor time.Duration
		want    delivery.Status
		tries   int
	}{
		"down for a minute":    {time.Minute, delivery.Delivered, 3},
		"down for six hours":   {6 * time.Hour, delivery.Delivered, 6},
		"down for eight hours": {8 * time.Hour, delivery.Parked, 6},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, chat)
			f.post.refuse(chat.ID, down)
			began := f.Clock.Now()
			f.deliver(f.happen(event.ResourceFailed, 1))
			f.rounds(tt.downFor)
			f.post.refuse(chat.ID, nil)
			f.rounds(8*time.Hour - tt.downFor)
			r := f.only()
			if r.Status != tt.want || len(r.Attempts) != tt.tries || f.due() != 0 {
				t.Fatalf("%s after %d tries, due %d: %+v", r.Status, len(r.Attempts), f.due(), r)
			}
			at := began
			for i, pause := range []time.Duration{
				0, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour,
				6 * time.Hour,
			}[:tt.tries] {
				at = at.Add(pause)
				if !r.Attempts[i].At.Equal(at) {
					t.Errorf("try %d was at %s, want %s", i+1, r.Attempts[i].At.Sub(began), at.Sub(began))
				}
			}
		})
	}
}

func TestRedeliver_BeginsANewLadder(t *testing.T) {
	f := newFixture(t, hook)
	f.post.refuse(hook.ID, down)
	f.deliver(f.happen(event.ResourceFailed, 1))
	f.rounds(8 * time.Hour)
	parked := f.only()
	if parked.Status != delivery.Parked {
		t.Fatalf("%+v", parked)
	}
	s := delivery.NewStore(f.Table, f.Clock)
	apitest.Value(s.Redeliver(f.In(org), org, parked.ID))(f)
	f.feed()
	if r := f.only(); r.Status != delivery.Retrying || r.Tries != 1 {
		t.Errorf("it is still down: %+v", r)
	}
	f.post.refuse(hook.ID, nil)
	f.rounds(time.Minute)
	if r := f.only(); r.Status != delivery.Delivered || f.post.count() != 1 || f.post.sent[0].ID != parked.ID {
		t.Errorf("%+v", r)
	}
	apitest.Value(s.Redeliver(f.In(org), org, parked.ID))(f) // a delivered delivery can be redelivered, too
	f.feed()
	if f.post.count() != 2 || f.due() != 0 {
		t.Errorf("sent %d times, due %d", f.post.count(), f.due())
	}
}

// feed passes all items of the feed to an engine.
func (f *fixture) feed() {
	f.Helper()
	f.deliver(apitest.Value(f.Table.Feed(f.Anywhere(), "", 1000))(f).Items)
}

// Each case is a pair of status and answer, with the resulting state of the delivery.
func TestDeliver_WhatBecomesOfATry(t *testing.T) {
	for name, tt := range map[string]struct {
		answer delivery.Answer
		err    error
		want   delivery.Status
		again  time.Duration
	}{
		"it is taken":          {delivery.Answer{Status: 204}, nil, delivery.Delivered, 0},
		"it cannot be reached": {delivery.Answer{}, down, delivery.Retrying, 30 * time.Second},
		"an error of ours": {
			delivery.Answer{},
			context.DeadlineExceeded, delivery.Retrying,
			30 * time.Second,
		},
		"it asks for five minutes": {
			delivery.Answer{Status: 429, RetryAfter: 5 * time.Minute},
			down,
			delivery.Retrying, 5 * time.Minute,
		},
		"it asks for less than the ladder": {
			delivery.Answer{Status: 429, RetryAfter: time.Second},
			down,
			delivery.Retrying, 30 * time.Second,
		},
		"it asks for a day": {
			delivery.Answer{Status: 429, RetryAfter: 24 * time.Hour},
			down,
			delivery.Retrying, time.Hour,
		},
		"it refuses the message": {
			delivery.Answer{Status: 400},
			fault.New(fault.Invalid, "malformed"),
			delivery.Parked, 0,
		},
		"it is gone":                        {delivery.Answer{Status: 410, Gone: true}, down, delivery.Parked, 0},
		"it is gone, and that was an error": {delivery.Answer{Status: 410, Gone: true}, nil, delivery.Parked, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, chat)
			f.post.answer[chat.ID] = func(context.Context) (delivery.Answer, error) { return tt.answer, tt.err }
			f.deliver(f.happen(event.ResourceFailed, 1))
			r := f.only()
			if r.Status != tt.want || len(r.Attempts) != 1 {
				t.Fatalf("%+v", r)
			}
			if tt.again > 0 && !r.NextAttemptAt.Equal(f.Clock.Now().Add(tt.again)) {
				t.Errorf("again at %s", r.NextAttemptAt.Sub(f.Clock.Now()))
			}
			if waits := f.due() > 0; waits != (tt.want == delivery.Retrying) {
				t.Errorf("due: %v", waits)
			}
		})
	}
}

func TestDeliver_ForgetsWhatIsForNobody(t *testing.T) {
	f := newFixture(t, chat)
	f.post.refuse(chat.ID, fault.New(fault.NotFound, "no such channel"))
	f.deliver(f.happen(event.ResourceFailed, 1))
	if n := len(f.log()); n != 0 || f.due() != 0 || len(f.health.said) != 0 {
		t.Errorf("%d on record, %d due, %v", n, f.due(), f.health.said)
	}
}

func TestDeliver_ASenderThatPanicsHarmsNobodyElse(t *testing.T) {
	f := newFixture(t, chat, hook)
	f.post.answer[chat.ID] = func(context.Context) (delivery.Answer, error) { panic("a defect") }
	f.deliver(f.happen(event.ResourceFailed, 1))
	got := map[delivery.Status]int{}
	for _, r := range f.log() {
		got[r.Status]++
	}
	f.Equal("statuses", got, map[delivery.Status]int{delivery.Delivered: 1, delivery.Retrying: 1})
}

func TestRound_AReceiverThatFailsIsReportedOnce(t *testing.T) {
	f := newFixture(t, hook)
	f.User("ada")
	f.Join(org, "ada", "owner")
	f.User("eve")
	f.Join(org, "eve", "viewer")
	f.post.refuse(hook.ID, fault.New(fault.Unavailable, "503\x00 <b>away</b>"))
	for range 3 {
		f.deliver(f.happen(event.ResourceFailed, 1))
		f.Clock.Advance(time.Minute)
	}
	f.rounds(9 * time.Hour)
	mails := f.Mails()
	if len(mails) != 1 || mails[0].Template != mail.ReceiverFailing || mails[0].To != "ada@example.com" ||
		mails[0].Data["name"] != "Ops <room>" {
		t.Errorf("%+v", mails)
	}
	if said := strings.Join(f.health.said, "; "); !strings.HasPrefix(said, "wh_1 failing true gone false") {
		t.Errorf("%s", said)
	}
	f.post.refuse(hook.ID, nil)
	f.deliver(f.happen(event.ResourceFailed, 1))
	f.rounds(10 * time.Minute)
	if said := f.health.said; said[len(said)-1] != "wh_1 failing false gone false" {
		t.Errorf("when it works again: %v", said)
	}
	f.post.refuse(hook.ID, down) // and fails again
	f.deliver(f.happen(event.ResourceFailed, 1))
	f.rounds(9 * time.Hour)
	if n := len(f.Mails()); n != 2 {
		t.Errorf("%d mails", n)
	}
}

func TestDeliver_WhoIsGoneIsReportedAtOnce(t *testing.T) {
	f := newFixture(t, chat)
	f.User("ada")
	f.Join(org, "ada", "owner")
	f.post.answer[chat.ID] = func(context.Context) (delivery.Answer, error) {
		return delivery.Answer{Status: 410, Gone: true}, down
	}
	f.deliver(f.happen(event.ResourceFailed, 3))
	f.Equal("mails", len(f.Mails()), 1)
	if said := f.health.said; len(said) == 0 || said[0] != "chan_1 failing true gone true" {
		t.Errorf("%v", said)
	}
}

// After ten failures in a row, the engine tries a receiver once in five minutes, for any number of waiting
// deliveries. When the receiver answers, all deliveries are sent.
func TestRound_AReceiverThatIsDownIsAskedNowAndThen(t *testing.T) {
	f := newFixture(t, hook)
	f.post.refuse(hook.ID, down)
	for range 40 {
		f.deliver(f.happen(event.ResourceFailed, 1))
		f.Clock.Advance(time.Second)
	}
	if n := len(f.post.tried); n != 10 {
		t.Fatalf("tried %d times", n)
	}
	f.rounds(time.Hour)
	if n := len(f.post.tried); n < 10+10 || n > 10+13 {
		t.Errorf("tried %d times within an hour", n)
	}
	f.post.refuse(hook.ID, nil)
	f.rounds(6*time.Hour + 15*time.Minute)
	if f.post.count() != 40 || f.due() != 0 {
		t.Errorf("%d of 40 arrived, %d due", f.post.count(), f.due())
	}
	for i, at := range f.post.tried[10:20] {
		if i > 0 && at.Sub(f.post.tried[9+i]) < 5*time.Minute {
			t.Errorf("asked again after %s", at.Sub(f.post.tried[9+i]))
		}
	}
}

func TestRound_WhatWaitsForAReceiverThatStaysDownIsParked(t *testing.T) {
	race.SkipRepetition(t)
	f := newFixture(t, hook)
	f.post.refuse(hook.ID, down)
	for range 40 {
		f.deliver(f.happen(event.ResourceFailed, 1))
		f.Clock.Advance(time.Second)
	}
	f.rounds(15 * time.Hour)
	for _, r := range f.log() {
		if r.Status != delivery.Parked || len(r.Attempts) == 0 {
			t.Errorf("%+v", r)
		}
	}
	if f.due() != 0 {
		t.Errorf("%d due", f.due())
	}
}

func TestDeliver_ManyEventsOfAKeyAreADigest(t *testing.T) {
	for name, tt := range map[string]struct {
		to    delivery.Target
		happy []int // batches of events, ten seconds apart
		want  string
	}{
		"one":                        {chat, []int{1}, "1"},
		"five at once":               {chat, []int{5}, "1 1 1 1 1"},
		"37 at once":                 {chat, []int{37}, "37"},
		"five one by one":            {chat, []int{1, 1, 1, 1, 1}, "1 1 1 1 1"},
		"six: the last waits":        {chat, []int{3, 2, 1}, "1 1 1 1 1 1"},
		"some, many, and one more":   {chat, []int{2, 20, 1}, "1 1 1 20"},
		"many and some":              {chat, []int{20, 1, 3}, "20 4"},
		"a webhook gets each":        {hook, []int{20, 1}, "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"},
		"more than a message holds":  {chat, []int{100}, "100"},
		"those of the next minute":   {chat, []int{1, 1, 1, 1, 1, 0, 1}, "1 1 1 1 1 1"},
		"so many of the next minute": {chat, []int{6, 0, 0, 0, 0, 0, 7}, "6 7"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, tt.to)
			var all []table.Item
			total := 0
			for _, n := range tt.happy {
				rows := f.happen(event.ResourceStarted, n)
				all, total = append(all, rows...), total+n
				f.deliver(rows)
				f.Clock.Advance(10 * time.Second)
			}
			f.rounds(2 * time.Minute)
			f.deliver(all) // and once more, in another order and all at once
			f.rounds(2 * time.Minute)
			var got []string
			told := map[string]int{}
			for _, m := range f.post.sent {
				got = append(got, strconv.Itoa(m.Total))
				if len(m.Events) != min(m.Total, delivery.MaxEvents) {
					t.Errorf("%d of %d events", len(m.Events), m.Total)
				}
				for _, e := range m.Events {
					told[e.ID]++
				}
			}
			f.Equal("messages", strings.Join(got, " "), tt.want)
			for e, n := range told {
				if n > 1 {
					t.Errorf("%s was told %d times", e, n)
				}
			}
			if f.due() != 0 {
				t.Errorf("%d due", f.due())
			}
		})
	}
}
