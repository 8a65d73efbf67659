package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/testkit/killpoint"
)

// Four events are delivered to a chat and to a webhook that is down at first. A message that was sent but not
// recorded is sent again with the same ID.
func TestKilledAtAnyStep_EverybodyIsTold(t *testing.T) {
	killpoint.LosesNothing(t, 50, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		f := newFixture(t, chat, hook)
		rows := f.happen(event.ResourceStarted, 4)
		mended := f.Clock.Now().Add(time.Minute)
		f.post.answer[hook.ID] = func(context.Context) (delivery.Answer, error) {
			if f.Clock.Now().Before(mended) {
				return delivery.Answer{}, down
			}
			return delivery.Answer{Status: 204}, nil
		}
		lives.Run(f.Context(), t, func(ctx context.Context, p *killpoint.Process) error {
			whole := f.Table
			f.Table = p.Store(whole)
			e := f.engine()
			f.Table = whole
			if failed := e.Deliver(ctx, rows); len(failed) > 0 {
				return failed[0].Err // the stream repeats the rows
			}
			for range 30 {
				if err := e.Round(ctx); err != nil {
					return err
				}
				f.Clock.Advance(10 * time.Second)
			}
			return nil
		})
		return f.told()
	})
}

// told returns the delivered events per receiver, the number of messages, and the log entries.
func (f *fixture) told() string {
	f.Helper()
	ids, lines := map[string]bool{}, map[string]bool{}
	for _, m := range f.post.sent {
		ids[m.ID] = true
		for _, e := range m.Events {
			lines[fmt.Sprintf("%s is told of %s", m.Target.ID, e.Subject)] = true
		}
	}
	statuses := map[delivery.Status]int{}
	for _, r := range f.log() {
		statuses[r.Status]++
	}
	var out []string
	for l := range lines {
		out = append(out, l)
	}
	slices.Sort(out)
	return fmt.Sprintf("%s\n%d messages, %v in the log, %d due", strings.Join(out, "\n"), len(ids), statuses, f.due())
}
