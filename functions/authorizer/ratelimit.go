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
	maxRemembered = 10_000
	// below the time-out of the function; a request that reaches it passes uncounted, so it is long.
	countTimeout = 8 * time.Second
)

// orgRateLimit counts requests in one item for each organization and clock minute, by a conditional write. The store
// serializes the writes of an item, so the count is exact for any number of authorizers.
type orgRateLimit struct {
	*platform.Platform

	mu    sync.Mutex
	spent map[string]int64 // whose minute is known to be used up, and which: a count only grows, so this stays true
}

func newOrgRateLimit(p *platform.Platform) *orgRateLimit {
	return &orgRateLimit{Platform: p, spent: map[string]int64{}}
}

// takeOne uses up one request of who's current minute, and reports whether there was one. If the store throttles the
// counter, who is far above the limit. If it fails otherwise, the request passes: a failing counter must not stop the
// service.
func (m *orgRateLimit) takeOne(ctx context.Context, who string) bool {
	now := m.Clock.Now().Truncate(time.Minute)
	if m.isSpent(who, now.Unix()) {
		return false
	}
	err := m.countRequest(ctx, who, now)
	if _, full := errors.AsType[*table.ConditionError](err); full {
		m.rememberSpent(who, now.Unix())
		return false
	}
	if errors.Is(err, table.ErrThrottled) {
		return false
	}
	if err != nil {
		m.Log.ErrorContext(ctx, "the request counter fails: requests pass uncounted", "org", who, "error", err.Error())
	}
	return true
}

func (m *orgRateLimit) countRequest(ctx context.Context, who string, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	pk := "RATE#" + who + "#" + strconv.FormatInt(now.Unix()/60, 10)
	_, err := m.Table.Write(table.Within(ctx, pk), table.Update(table.Key{PK: pk, SK: "N"},
		[]table.Change{table.Add("n", 1), table.Expire(now.Add(10 * time.Minute))},
		table.Any(table.Lacks("n"), table.Less("n", perMinute))))
	return err
}

func (m *orgRateLimit) isSpent(who string, minute int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent[who] == minute && minute != 0
}

// rememberSpent records that a minute is used up. The record is bounded; a missing entry only costs a write.
func (m *orgRateLimit) rememberSpent(who string, minute int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.spent) >= maxRemembered {
		clear(m.spent)
	}
	m.spent[who] = minute
}
