package anomaly

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
)

// Partition holds the anomalies of an organization, and its settings.
const Partition table.Partition = "ORG#*#ANOMALY"

// Keep is how long an anomaly is kept after its day.
const Keep = 90 * 24 * time.Hour

// Status is the status of an anomaly.
type Status string

// The statuses.
const (
	Open         Status = "open"
	Acknowledged Status = "acknowledged"
	Expected     Status = "expected" // a user knows the cause and accepts it
	Closed       Status = "closed"   // no longer an anomaly, after restated bills or changed settings
)

// Record is a stored anomaly. Each scope and day has at most one record, in any status.
type Record struct {
	ID           string        `json:"id"`
	Type         ScopeType     `json:"type"`
	ScopeID      string        `json:"scopeID"`
	Day          time.Time     `json:"day"`
	Cost         money.Amount  `json:"cost"`
	Baseline     money.Amount  `json:"baseline"`
	Severity     Severity      `json:"severity"`
	NewSpend     bool          `json:"newSpend,omitempty"`
	Continues    bool          `json:"continues,omitempty"`
	ExplainedBy  string        `json:"explainedBy,omitempty"` // the id of the anomaly of the same day that explains it
	Contributors []Contributor `json:"contributors,omitempty"`
	Within       []event.Scope `json:"within,omitempty"` // for a resource: its account, groups and teams on that day
	Status       Status        `json:"status"`
	Reason       string        `json:"reason,omitempty"`
	By           string        `json:"by,omitempty"` // the address of the user who judged it
	Told         []Severity    `json:"told,omitempty"`
	CreatedAt    time.Time     `json:"createdAt"`
	UpdatedAt    time.Time     `json:"updatedAt"`
	Change       int           `json:"change"` // number of changes; each change is conditioned on it
}

// Spike returns the numbers of an anomaly.
func (r *Record) Spike() Spike {
	return Spike{Cost: r.Cost, Baseline: r.Baseline, Severity: r.Severity, NewSpend: r.NewSpend}
}

// SeenIn reports whether a caller with these scopes and resources may see the anomaly. A caller with access to
// everything sees all anomalies; other callers see those of their own teams and resources, since the cost of a wider
// scope would reveal the costs of others.
func (r *Record) SeenIn(scopes grant.Scopes, resources inventory.ResourceSet) bool {
	return scopes.All || r.Type == Team && slices.Contains(scopes.Teams, r.ScopeID) || r.Type == Resource &&
		resources.HasUID(r.ScopeID)
}

// IDOf returns the id of the anomaly of an organization's scope and day. There is at most one.
func IDOf(org string, s Scope, day time.Time) string {
	return id.Derived("ano", day, org+"/"+string(s.Type)+"/"+s.ID)
}

// Key returns the key of an anomaly. The sort keys are ordered by day.
func Key(org, anomalyID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "ANOMALY", SK: anomalyID}
}

// Days returns the query for the anomalies of days, from a first day up to a last one, exclusive. A zero time is an
// open end.
func Days(org string, from, to time.Time) table.Query {
	q := table.Query{PK: Key(org, "").PK, From: "ano_", To: "ano_~"}
	if !from.IsZero() {
		q.From = id.LowestAt("ano", from)
	}
	if !to.IsZero() {
		q.To = id.LowestAt("ano", to)
	}
	return q
}

func settingsKey(org string) table.Key { return Key(org, "SETTINGS") }

// Store keeps the anomalies and the settings of organizations.
type Store struct{ table table.Store }

// NewStore returns the Store on t.
func NewStore(t table.Store) *Store { return &Store{t} }

// storedSettings are settings as they are kept.
type storedSettings struct {
	Gates
	FloorsUSD map[ScopeType]money.Amount `json:"floorsUSD"`
	Change    int                        `json:"change"` // number of changes; each change is conditioned on it
}

// ReadRules reads the rules of an organization: its settings and the smallest baseline. It takes one round trip.
func (s *Store) ReadRules(ctx context.Context, org string) (Rules, error) {
	rules := Rules{Settings: DefaultSettings()}
	chosen, meta := settingsKey(org), identity.OrganisationKey(org)
	got, err := s.table.BatchGet(ctx, chosen, meta)
	if err != nil {
		return rules, fmt.Errorf("read what anomalies of %s are judged by: %w", org, err)
	}
	if it, ok := got[chosen]; ok {
		stored, err := table.Decode[storedSettings](it)
		if err != nil {
			return rules, err
		}
		rules.Settings, rules.change = Settings{stored.Gates, stored.FloorsUSD}, stored.Change
	}
	var o identity.OrganisationRecord
	if it, ok := got[meta]; ok {
		if o, err = table.Decode[identity.OrganisationRecord](it); err != nil {
			return rules, err
		}
	}
	rules.MinUSD, err = money.Parse(o.Preferences().AnomalyMinUSD)
	return rules, fault.Wrap("read anomalyMinUSD of "+org, err)
}

// WriteSettings replaces the settings of an organization by the changed rules. It returns fault.Conflict if another
// process was faster.
func (s *Store) WriteSettings(ctx context.Context, org string, rules *Rules) error {
	it, err := table.NewItem(settingsKey(org), storedSettings{rules.Gates, rules.FloorsUSD, rules.change + 1})
	if err != nil {
		return err
	}
	cond := table.Equal("change", rules.change)
	if rules.change == 0 {
		cond = table.Absent()
	}
	_, err = s.table.Write(ctx, table.Put(it, cond))
	if _, faster := errors.AsType[*table.ConditionError](err); faster {
		return fault.New(fault.Conflict, "the settings were changed by someone else meanwhile; read them and try again")
	}
	return fault.Wrap("write the settings of anomalies", err)
}

// Read reads an anomaly, or fault.NotFound.
func (s *Store) Read(ctx context.Context, org, anomalyID string) (Record, error) {
	missing := fault.New(fault.NotFound, "anomaly %.64q does not exist", anomalyID)
	if !id.IsValid("ano", anomalyID) {
		return Record{}, missing
	}
	r, err := table.Read[Record](ctx, s.table, Key(org, anomalyID))
	if fault.Is(err, fault.NotFound) {
		return r, missing
	}
	return r, fault.Wrap("read anomaly "+anomalyID, err)
}

// ReadDays reads all anomalies of days, by id.
func (s *Store) ReadDays(ctx context.Context, org string, from, to time.Time) (map[string]Record, error) {
	q := Days(org, from, to)
	q.Limit = 1000
	out := map[string]Record{}
	for {
		page, next, err := table.ReadPage[Record](ctx, s.table, q)
		if err != nil {
			return nil, fmt.Errorf("read anomalies of %s: %w", org, err)
		}
		for _, r := range page {
			out[r.ID] = r
		}
		if q.Cursor = next; next == "" {
			return out, nil
		}
	}
}

// Replace replaces old, an anomaly as it was read, by next; for a new anomaly old is zero. If next.Told has one more
// severity than old, it also stores the event for that severity. Both are in one transaction. It returns next as it is
// stored, or fault.Conflict if another process was faster.
func (s *Store) Replace(ctx context.Context, org string, old, next Record) (Record, error) {
	next.Change = old.Change + 1
	cond := table.Equal("change", old.Change)
	if old.Change == 0 {
		cond = table.Absent()
	}
	it, err := table.NewItem(Key(org, next.ID), next)
	if err != nil {
		return next, err
	}
	it.Expires = next.Day.Add(Keep)
	ws := []table.Write{table.Put(it, cond)}
	for _, sev := range next.Told {
		if !slices.Contains(old.Told, sev) {
			w, err := newEvent(org, &next, sev)
			if err != nil {
				return next, err
			}
			ws = append(ws, w)
		}
	}
	err = s.table.Transact(ctx, ws...)
	if _, faster := errors.AsType[*table.ConditionError](err); faster {
		return next, fault.New(
			fault.Conflict, "anomaly %s was changed by someone else meanwhile; read it and try again", next.ID)
	}
	return next, fault.Wrap("write anomaly "+next.ID, err)
}

// EventKey returns the key of the event of a severity of a scope.
func EventKey(of ScopeType, s Severity) string {
	if of == Org {
		return "cost.anomaly." + string(s)
	}
	return "cost.anomaly." + string(of) + "." + string(s)
}

// Message is the data of an event of an anomaly.
type Message struct {
	AnomalyID    string        `json:"anomalyID"`
	Date         string        `json:"date"`
	CostUSD      string        `json:"costUSD"`
	BaselineUSD  string        `json:"baselineUSD"`
	Percent      string        `json:"percent"` // empty of new spend
	Severity     Severity      `json:"severity"`
	Contributors []Contributor `json:"contributors"`
}

func newEvent(org string, r *Record, sev Severity) (table.Write, error) {
	m := Message{
		AnomalyID: r.ID, Date: r.Day.Format(time.DateOnly), CostUSD: r.Cost.Fixed(2), BaselineUSD: r.Baseline.Fixed(2),
		Severity:     sev,
		Contributors: r.Contributors,
	}
	spike := r.Spike()
	if p, ok := spike.Percent(); ok {
		m.Percent = p.Fixed(1)
	}
	data, err := json.Marshal(m)
	if err != nil {
		return table.Write{}, fmt.Errorf("encode event of %s: %w", r.ID, err)
	}
	return event.Put(org, r.ID+"/"+string(sev), r.Day, event.Event{
		Key: EventKey(r.Type, sev), ScopeType: string(r.Type), ScopeID: r.ScopeID, At: r.UpdatedAt, Subject: r.ID,
		Data: data, Within: r.Within,
	})
}
