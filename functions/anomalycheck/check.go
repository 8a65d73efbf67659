package anomalycheck

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// check is the check of one organization.
type check struct {
	*round
	org     string
	now     time.Time
	periods []cost.Period
	rules   anomaly.Rules
	plans   []budgeting.Budget
	digest  string // of all inputs of the judgement
	last    state  // the state after the last judgement

	rulesErr error // why the anomaly settings could not be read; budgets are judged nevertheless
}

// state records the inputs of an organization's last judgement.
type state struct {
	Digest string    `json:"digest"`
	From   time.Time `json:"from,omitzero"` // the first day ever judged
}

func stateKey(org string) table.Key { return anomaly.Key(org, "CHECKED") }

// read reads the inputs of an organization's judgement. It returns nil if they have not changed since the last
// judgement, if there are no bills or the first are being imported, or if the organization has ended. Nearly every hour
// finds no change, so it looks for one with eventual consistency, at half the price. The next run finds a change that a
// replica does not have yet. The inputs of a judgement are then read consistently.
func (r *round) read(ctx context.Context, org string) (*check, error) {
	changed, err := r.readChanged(table.Eventually(ctx), org)
	if err != nil || changed == nil {
		return nil, err
	}
	return r.readChanged(ctx, org)
}

// readChanged reads the inputs for read.
func (r *round) readChanged(ctx context.Context, org string) (*check, error) {
	c := &check{round: r, org: org, now: r.Clock.Now()}
	got, err := r.Table.BatchGet(ctx, stateKey(org), identity.AccessKey(org))
	if err != nil {
		return nil, fmt.Errorf("read what was judged: %w", err)
	}
	var there bool
	if c.last, there, err = decode(got, org); err != nil || !there {
		return nil, err
	}
	if c.periods, err = r.costs.Periods(ctx, org); err != nil || len(c.periods) == 0 {
		return nil, err
	}
	c.rules, c.rulesErr = r.anomalies.ReadRules(ctx, org)
	if c.plans, err = r.budgets.List(ctx, org); err != nil {
		return nil, err
	}
	if c.digest, err = c.digestOf(); err != nil || c.digest == c.last.Digest {
		return nil, err
	}
	if waits, err := c.waits(ctx); err != nil || waits {
		return nil, err
	}
	return c, nil
}

// firstImport is the longest time for which the first import of an account's bills postpones the judgement.
const firstImport = 2 * time.Hour

// waits reports whether the first import of an account's bills is under way. It brings the newest month first, and the
// months to compare it with later.
func (c *check) waits(ctx context.Context) (bool, error) {
	entries, err := billimport.ListEntries(ctx, c.Table, c.org)
	for _, e := range entries {
		if e.IsSyncing(c.now) && len(e.MissingMonths(c.now)) > 0 && c.now.Sub(e.StartedAt) < firstImport {
			return true, err
		}
	}
	return false, err
}

// decode returns the state of the last judgement, and whether the organization is active. An organization that has
// ended or was erased is not.
func decode(got map[table.Key]table.Item, org string) (last state, there bool, err error) {
	it, there := got[identity.AccessKey(org)]
	if !there {
		return last, false, nil
	}
	access, err := table.Decode[identity.Access](it)
	if err != nil || access.Ended {
		return last, false, err
	}
	if it, ok := got[stateKey(org)]; ok {
		last, err = table.Decode[state](it)
	}
	return last, true, err
}

// digestOf returns a digest of the inputs of the judgement: the day, the bills, the settings and the budgets.
func (c *check) digestOf() (string, error) {
	type bill struct{ Account, Month, Generation string }
	bills := make([]bill, len(c.periods))
	for i, p := range c.periods {
		bills[i] = bill{p.AccountID, p.Month.String(), p.Generation}
	}
	b, err := json.Marshal(struct {
		Day      string
		Bills    []bill
		Settings anomaly.Settings
		Least    string
		Budgets  []budgeting.Budget
	}{c.now.UTC().Format(time.DateOnly), bills, c.rules.Settings, c.rules.MinUSD.String(), c.plans})
	if err != nil {
		return "", fmt.Errorf("encode what is judged: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// note stores the state of this judgement. If two runs store it at the same time, the next run judges once more, which
// changes nothing.
func (c *check) note(ctx context.Context) error {
	it, err := table.NewItem(stateKey(c.org), state{c.digest, c.last.From})
	if err != nil {
		return err
	}
	it.Expires = c.now.Add(anomaly.Keep)
	if _, err = c.Table.Write(ctx, table.Put(it)); err != nil {
		return fmt.Errorf("note what was judged: %w", err)
	}
	return nil
}

// judgeBudgets writes the events of budgets that have reached a threshold, and returns their number.
func (c *check) judgeBudgets(ctx context.Context) (events int, err error) {
	if len(c.plans) == 0 {
		return 0, nil
	}
	states, err := c.readStates(ctx)
	errs := []error{err}
	for _, st := range states {
		n, err := c.budgets.Tell(ctx, c.org, st, c.now)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		events += n
	}
	return events, errors.Join(errs...)
}

// readStates returns the states of the budgets. If they cannot be read together, it reads each budget separately, and
// the error names the unreadable budgets.
func (c *check) readStates(ctx context.Context) ([]budgeting.State, error) {
	states, err := budgeting.ReadStates(ctx, c.costs, c.org, c.plans, c.now)
	if err == nil || len(c.plans) == 1 {
		return states, err
	}
	var out []budgeting.State
	var errs []error
	for i := range c.plans {
		one, err := budgeting.ReadStates(ctx, c.costs, c.org, c.plans[i:i+1], c.now)
		out, errs = append(out, one...), append(errs, fault.Wrap("judge "+c.plans[i].String(), err))
	}
	return out, errors.Join(errs...)
}
