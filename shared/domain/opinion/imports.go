package opinion

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// importPrefix begins the sort keys of imported chunks.
const importPrefix = "I#"

func importKey(org string, shard int, a *Account, n int) table.Key {
	return shardKey(org, shard, fmt.Sprintf("%s%s#%s#%03d", importPrefix, a.AccountID, a.Gen, n))
}

// LastImport reads the last import of an account. It is zero if there was none. One round trip.
func (s *Store) LastImport(ctx context.Context, org, accountID string) (Account, error) {
	a, err := table.Read[Account](ctx, s.table, accountKey(org, accountID))
	if fault.Is(err, fault.NotFound) {
		return Account{}, nil
	}
	return a, fault.Wrap("read the import of opinions of "+accountID, err)
}

// Accounts reads the last imports of all accounts. One round trip.
func (s *Store) Accounts(ctx context.Context, org string) ([]Account, error) {
	items, err := s.queryAll(ctx, table.Query{PK: accountKey(org, "").PK})
	if err != nil {
		return nil, fmt.Errorf("read the imports of opinions of %s: %w", org, err)
	}
	out := make([]Account, len(items))
	for i, it := range items {
		if out[i], err = table.Decode[Account](it); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Import replaces the opinions of an account by those of a new import. Readers see the old ones or the new ones: the
// record of the account names the generation of the chunks. An import that loses against another one, or is killed,
// leaves chunks that no record names, and that expire.
func (s *Store) Import(ctx context.Context, org string, a Account, all []Opinion) error {
	old, err := s.LastImport(ctx, org, a.AccountID)
	if err != nil {
		return err
	}
	now := s.clock.Now()
	a.Gen, a.Count, a.At, a.TriedAt, a.Error = newGen(now), len(all), now, now, ""
	ws, err := chunkWrites(org, &a, all)
	if err != nil {
		return err
	}
	if err = s.table.BatchWrite(ctx, ws...); err != nil {
		return fmt.Errorf("write %d opinions of %s: %w", len(all), a.AccountID, err)
	}
	it, err := table.NewItem(accountKey(org, a.AccountID), a)
	if err != nil {
		return err
	}
	cond := table.Absent()
	if !old.TriedAt.IsZero() {
		cond = table.Equal("triedAt", old.TriedAt)
	}
	if _, err = s.table.Write(ctx, table.Put(it, cond)); err != nil {
		return fmt.Errorf("store the import of opinions of %s: %w", a.AccountID, err)
	}
	return s.deleteChunks(ctx, org, &old)
}

// newGen returns a name of a generation.
func newGen(now time.Time) string {
	return strings.ToLower(ulid.MustNew(ulid.Timestamp(now), ulid.DefaultEntropy()).String())
}

// chunkWrites returns the writes of the chunks of an import, and counts them in a.
func chunkWrites(org string, a *Account, all []Opinion) (ws []table.Write, err error) {
	var shards [Shards][]Opinion
	for i := range all {
		n := ShardOf(all[i].ResourceUID)
		shards[n] = append(shards[n], all[i])
	}
	for shard := range shards {
		chunks, err := packChunks(shards[shard])
		if err != nil {
			return nil, fmt.Errorf("pack opinions of %s: %w", a.AccountID, err)
		}
		for n, z := range chunks {
			it, err := table.NewItem(importKey(org, shard, a, n), packed{Z: z})
			if err != nil {
				return nil, err
			}
			it.Expires = a.At.Add(keepImport)
			ws = append(ws, table.Put(it))
		}
		a.Chunks[shard] = len(chunks)
	}
	return ws, nil
}

func (s *Store) deleteChunks(ctx context.Context, org string, a *Account) error {
	var ws []table.Write
	for shard, chunks := range a.Chunks {
		for n := range chunks {
			ws = append(ws, table.Delete(importKey(org, shard, a, n)))
		}
	}
	if len(ws) == 0 {
		return nil
	}
	return fault.Wrap("delete replaced opinions of "+a.AccountID, s.table.BatchWrite(ctx, ws...))
}

// maxError is the longest stored error, in characters.
const maxError = 400

// NoteFailure notes that the opinions of an account could not be read. Those of the last import stay.
func (s *Store) NoteFailure(ctx context.Context, org string, a Account, why error) error {
	_, err := s.table.Write(ctx, table.Update(accountKey(org, a.AccountID), []table.Change{
		table.Set("accountID", a.AccountID), table.Set("provider", a.Provider),
		table.Set("triedAt", s.clock.Now()), table.Set("error", fault.CleanText(why.Error(), maxError)),
	}))
	return fault.Wrap("note a failed import of opinions of "+a.AccountID, err)
}

// Forget deletes the opinions of an account.
func (s *Store) Forget(ctx context.Context, org, accountID string) error {
	a, err := s.LastImport(ctx, org, accountID)
	if err != nil || a.TriedAt.IsZero() {
		return err
	}
	if err = s.deleteChunks(ctx, org, &a); err != nil {
		return err
	}
	_, err = s.table.Write(ctx, table.Delete(accountKey(org, accountID)))
	return fault.Wrap("delete the import of opinions of "+accountID, err)
}

// ReadShard reads the opinions of a shard by native id and account, of the last imports of accounts. It takes one round
// trip for a megabyte.
func (s *Store) ReadShard(ctx context.Context, org string, shard int, accounts []Account) (
	map[Subject][]Opinion, error,
) {
	current := map[string]string{}
	for i := range accounts {
		current[accounts[i].AccountID] = accounts[i].Gen
	}
	items, err := s.queryAll(table.Eventually(ctx), table.Query{
		PK: shardKey(org, shard, "").PK, Prefix: importPrefix,
	})
	if err != nil {
		return nil, fmt.Errorf("read shard %d of the opinions of %s: %w", shard, org, err)
	}
	out := map[Subject][]Opinion{}
	for _, it := range items {
		parts := strings.Split(it.SK, "#")
		if len(parts) != 4 || current[parts[1]] != parts[2] || parts[2] == "" {
			continue // replaced, or of an import that died
		}
		some, _, err := unpackChunk[Opinion](nil, it)
		if err != nil {
			return nil, err
		}
		for i := range some {
			k := Subject{parts[1], some[i].ResourceUID}
			out[k] = append(out[k], some[i])
		}
	}
	return out, nil
}

// Subject is a resource of an account by its native id, or the account itself with an empty one.
type Subject struct{ AccountID, UID string }

func (s *Store) queryAll(ctx context.Context, q table.Query) ([]table.Item, error) {
	var out []table.Item
	q.Limit = table.MaxPage
	for {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return out, nil
		}
	}
}
