package measurement

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
)

// maxItem bounds the compressed bytes of an item: base64 makes a third more of them, and an item holds 400,000.
const maxItem = 250_000

// packed is the stored form of series.
type packed struct {
	Z []byte `json:"z"`
}

// WriteDay stores the series of a part of an account's resources on a day. It replaces the stored series of the same
// part. Parts are numbered from 0, and contain whole resources.
func (s *Store) WriteDay(ctx context.Context, org, accountID string, d Day, all []Series) error {
	byShard := make([][]Series, shards)
	for _, one := range all {
		n := table.ShardOf(one.UID, shards)
		byShard[n] = append(byShard[n], one)
	}
	var ws []table.Write
	for n, part := range byShard {
		items, err := s.items(table.Key{
			PK: PKs(org)[n],
			SK: fmt.Sprintf("%s#%s#%03d", accountID, DayOf(d.Start), d.Part),
		}, part)
		if err != nil {
			return err
		}
		for _, it := range items {
			it.Expires = d.Start.Add(kept)
			ws = append(ws, table.Put(it))
		}
	}
	if err := table.NewPatientStore(s.table).BatchWrite(ctx, ws...); err != nil {
		return fmt.Errorf("write %d series of %s: %w", len(all), accountID, err)
	}
	return nil
}

// Day identifies a day, by its first moment in UTC, and a part of an account's resources.
type Day struct {
	Start time.Time
	Part  int
}

// items splits series into as many items as their size needs.
func (s *Store) items(k table.Key, all []Series) ([]table.Item, error) {
	if len(all) == 0 {
		return nil, nil
	}
	z := encode(all)
	if len(z) > maxItem && len(all) > 1 {
		a, err := s.items(table.Key{PK: k.PK, SK: k.SK + "a"}, all[:len(all)/2])
		if err != nil {
			return nil, err
		}
		b, err := s.items(table.Key{PK: k.PK, SK: k.SK + "b"}, all[len(all)/2:])
		return slices.Concat(a, b), err
	}
	it, err := table.NewItem(k, packed{z})
	return []table.Item{it}, err
}

// History is the measurements of a resource: by measure and day, the values of the hours. A day without values was
// collected, but had no points.
type History map[cloud.Measure]map[string][hours]float32

// perPage is how many items one page of a read holds.
const perPage = 100

// Of names a resource: by its organization, account and native id.
type Of struct{ Org, AccountID, UID string }

// Read returns the measurements of a resource on the days from up to until, inclusive. It takes a round trip per
// megabyte that its shard has of the account.
func (s *Store) Read(ctx context.Context, of Of, from, until time.Time) (History, error) {
	q := table.Query{
		PK: PKs(of.Org)[table.ShardOf(of.UID, shards)], From: of.AccountID + "#" + DayOf(from),
		To: of.AccountID + "#" + DayOf(until) + "#~", Limit: perPage,
	}
	out, b := History{}, &block{}
	for {
		page, err := s.table.Query(table.Eventually(ctx), q)
		if err != nil {
			return nil, fmt.Errorf("read measurements of %s: %w", of.UID, err)
		}
		for _, it := range page.Items {
			if err = out.add(b, it, of); err != nil {
				return nil, err
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out, nil
		}
	}
}

// add adds the values of a resource in an item, which it unpacks into b.
func (h History) add(b *block, it table.Item, of Of) error {
	if err := b.read(it); err != nil {
		return err
	}
	at := len(of.AccountID) + 1
	day := it.SK[at : at+len(time.DateOnly)]
	for i := range b.series {
		s := &b.series[i]
		if string(b.names[s.uid]) != of.UID {
			continue
		}
		m := b.measure(s)
		if h[m] == nil {
			h[m] = map[string][hours]float32{}
		}
		var values [hours]float32
		expand(&values, s.there, b.values(s, nil))
		h[m][day] = values
	}
	return nil
}

// read unpacks the series of an item.
func (b *block) read(it table.Item) error {
	z, err := b.packedOf(it)
	if err != nil {
		return err
	}
	if err = b.unpack(z); err != nil {
		return fmt.Errorf("%s %s: %w", it.PK, it.SK, err)
	}
	return nil
}

// packedOf returns the packed series of an item, valid until the next call. It decodes the JSON that the product writes
// itself: encoding/json takes longer than the unpacking.
func (b *block) packedOf(it table.Item) ([]byte, error) {
	text, begins := bytes.CutPrefix(it.Data, []byte(`{"z":"`))
	text, ends := bytes.CutSuffix(text, []byte(`"}`))
	if begins && ends {
		var err error
		if b.z, err = base64.StdEncoding.AppendDecode(b.z[:0], text); err == nil {
			return b.z, nil
		}
	}
	p, err := table.Decode[packed](it)
	return p.Z, err
}
