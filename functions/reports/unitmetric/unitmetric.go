// Package unitmetric stores the daily number of units (orders, users, requests) of an organization, for reports of
// cost per unit.
package unitmetric

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Partition holds the metrics of an organization and their values.
const Partition table.Partition = "ORG#*#UNIT"

// MaxMetrics is the most metrics of an organization.
const MaxMetrics = 50

// Metric is a countable unit, such as an order or a request.
type Metric struct {
	Name        string    `json:"name"` // a word in small letters
	Unit        string    `json:"unit"`
	Description string    `json:"description,omitempty"`
	CreatedAt   time.Time `json:"createdAt"`
}

// Store stores the unit metrics of organizations.
type Store struct{ table table.Store }

// NewStore returns a Store.
func NewStore(t table.Store) Store { return Store{t} }

const (
	metricPrefix = "M#" // M#<name>
	valuePrefix  = "V#" // V#<month>#<name>: a field dd for each day
)

func key(org, sk string) table.Key { return table.Key{PK: table.OrgPK(org) + "UNIT", SK: sk} }

// List returns the metrics ordered by name, in one round trip.
func (s Store) List(ctx context.Context, org string) ([]Metric, error) {
	all, _, err := table.ReadPage[Metric](ctx, s.table,
		table.Query{PK: key(org, "").PK, Prefix: metricPrefix, Limit: MaxMetrics + 1})
	return all, fault.Wrap("list unit metrics of "+org, err)
}

// Limited returns the metrics of an organization as a list of at most MaxMetrics.
func Limited(org string) table.LimitedList {
	return table.LimitedList{PK: key(org, "").PK, Noun: "unit metrics"}
}

// Create stores a metric together with the extra writes. It returns fault.Conflict if a metric has the same name.
func (s Store) Create(ctx context.Context, org string, m Metric, extra ...table.Write) error {
	put, err := table.PutFields(key(org, metricPrefix+m.Name), m, table.Absent())
	if err != nil {
		return err
	}
	err = s.table.Transact(ctx, append([]table.Write{put}, extra...)...)
	return table.ExplainLost(err, "write unit metric "+m.Name, func(*table.ConditionError) error {
		return fault.New(fault.Conflict, "name: a unit metric named %.64q exists already; choose another name", m.Name)
	})
}

// Get returns a metric, or fault.NotFound if it does not exist.
func (s Store) Get(ctx context.Context, org, name string) (Metric, error) {
	m, err := table.Read[Metric](ctx, s.table, key(org, metricPrefix+name))
	if fault.Is(err, fault.NotFound) {
		return m, fault.NewWithCause(fault.NotFound, err, "unit metric %.64q does not exist; create it with POST "+
			"/reports/unit-metrics", name)
	}
	return m, fault.Wrap("read unit metric "+name, err)
}

// Put sets the values of days and replaces earlier values. It is safe to call concurrently: the last write of a day
// remains. It writes one item for each month.
func (s Store) Put(ctx context.Context, org, name string, values map[time.Time]money.Amount) error {
	changes := map[cost.Month][]table.Change{}
	for at, v := range values {
		m := cost.MonthOf(at)
		changes[m] = append(changes[m], table.Set(at.Format("02"), v))
	}
	for m, c := range changes {
		k := key(org, valuePrefix+m.String()+"#"+name)
		if _, err := s.table.Write(ctx, table.Update(k, c)); err != nil {
			return fmt.Errorf("write %s of %s: %w", m, name, err)
		}
	}
	return nil
}

// Values returns the values of all metrics from the day from until before the day to, by name and day: one round trip
// for each megabyte.
func (s Store) Values(ctx context.Context, org string, from, to time.Time) (map[string]map[time.Time]money.Amount,
	error,
) {
	out := map[string]map[time.Time]money.Amount{}
	q := table.Query{
		PK: key(org, "").PK, From: valuePrefix + cost.MonthOf(from).String(),
		To: valuePrefix + cost.MonthOf(to.AddDate(0, 0, -1)).String() + "~", Limit: table.MaxPage,
	}
	for {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("read unit metrics of %s: %w", org, err)
		}
		for _, it := range page.Items {
			if err = take(out, it, from, to); err != nil {
				return nil, fmt.Errorf("read %s of %s: %w", it.SK, org, err)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out, nil
		}
	}
}

// take adds the days of a month that lie in the window.
func take(out map[string]map[time.Time]money.Amount, it table.Item, from, to time.Time) error {
	month, name, _ := strings.Cut(strings.TrimPrefix(it.SK, valuePrefix), "#")
	var days map[string]json.RawMessage
	if err := json.Unmarshal(it.Data, &days); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	for d, raw := range days {
		at, err := time.Parse("2006-01-02", month+"-"+d)
		if err != nil || at.Before(from) || !at.Before(to) {
			continue // not a day, or outside the window
		}
		var v money.Amount
		if err = json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("decode day %s: %w", d, err)
		}
		if out[name] == nil {
			out[name] = map[time.Time]money.Amount{}
		}
		out[name][at] = v
	}
	return nil
}
