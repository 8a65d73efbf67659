package measurement

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// Candidate is a resource of which a rule is true by hourly points, and must be confirmed in points of 5 minutes.
type Candidate struct {
	UID     string   `json:"uid"`
	Type    string   `json:"type"`
	Region  string   `json:"region"`
	Metrics []string `json:"metrics"` // their names
}

// MaxCandidates is how many candidates of an account one shard of its resources asks for at a time.
const MaxCandidates = 50

// CandidateShards is the number of shards of resources that ask for confirmation.
const CandidateShards = 16

// keptCandidates is how long candidates wait for their confirmation. A pass asks for them every day.
const keptCandidates = 3 * 24 * time.Hour

type candidates struct {
	All []Candidate `json:"all"`
}

func candidatesKey(org, accountID string, shard int) table.Key {
	return table.Key{PK: PKs(org)[shard], SK: "CANDIDATES#" + accountID}
}

// AskFor asks the next discovery of an account to confirm the candidates of a shard of its resources: at most
// MaxCandidates. Those of an account that was never measured are forgotten.
func (s *Store) AskFor(ctx context.Context, org, accountID string, shard int, all []Candidate) error {
	all = all[:min(len(all), MaxCandidates)]
	it, err := table.NewItem(candidatesKey(org, accountID, shard), candidates{all})
	if err != nil {
		return err
	}
	it.Expires = s.clock.Now().Add(keptCandidates)
	if err = s.table.BatchWrite(ctx, table.Put(it)); err != nil {
		return fmt.Errorf("note %d candidates of %s: %w", len(all), accountID, err)
	}
	_, err = s.table.Write(ctx, table.Update(collectionKey(org, accountID), []table.Change{
		table.Set("candidates", true),
	}, table.Exists()))
	if _, never := errors.AsType[*table.ConditionError](err); never {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask for the confirmation of candidates of %s: %w", accountID, err)
	}
	return nil
}

// Candidates returns the candidates of an account. It takes one round trip.
func (s *Store) Candidates(ctx context.Context, org, accountID string) ([]Candidate, error) {
	keys := make([]table.Key, CandidateShards)
	for i := range keys {
		keys[i] = candidatesKey(org, accountID, i)
	}
	items, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read the candidates of %s: %w", accountID, err)
	}
	var out []Candidate
	for _, k := range keys {
		it, there := items[k]
		if !there {
			continue
		}
		one, err := table.Decode[candidates](it)
		if err != nil {
			return nil, err
		}
		out = append(out, one.All...)
	}
	return out, nil
}

// Confirmed are the metrics of a resource that were computed from points of 5 minutes. A metric with too few points is
// not in Values.
type Confirmed struct {
	UID    string             `json:"uid"`
	Values map[string]float64 `json:"values"` // by name, in the metric's unit
	Day    string             `json:"day"`    // the last day of the window
}

// FreshFor is how many days a confirmation holds.
const FreshFor = 7

// confirmedMark stands in the sort keys of confirmations in place of a day, after all days.
const confirmedMark = "FINE"

type confirmations struct {
	All []Confirmed `json:"all"`
}

// Confirm stores confirmations of an account's resources, and notes that its candidates were looked at.
func (s *Store) Confirm(ctx context.Context, org, accountID string, c Collection, all []Confirmed) error {
	byShard := map[int][]Confirmed{}
	for _, one := range all {
		n := table.ShardOf(one.UID, shards)
		byShard[n] = append(byShard[n], one)
	}
	now := s.clock.Now()
	var ws []table.Write
	for n, part := range byShard {
		it, err := table.NewItem(table.Key{
			PK: PKs(org)[n], SK: accountID + "#" + confirmedMark + "#" + now.UTC().Format(time.RFC3339),
		}, confirmations{part})
		if err != nil {
			return err
		}
		it.Expires = now.AddDate(0, 0, FreshFor+1)
		ws = append(ws, table.Put(it))
	}
	if err := table.NewPatientStore(s.table).BatchWrite(ctx, ws...); err != nil {
		return fmt.Errorf("write %d confirmations of %s: %w", len(all), accountID, err)
	}
	c.Candidates, c.ConfirmedAt = false, now
	return s.NoteCollection(ctx, org, accountID, c)
}
