// Package ratelimit counts what may be done only so often: codes mailed to an address, invitations of an organization,
// registrations from a place. The count is exact however many processes count, because the store serializes the writes
// of an item.
package ratelimit

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Prefix begins the partition keys of counts.
const Prefix = "LIMIT#"

// Partition is of the counts, as functions declare it.
const Partition table.Partition = Prefix + "*"

// linger is how long a count outlives its window, for processes whose clocks are behind.
const linger = 10 * time.Minute

// countTime bounds the wait for the store; what is given up passes uncounted.
const countTime = 3 * time.Second

// Rule is how often something may be done: Max times in each window of length Per. Windows are fixed: they begin at
// multiples of Per, so that twice Max may pass around a border, and no more.
type Rule struct {
	Name string // of what is counted; no two rules share one
	Max  int64
	Per  time.Duration
}

// TakeUse counts one use of rule by who in the window of now, and reports whether there was one left. Who may be anything, of
// any length: only its hash is stored; pass an e-mail address as its identity.Digest, for a bare hash of one can be
// guessed.
//
// When the store throttles the counter, who is far above the limit: not ok. When it fails otherwise, the answer is ok
// with the error, which the caller logs: a broken counter does not stop the service.
func TakeUse(ctx context.Context, s table.Store, now time.Time, rule Rule, who string) (ok bool, err error) {
	if rule.Max < 1 || rule.Per <= 0 {
		return false, fmt.Errorf("limit %s: %d in %s is no rule", rule.Name, rule.Max, rule.Per)
	}
	w := CountWrite(now, rule, who)
	ctx, cancel := context.WithTimeout(table.Within(table.WithoutAttachment(ctx), w.Item.PK), countTime)
	defer cancel()
	_, err = s.Write(ctx, w)
	if _, full := errors.AsType[*table.ConditionError](err); full || errors.Is(err, table.ErrThrottled) {
		return false, nil
	}
	return true, fault.Wrap("count "+rule.Name, err)
}

// CountWrite returns the write behind Take, to be put into the transaction of what it limits, whose ctx must be allowed Prefix. Its
// condition does not hold when nothing is left.
func CountWrite(now time.Time, rule Rule, who string) table.Write {
	begin := now.Truncate(rule.Per)
	sum := sha256.Sum256([]byte(who))
	pk := Prefix + rule.Name + "#" + base64.RawURLEncoding.EncodeToString(sum[:]) + "#" +
		strconv.FormatInt(begin.Unix(), 10)
	return table.Update(table.Key{PK: pk, SK: "N"},
		[]table.Change{table.Add("n", 1), table.Expire(begin.Add(rule.Per + linger))},
		table.Any(table.Lacks("n"), table.Less("n", rule.Max)))
}

// ReturnUse gives back a use that Take counted at the time at, for something that turned out not to count: a log-in that
// succeeds, where failures are limited.
func ReturnUse(ctx context.Context, s table.Store, at time.Time, rule Rule, who string) error {
	k := CountWrite(at, rule, who).Item.Key
	ctx, cancel := context.WithTimeout(table.Within(table.WithoutAttachment(ctx), k.PK), countTime)
	defer cancel()
	_, err := s.Write(ctx, table.Update(k, []table.Change{table.Add("n", -1)}, table.Greater("n", 0)))
	if _, gone := errors.AsType[*table.ConditionError](err); gone {
		return nil
	}
	return fault.Wrap("give back "+rule.Name, err)
}
