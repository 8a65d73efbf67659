package audit

import (
	"context"
	"crypto/hmac"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// waiting is an entry that was read.
type waiting struct {
	key table.Key
	entry
	content map[string]any // of its row; nil if the entry was altered
	at      time.Time
	damage  string // why the entry counts as altered
}

// lost is the age of an entry of a running request after which no more will come: no request takes that long.
const lost = 5 * time.Minute

// openAll decodes and authenticates the entries of pages, in the order of time.
func (k *linking) openAll(pages []table.Page) []waiting {
	var out []waiting
	for _, page := range pages {
		for _, it := range page.Items {
			out = append(out, k.openItem(it))
		}
	}
	slices.SortFunc(out, byTime)
	return out
}

func (k *linking) openItem(it table.Item) waiting {
	w := waiting{key: it.Key, at: id.TimeOf(it.SK)}
	var err error
	if w.entry, err = table.Decode[entry](it); err != nil {
		w.damage = "it is not an entry"
		return w
	}
	if !hmac.Equal([]byte(w.MAC), []byte(w.computeMAC(k.log.secret, w.key))) {
		w.damage = "its seal is not that of its content"
		return w
	}
	row, err := ParseRow([]byte(w.Row))
	if err != nil { // a process authenticated it
		w.damage = err.Error()
		return w
	}
	w.content, w.at = row, row.rowTime()
	return w
}

// isReady reports whether the entry can be linked.
func (w *waiting) isReady(now time.Time) bool {
	return !w.UnderWay || w.damage != "" || now.Sub(w.at) > lost
}

// deleteWrite returns the write that deletes the entry, if it has not changed since it was read.
func (w *waiting) deleteWrite() table.Write {
	if w.MAC == "" {
		return table.Delete(w.key, table.Exists())
	}
	return table.Delete(w.key, table.Equal("mac", w.MAC))
}

// planSteps returns the steps for the entries.
func (k *linking) planSteps(ctx context.Context, found []waiting) ([]step, error) {
	now := k.log.now()
	for i := range found {
		k.seen[found[i].key.SK] = true
	}
	inChain, err := k.findInChain(ctx, found)
	if err != nil {
		return nil, err
	}
	var steps []step
	if k.log.isRestored(k.head) {
		steps = append(steps, step{content: k.restoration(now)})
	}
	for i := range found {
		if w := &found[i]; w.isReady(now) {
			steps = append(steps, k.stepsOf(w, inChain, now)...)
		}
	}
	return steps, nil
}

// stepsOf returns the steps for one entry: its row, unless the chain already contains it, and before it a row about a
// defect.
func (k *linking) stepsOf(w *waiting, inChain map[string]bool, now time.Time) []step {
	switch {
	case w.damage != "":
		return []step{{finding(EntryAltered, w.key.SK, map[string]any{"why": w.damage, "entry": w.Row}, now), w}}
	case inChain[w.key.SK]:
		return []step{{nil, w}}
	case k.follows(w):
		return []step{{w.content, w}}
	}
	k.seen[w.After] = true
	return []step{{finding(EntryMissing, w.After, map[string]any{"before": w.key.SK}, now), nil}, {w.content, w}}
}

// follows reports whether the previous entry of the same process is where it must be.
func (k *linking) follows(w *waiting) bool {
	return w.After == "" || !w.Epoch.Equal(k.log.epoch) || k.seen[w.After]
}

// The rows that linking adds by itself.
const (
	// an entry was altered while it waited, or was inserted by an unauthorized writer.
	EntryAltered = "auditEntryAltered"
	EntryMissing = "auditEntryMissing" // an entry was removed while it waited
	// the service was restored to an earlier point, from where the chain continues.
	Restored = "restore"
)

// finding returns the content of a row made by linking.
func finding(action, target string, after map[string]any, now time.Time) map[string]any {
	row := Row{
		ID: id.New("aud", now), At: now, Action: action, ResourceType: "audit-logs", Target: target,
		Changes: Changes{After: after},
	}.sanitizeRow()
	return row.content()
}

// restoration returns the content of the row that says where the chain continues after a restore.
func (k *linking) restoration(now time.Time) map[string]any {
	return finding(Restored, "", map[string]any{"epoch": k.log.epoch, "seq": k.head.Seq, "hash": k.head.Hash}, now)
}

// asked are the entries to search for: those that others follow, and those that may be in the chain already, because
// they are not newer than its end.
type asked struct {
	ids   map[string]bool
	since time.Time // none of the entries is older
}

func (a *asked) add(entryID string, at time.Time) {
	if a.since.IsZero() || at.Before(a.since) {
		a.since = at
	}
	a.ids[entryID] = true
}

// findInChain returns the entries that are in the chain. The predecessor of a waiting entry either waits itself or has
// been linked: it is looked up among the waiting entries first, and then in the chain.
func (k *linking) findInChain(ctx context.Context, found []waiting) (inChain map[string]bool, err error) {
	q := asked{ids: map[string]bool{}}
	var before []table.Key
	for i := range found {
		w := &found[i]
		if w.damage == "" && !k.follows(w) {
			before = append(before, k.place.waitingKey(w.After))
		}
		if w.damage == "" && !w.at.After(k.head.At) {
			q.add(w.key.SK, w.at)
		}
	}
	there, err := k.log.store.BatchGet(ctx, before...)
	if err != nil {
		return nil, fmt.Errorf("read entries before those of %s: %w", k.place.PK, err)
	}
	for _, key := range before {
		if _, waits := there[key]; waits {
			k.seen[key.SK] = true
		} else {
			q.add(key.SK, id.TimeOf(key.SK))
		}
	}
	return k.searchChain(ctx, q)
}

// The number of rows read to find entries in a chain: at once, and at most. Entries further back are assumed to be
// there, because only entries that are known to be missing are reported.
const (
	searchPage = 1000
	searchMost = 10_000
)

// searchChain searches the chain backwards, and records the entries that it finds.
func (k *linking) searchChain(ctx context.Context, a asked) (map[string]bool, error) {
	out, left := map[string]bool{}, len(a.ids)
	q := table.Query{PK: k.place.PK, Limit: searchPage, Reverse: true}
	q.From, q.To = WindowKeys(a.since, time.Time{})
	for rows := 0; left > 0; {
		page, err := k.log.store.Query(ctx, q)
		if err != nil {
			return nil, fault.Wrap("look for entries in "+k.place.PK, err)
		}
		for _, it := range page.Items {
			row, err := table.Decode[rowNames](it)
			if err != nil {
				return nil, err
			}
			for _, name := range row.names() {
				if a.ids[name] && !out[name] {
					out[name], k.seen[name] = true, true
					left--
				}
			}
		}
		rows += len(page.Items)
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
		if rows >= searchMost {
			k.assumeFound(a)
			break
		}
	}
	return out, nil
}

// assumeFound treats entries as found if the search did not go back far enough.
func (k *linking) assumeFound(a asked) {
	for name := range a.ids {
		k.seen[name] = true
	}
}

// rowNames are the IDs of entries that a row stands for: its own, and the one that it reports as missing.
type rowNames struct{ ID, Action, Target string }

func (r rowNames) names() []string {
	if r.Action == EntryMissing {
		return []string{r.ID, r.Target}
	}
	return []string{r.ID}
}
