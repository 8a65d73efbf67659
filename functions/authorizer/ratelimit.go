package authorizer

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
)

const (
	perMinute     = 100 // requests of an organization in a clock minute
	perUserMinute = 300 // requests of a user in a clock minute, over all organizations
	maxRemembered = 10_000
	// below the time-out of the function; a request that reaches it passes uncounted, so it is long.
	countTimeout = 8 * time.Second
	// allPrefix separates the count of a user over all organizations from the user's count outside of them.
	allPrefix = "ALL#"
)

// limit is how many requests `who` has in a clock minute: an organization, or a user.
type limit struct {
	who string
	max int
}

// requestLimit counts requests in one item for each limit and clock minute, by a conditional write. The store
// serializes the writes of an item, so the count is exact for any number of authorizers.
type requestLimit struct {
	*platform.Platform

	mu    sync.Mutex
	spent map[string]int64 // whose minute is known to be used up, and which: a count only grows, so this stays true
}

func newRequestLimit(p *platform.Platform) *requestLimit {
	return &requestLimit{Platform: p, spent: map[string]int64{}}
}

// takeOne uses up one request of the current minute of each limit, and reports whether each had one. A minute that is
// known to be used up takes nothing from the others. The counts are written at the same time, so a second one takes no
// more time. They are no transaction: one transaction on the item of an organization would delay its other requests.
func (m *requestLimit) takeOne(ctx context.Context, limits ...limit) bool {
	now := m.Clock.Now().Truncate(time.Minute)
	for _, l := range limits {
		if m.isSpent(l.who, now.Unix()) {
			return false
		}
	}
	if len(limits) == 1 {
		return m.takeOf(ctx, limits[0], now)
	}
	var wg sync.WaitGroup
	passed := make([]bool, len(limits))
	for i, l := range limits {
		wg.Go(func() { passed[i] = m.takeOf(ctx, l, now) })
	}
	wg.Wait()
	for _, ok := range passed {
		if !ok {
			return false
		}
	}
	return true
}

// takeOf uses up one request of a limit. If the store throttles the counter, the requests are far above the limit. If
// it fails otherwise, the request passes: a failing counter must not stop the service.
func (m *requestLimit) takeOf(ctx context.Context, l limit, now time.Time) bool {
	err := m.countRequest(ctx, l, now)
	if _, full := errors.AsType[*table.ConditionError](err); full {
		m.rememberSpent(l.who, now.Unix())
		return false
	}
	if errors.Is(err, table.ErrThrottled) {
		return false
	}
	if err != nil {
		m.Log.ErrorContext(ctx, "the request counter fails: requests pass uncounted", "of", l.who, "error",
			err.Error())
	}
	return true
}

// countRequest counts a request. It counts again if the reply was lost: a request counted twice costs the caller one
// request of the minute, but one that is not counted passes above the limit.
func (m *requestLimit) countRequest(ctx context.Context, l limit, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	err := m.addOne(ctx, l, now)
	if errors.Is(err, table.ErrLost) {
		m.Log.WarnContext(ctx, "the reply of the request counter was lost: the request is counted again", "of", l.who)
		err = m.addOne(ctx, l, now)
	}
	return err
}

func (m *requestLimit) addOne(ctx context.Context, l limit, now time.Time) error {
	pk := "RATE#" + l.who + "#" + strconv.FormatInt(now.Unix()/60, 10)
	_, err := m.Table.Write(table.Within(ctx, pk), table.Update(table.Key{PK: pk, SK: "N"},
		[]table.Change{table.Add("n", 1), table.Expire(now.Add(10 * time.Minute))},
		table.Any(table.Lacks("n"), table.Less("n", l.max))))
	return err
}

func (m *requestLimit) isSpent(who string, minute int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent[who] == minute && minute != 0
}

// rememberSpent records that a minute is used up. The record is bounded; a missing entry only costs a write.
func (m *requestLimit) rememberSpent(who string, minute int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.spent) >= maxRemembered {
		clear(m.spent)
	}
	m.spent[who] = minute
}
