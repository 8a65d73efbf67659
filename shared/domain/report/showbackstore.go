package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ShowbackPartition holds the rules of organizations.
const ShowbackPartition table.Partition = "ORG#*#SHOWBACK"

// The limits of an organization's rules. One question asks for all of their dimensions, and one item holds all rules.
const (
	MaxShowbackRules      = 100
	MaxShowbackDimensions = 5
	maxBytes              = 350_000
)

// SavedShowbackRule is a rule as it is stored.
type SavedShowbackRule struct {
	ID        string              `json:"id"` // sh_…
	Name      string              `json:"name"`
	Order     int                 `json:"order"`
	Selector  map[string][]string `json:"selector,omitempty"`
	Method    ShowbackMethod      `json:"split"`
	Shares    []ShowbackShare     `json:"shares"`
	From      time.Time           `json:"validFrom,omitzero"`
	To        time.Time           `json:"validTo,omitzero"`
	CreatedAt time.Time           `json:"createdAt"`
	UpdatedAt time.Time           `json:"updatedAt"`
}

// Rule returns the rule itself.
func (s *SavedShowbackRule) Rule() ShowbackRule {
	return ShowbackRule{
		ID: s.ID, Order: s.Order, Selector: s.Selector, Method: s.Method, Shares: s.Shares,
		From: s.From,
		To:   s.To,
	}
}

// ShowbackStore stores the rules of organizations.
type ShowbackStore struct{ table table.Store }

// NewShowbackStore returns a ShowbackStore.
func NewShowbackStore(t table.Store) ShowbackStore { return ShowbackStore{t} }

// book is all rules of an organization. They are read together, because the checks of names, number and dimensions
// need all of them.
type book struct {
	Version int64               `json:"version"`
	Rules   []SavedShowbackRule `json:"rules"`
}

func bookKey(org string) table.Key { return table.Key{PK: table.OrgPK(org) + "SHOWBACK", SK: "RULES"} }

// List returns the rules in the order of their evaluation, in one round trip.
func (s ShowbackStore) List(ctx context.Context, org string) ([]SavedShowbackRule, error) {
	b, err := s.read(ctx, org)
	return b.Rules, err
}

// UsesOfTeam returns the rules that give a team a share, in their order, and a write for the transaction that deletes
// the team. The write makes a concurrent change of the rules check the teams again. One round trip.
func (s ShowbackStore) UsesOfTeam(ctx context.Context, org, teamID string) ([]fault.Use, table.Write, error) {
	b, err := s.read(ctx, org)
	if err != nil {
		return nil, table.Write{}, err
	}
	var uses []fault.Use
	for i := range b.Rules {
		if slices.ContainsFunc(b.Rules[i].Shares, func(share ShowbackShare) bool { return share.TeamID == teamID }) {
			use := fault.Use{Kind: "showback rule", ID: b.Rules[i].ID, Name: b.Rules[i].Name, Policy: "showback:read"}
			uses = append(uses, use)
		}
	}
	unchanged := table.Equal("version", b.Version)
	if b.Version == 0 {
		unchanged = table.Absent()
	}
	return uses, table.Update(bookKey(org), []table.Change{table.Add("version", 1)}, unchanged), nil
}

// ListBeside returns the rules like List, and reads another item in the same round trip. ok is false if that item does
// not exist.
func (s ShowbackStore) ListBeside(ctx context.Context, org string, other table.Key) (rules []SavedShowbackRule,
	it table.Item, ok bool,
	err error,
) {
	found, err := s.table.BatchGet(ctx, bookKey(org), other)
	if err != nil {
		return nil, it, false, fmt.Errorf("read the showback rules of %s: %w", org, err)
	}
	it, ok = found[other]
	if saved, made := found[bookKey(org)]; made {
		b, err := table.Decode[book](saved)
		return b.Rules, it, ok, err
	}
	return nil, it, ok, nil
}

func (s ShowbackStore) read(ctx context.Context, org string) (book, error) {
	b, err := table.Read[book](ctx, s.table, bookKey(org))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return b, fmt.Errorf("read the showback rules of %s: %w", org, err)
	}
	return b, nil
}

// tries is the most attempts of a change that collides with other changes.
const tries = 8

// Change applies how to the rules of an organization; it may call how several times. It returns fault.Conflict if a
// name occurs twice, and fault.Invalid if the rules exceed a limit.
func (s ShowbackStore) Change(ctx context.Context, org string,
	how func([]SavedShowbackRule) ([]SavedShowbackRule, error),
) error {
	for range tries {
		b, err := s.read(ctx, org)
		if err != nil {
			return err
		}
		next := book{Version: b.Version + 1}
		if next.Rules, err = how(slices.Clone(b.Rules)); err != nil {
			return err
		}
		if err = next.check(); err != nil {
			return err
		}
		err = s.write(ctx, org, b.Version, next)
		if _, moved := errors.AsType[*table.ConditionError](err); !moved {
			return err
		}
	}
	return fault.New(fault.Conflict, "the showback rules are being changed by others; try again")
}

func (s ShowbackStore) write(ctx context.Context, org string, version int64, next book) error {
	slices.SortFunc(next.Rules, func(a, b SavedShowbackRule) int { return inOrder(a.Rule(), b.Rule()) })
	cond := table.Absent()
	if version > 0 {
		cond = table.Equal("version", version)
	}
	put, err := table.PutFields(bookKey(org), next, cond)
	if err != nil {
		return err
	}
	if _, err = s.table.Write(ctx, put); err != nil {
		return fmt.Errorf("write the showback rules of %s: %w", org, err)
	}
	return nil
}

// check returns an error if the rules exceed a limit or a name occurs twice.
func (b *book) check() error {
	if len(b.Rules) > MaxShowbackRules {
		return fault.New(fault.Invalid, "the organization has %d showback rules, which is the most; delete one first",
			MaxShowbackRules)
	}
	names := map[string]bool{}
	rules := make([]ShowbackRule, len(b.Rules))
	for i := range b.Rules {
		name := strings.ToLower(b.Rules[i].Name)
		if names[name] {
			return fault.New(fault.Conflict, "name: a showback rule named %.64q exists already; choose another name",
				b.Rules[i].Name)
		}
		names[name], rules[i] = true, b.Rules[i].Rule()
	}
	if dims := ShowbackDimensions(rules); len(dims) > MaxShowbackDimensions {
		return fault.New(fault.Invalid, "selector: the rules would name %d dimensions, %s; together they may name %d",
			len(dims), strings.Join(dims, ", "), MaxShowbackDimensions)
	}
	text, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encode showback rules: %w", err)
	}
	if len(text) > maxBytes {
		return fault.New(fault.Invalid,
			"the showback rules would take %d bytes together, at most %d are kept; name fewer values or teams",
			len(text), maxBytes)
	}
	return nil
}
