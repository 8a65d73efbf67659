package mailer

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
)

// ses takes 200 ms for a mail, and records when it accepted each.
type ses struct {
	clock clock.Clock
	mu    sync.Mutex
	took  map[string]time.Time
}

func (s *ses) Send(ctx context.Context, m mail.Message) error {
	err := s.clock.Sleep(ctx, 200*time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took[m.To] = s.clock.Now()
	return err
}

// peak returns the most mails that were accepted within one second of the clock.
func (s *ses) peak() int {
	seconds, most := map[int64]int{}, 0
	for _, at := range s.took {
		seconds[at.Add(-200*time.Millisecond).Unix()]++
		most = max(most, seconds[at.Add(-200*time.Millisecond).Unix()])
	}
	return most
}

// stream delivers items as Lambda does from one shard of a stream: in lanes by the hash of the partition key, each
// lane in order, in batches of up to 10. An invocation takes 20 ms in addition to its work. Failed items are delivered
// again.
func (f *fixture) stream(m *Mailer, lanes int, items []table.Item) {
	f.Helper()
	queues := make([][]table.Item, lanes)
	for _, it := range items {
		h := fnv.New32a()
		_, _ = h.Write([]byte(it.PK))
		lane := int(h.Sum32()) % lanes
		queues[lane] = append(queues[lane], it)
	}
	var g sync.WaitGroup
	for _, queue := range queues {
		g.Go(func() {
			for len(queue) > 0 {
				batch := queue[:min(10, len(queue))]
				_ = m.Clock.Sleep(f.Context(), 20*time.Millisecond)
				if failed := m.Deliver(f.Context(), batch); failed == nil {
					queue = queue[len(batch):]
				}
			}
		})
	}
	g.Wait()
}

// TestDeliver_ACodeBehindAThousandNotesLeavesWithinFiveSeconds is row 8: a code behind 1,000 reminders, of one
// organization or of 1,000, is sent within 5 s. The test uses as many lanes as Lambda has, and a single lane with the
// code at its end.
func TestDeliver_ACodeBehindAThousandNotesLeavesWithinFiveSeconds(t *testing.T) {
	for name, tt := range map[string]struct {
		lanes int
		org   string
	}{
		"ten lanes":                    {10, ""},
		"all of one organization":      {10, "org_1"},
		"one lane, behind all of them": {1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fixture{apitest.On(t, apitest.PlatformAt(t, clock.System{}))}
				for i := range 1000 {
					m := changed(fmt.Sprintf("%d@example.com", i))
					m.Org = tt.org
					f.queue(m)
				}
				f.queue(code("waits@example.com"))
				s := &ses{clock: f.Platform.Clock, took: map[string]time.Time{}}
				m, begin := New(f.Platform, s, DefaultRate), f.Platform.Clock.Now()
				f.stream(m, tt.lanes, f.feed())
				took := s.took["waits@example.com"].Sub(begin)
				t.Logf("the code left after %s, all were brought after %s", took, f.Platform.Clock.Now().Sub(begin))
				if took <= 0 || took > 5*time.Second {
					t.Errorf("the code left after %s", took)
				}
				for range 10 { // rounds take the rest
					_ = m.Clock.Sleep(f.Context(), time.Minute)
					f.Must(m.Round(f.Context()))
				}
				if len(s.took) != 1001 || len(f.waiting()) != 0 {
					t.Errorf("%d mails were sent", len(s.took))
				}
				if s.peak() > DefaultRate {
					t.Errorf("%d mails a second, allowed are %d", s.peak(), DefaultRate)
				}
			})
		})
	}
}
