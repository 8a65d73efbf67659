package pricing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ProviderRegion identifies a price table by its provider and region.
type ProviderRegion struct{ Provider, Region string }

func (p ProviderRegion) String() string { return p.Provider + " in " + p.Region }

// Compare orders pairs by their names.
func (p ProviderRegion) Compare(other ProviderRegion) int {
	return strings.Compare(p.String(), other.String())
}

func (p ProviderRegion) pk() string { return Prefix + p.Provider + "#" + p.Region }

func (p ProviderRegion) headKey() table.Key { return table.Key{PK: p.pk(), SK: headSK} }

func (p ProviderRegion) partKey(slot, n int) table.Key {
	return table.Key{PK: p.pk(), SK: fmt.Sprintf("%d#%03d", slot, n)}
}

// listHead says which of two slots has the prices of a pair. The previous list stays in the other slot, so that its
// readers can continue.
type listHead struct {
	Slot      int       `json:"slot"`
	Parts     int       `json:"parts"`
	Version   string    `json:"version"`
	FetchedAt time.Time `json:"fetchedAt"`
	Prices    int       `json:"prices"`
	Before    string    `json:"before,omitempty"` // the version in the other slot
	Failed    string    `json:"failed,omitempty"` // why the last fetch brought nothing
	Change    int64     `json:"change"`           // number of changes of the row; each change is conditioned on it
}

// listPart is a piece of a packed list.
type listPart struct {
	Z []byte `json:"z"`
}

// partBytes is how many bytes of a packed list one item holds. Base64 adds a third, and an item takes 400,000 bytes.
const partBytes = 250_000

// maxPrices limits a list. The list of AWS's largest region has some 30,000 prices.
const maxPrices = 500_000

// fetchList asks the provider for the price table of a region. A list that breaks off or is empty is an error.
func (s *Store) fetchList(ctx context.Context, at ProviderRegion) (*Table, error) {
	from, ok := s.providers[at.Provider].(cloud.Pricer)
	if !ok {
		return nil, fault.New(fault.NotFound, "%s has no public prices", at.Provider)
	}
	t := &Table{Provider: at.Provider, Region: at.Region, FetchedAt: s.clock.Now()}
	version, err := from.Prices(ctx, at.Region, func(p cloud.Price) error {
		t.Add(p)
		if t.Len() > maxPrices {
			return fault.New(fault.Unavailable, "there are more than %d prices", maxPrices)
		}
		return nil
	})
	if err == nil && t.Len() == 0 {
		err = fault.New(fault.Unavailable, "the list is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("fetch the prices of %s: %w", at, err)
	}
	t.Version = version
	return t, nil
}

// RefreshPrices fetches the prices of a pair and replaces the stored ones. If anything fails, the stored prices stay,
// the failure is recorded, and estimates from them say that the prices are old.
func (s *Store) RefreshPrices(ctx context.Context, at ProviderRegion) error {
	ctx = table.Within(ctx, Prefix)
	h, err := s.readHead(ctx, at)
	if err != nil {
		return err
	}
	t, err := s.fetchList(ctx, at)
	if err != nil {
		failed := h
		failed.Failed = fault.Message(err)
		return errors.Join(err, s.swapHead(ctx, at, failed))
	}
	return s.keepList(ctx, at, h, t)
}

// fresh is how old a price list is when it is fetched again.
const fresh = 20 * time.Hour

// Refreshed counts the price lists of a refresh.
type Refreshed struct {
	Lists  int // fetched
	Failed int
	Off    int // not switched on by the operator
	Left   int // not reached in time
	// Missing are the pairs whose lists failed or were not reached.
	Missing []ProviderRegion
}

// RefreshDue fetches the price lists of pairs that were not fetched within the last 20 hours, until the time until. A
// list that fails does not prevent the others; its previous prices stay, and the errors of all lists are returned. It
// is idempotent: a second call fetches only the lists that are missing.
func (s *Store) RefreshDue(ctx context.Context, pairs []ProviderRegion, until time.Time) (Refreshed, error) {
	var did Refreshed
	var errs []error
	for _, at := range pairs {
		due, err := s.pricesDue(ctx, at)
		if err != nil {
			did.Missing, errs = append(did.Missing, at), append(errs, err)
		}
		if err != nil || !due {
			continue
		}
		if !s.clock.Now().Before(until) {
			did.Left, did.Missing = did.Left+1, append(did.Missing, at)
			continue
		}
		switch err = s.RefreshPrices(ctx, at); {
		case errors.Is(err, cloud.ErrPricesOff):
			did.Off++
			s.p.Log.WarnContext(ctx, "there are no prices", "of", at.String(), "error", err.Error())
		case err != nil:
			did.Failed, did.Missing = did.Failed+1, append(did.Missing, at)
			errs = append(errs, err)
		default:
			did.Lists++
		}
	}
	return did, errors.Join(errs...)
}

// pricesDue reports whether a provider has prices, and the last fetch of a pair is too long ago.
func (s *Store) pricesDue(ctx context.Context, at ProviderRegion) (bool, error) {
	if _, ok := s.providers[at.Provider].(cloud.Pricer); !ok {
		return false, nil
	}
	h, err := s.readHead(table.Within(ctx, Prefix), at)
	return err == nil && s.clock.Now().Sub(h.FetchedAt) >= fresh, err
}

func (s *Store) readHead(ctx context.Context, at ProviderRegion) (listHead, error) {
	h, err := table.Read[listHead](ctx, s.table, at.headKey())
	if fault.Is(err, fault.NotFound) {
		return listHead{Slot: 1}, nil
	}
	return h, err
}

// keepList writes a list into the unused slot, and then names it in the head.
func (s *Store) keepList(ctx context.Context, at ProviderRegion, h listHead, t *Table) error {
	packed, err := t.Pack()
	if err != nil {
		return err
	}
	next := listHead{
		Slot: 1 - h.Slot, Version: t.Version, FetchedAt: t.FetchedAt, Prices: t.Len(), Before: h.Version,
		Change: h.Change,
	}
	for ; len(packed) > 0; next.Parts++ {
		n := min(partBytes, len(packed))
		it, err := table.NewItem(at.partKey(next.Slot, next.Parts), listPart{packed[:n]})
		if err != nil {
			return err
		}
		if _, err = s.table.Write(ctx, table.Put(it)); err != nil {
			return fmt.Errorf("write the prices of %s: %w", at, err)
		}
		packed = packed[n:]
	}
	return s.swapHead(ctx, at, next)
}

// swapHead replaces the head of the same change. If another process was faster, it has fetched the same prices.
func (s *Store) swapHead(ctx context.Context, at ProviderRegion, h listHead) error {
	unchanged := table.Equal("change", h.Change)
	if h.Change == 0 {
		unchanged = table.Absent()
	}
	h.Change++
	it, err := table.NewItem(at.headKey(), h)
	if err != nil {
		return err
	}
	_, err = s.table.Write(ctx, table.Put(it, unchanged))
	if _, lost := errors.AsType[*table.ConditionError](err); lost {
		return nil
	}
	return fault.Wrap("write the head of the prices of "+at.String(), err)
}

// Tables returns the prices of pairs. It takes one round trip for all heads, and one for the lists that this process
// does not have. A pair without prices is missing, unless its provider knows its prices locally.
func (s *Store) Tables(ctx context.Context, pairs []ProviderRegion) (map[ProviderRegion]*Table, error) {
	tables, _, err := s.tablesOf(ctx, pairs)
	return tables, err
}

// tablesOf is Tables, and also counts the lists of providers with prices that were never fetched.
func (s *Store) tablesOf(ctx context.Context, pairs []ProviderRegion) (map[ProviderRegion]*Table, int, error) {
	ctx = table.Within(ctx, Prefix)
	keys := make([]table.Key, len(pairs))
	for i, at := range pairs {
		keys[i] = at.headKey()
	}
	heads, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, 0, fmt.Errorf("read which prices there are: %w", err)
	}
	out, unfetched := make(map[ProviderRegion]*Table, len(pairs)), 0
	for _, at := range pairs {
		head := heads[at.headKey()]
		if _, prices := s.providers[at.Provider].(cloud.Pricer); prices && head.Data == nil {
			unfetched++
		}
		t, err := s.tableOf(ctx, at, head)
		if err != nil {
			return nil, 0, err
		}
		if t != nil {
			out[at] = t
		}
	}
	return out, unfetched, nil
}

// tableOf returns the prices of a pair by its head, or nil.
func (s *Store) tableOf(ctx context.Context, at ProviderRegion, head table.Item) (*Table, error) {
	if head.Data == nil {
		return s.localTable(ctx, at)
	}
	h, err := table.Decode[listHead](head)
	if err != nil {
		return nil, err
	}
	if h.Version == "" { // no fetch has brought any yet
		return s.localTable(ctx, at)
	}
	if t := s.cached(at, h); t != nil {
		return t, nil
	}
	t, err := s.readList(ctx, at, h)
	if err == nil {
		s.cache(at, h, t)
	}
	return t, err
}

// localTable returns the prices of a provider that knows them locally, or nil for other providers.
func (s *Store) localTable(ctx context.Context, at ProviderRegion) (*Table, error) {
	if p, ok := s.providers[at.Provider].(cloud.LocalPricer); !ok || !p.PricesAreLocal() {
		return nil, nil //nolint:nilnil // there are none
	}
	return s.fetchList(ctx, at)
}

func (s *Store) readList(ctx context.Context, at ProviderRegion, h listHead) (*Table, error) {
	keys := make([]table.Key, h.Parts)
	for n := range keys {
		keys[n] = at.partKey(h.Slot, n)
	}
	got, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read the prices of %s: %w", at, err)
	}
	var packed bytes.Buffer
	for _, k := range keys {
		it, there := got[k]
		if !there {
			return nil, fault.New(fault.Unavailable, "the prices of %s are being replaced; try again", at)
		}
		p, err := table.Decode[listPart](it)
		if err != nil {
			return nil, err
		}
		packed.Write(p.Z)
	}
	t := &Table{Provider: at.Provider, Region: at.Region, Version: h.Version, FetchedAt: h.FetchedAt}
	if h.Failed != "" {
		t.Failed = h.Failed
	}
	return t, t.Unpack(packed.Bytes())
}
