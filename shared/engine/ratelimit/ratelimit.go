// Package ratelimit counts limited actions: codes mailed to an address, invitations of an organization, sign-ups from a
// network address. The count is exact for any number of processes, because the store serializes the writes of an item.
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

// Prefix is the prefix of the partition keys of counts.
const Prefix = "LIMIT#"

// Partition matches the partitions of counts.
const Partition table.Partition = Prefix + "*"

// linger is how long a count is kept after its window, for processes with slow clocks.
const linger = 10 * time.Minute

// countTime limits the wait for the store. A use that could not be counted in time is allowed.
const countTime = 3 * time.Second

// Rule limits an action: Max times in each window of length Per. Windows start at multiples of Per, so up to twice Max
// uses may occur around a border.
type Rule struct {
	Name string // name of the count; unique among rules
	Max  int64
	Per  time.Duration
}

// TakeUse counts a use of the rule by `who` in the window of now, and reports whether it was within the limit. `who`
// may be any text of any length: only its hash is stored. Pass an e-mail address as its identity.Digest, because the
// plain hash of an address can be guessed.
//
// If the store throttles the counter, the user is far above the limit and the result is false. If the store fails
// otherwise, the result is true with the error, which the caller logs: a broken counter must not stop the service.
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

// CountWrite returns the write of TakeUse for use in a transaction. The context of the transaction must allow Prefix.
// The condition of the write fails if the limit is reached.
func CountWrite(now time.Time, rule Rule, who string) table.Write {
	begin := now.Truncate(rule.Per)
	sum := sha256.Sum256([]byte(who))
	pk := Prefix + rule.Name + "#" + base64.RawURLEncoding.EncodeToString(sum[:]) + "#" +
		strconv.FormatInt(begin.Unix(), 10)
	return table.Update(table.Key{PK: pk, SK: "N"},
		[]table.Change{table.Add("n", 1), table.Expire(begin.Add(rule.Per + linger))},
		table.Any(table.Lacks("n"), table.Less("n", rule.Max)))
}

// ReturnUse gives back a use that TakeUse counted at the time at. It is for actions that turn out not to count, for
// example a successful log-in if only failures are limited.
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
