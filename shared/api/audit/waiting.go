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
	content map[string]any // of its row; nil when the entry is not as a process left it
	at      time.Time
	damage  string // why it is not
}

// lost is how old an entry of a request under way is when nothing more will come: no request takes that long.
const lost = 5 * time.Minute

// open reads the entries of pages, in the order of time, and proves each.
func (k *linking) open(pages []table.Page) []waiting {
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
	if !hmac.Equal([]byte(w.MAC), []byte(w.mac(k.log.secret, w.key))) {
		w.damage = "its seal is not that of its content"
		return w
	}
	row, err := ParseRow([]byte(w.Row))
	if err != nil { // a process sealed it
		w.damage = err.Error()
		return w
	}
	w.content, w.at = row, row.rowTime()
	return w
}

// ready reports whether the entry can be linked.
func (w *waiting) ready(now time.Time) bool {
	return !w.UnderWay || w.damage != "" || now.Sub(w.at) > lost
}

// leave takes the entry away, if it is still the one that was read.
func (w *waiting) leave() table.Write {
	if w.MAC == "" {
		return table.Delete(w.key, table.Exists())
	}
	return table.Delete(w.key, table.Equal("mac", w.MAC))
}

// plan makes the steps of what was read.
func (k *linking) plan(ctx context.Context, found []waiting) ([]step, error) {
	now := k.log.now()
	for i := range found {
		k.seen[found[i].key.SK] = true
	}
	inChain, err := k.lookUp(ctx, found)
	if err != nil {
		return nil, err
	}
	var steps []step
	if k.log.restored(k.head) {
		steps = append(steps, step{content: k.restoration(now)})
	}
	for i := range found {
		if w := &found[i]; w.ready(now) {
			steps = append(steps, k.stepsOf(w, inChain, now)...)
		}
	}
	return steps, nil
}

// stepsOf makes the steps of one entry: its row, unless the chain has it already, and before it what is wrong with it.
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

// follows reports whether the entry that the same process left before is where it must be.
func (k *linking) follows(w *waiting) bool {
	return w.After == "" || !w.Epoch.Equal(k.log.epoch) || k.seen[w.After]
}

// The rows that linking puts in by itself.
const (
	EntryAltered = "auditEntryAltered" // an entry was altered while it waited, or nobody who may had left it
	EntryMissing = "auditEntryMissing" // an entry was taken away while it waited
	// the service was restored to an earlier point, behind which the chain goes on in another way
	Restored = "restore"
)

// finding returns the content of a row of the linker's own.
func finding(action, target string, after map[string]any, now time.Time) map[string]any {
	row := Row{ID: id.New("aud", now), At: now, Action: action, ResourceType: "audit-logs", Target: target,
		Changes: Changes{After: after}}.sanitizeRow()
	return row.content()
}

// restoration returns the content of the row that says from where the chain goes on since a restore.
func (k *linking) restoration(now time.Time) map[string]any {
	return finding(Restored, "", map[string]any{"epoch": k.log.epoch, "seq": k.head.Seq, "hash": k.head.Hash}, now)
}

// asked are the entries that have to be looked for: those that others follow, and those that may be in the chain already,
// which then ends no earlier than they happened.
type asked struct {
	ids   map[string]bool
	since time.Time // nothing that is looked for is older
}

func (a *asked) add(entryID string, at time.Time) {
	if a.since.IsZero() || at.Before(a.since) {
		a.since = at
	}
	a.ids[entryID] = true
}

// lookUp finds, of what is asked for, what is in the chain. What was left before something that waits either waits itself or
// has been linked: it is looked for where it waited first, and in the chain after that.
func (k *linking) lookUp(ctx context.Context, found []waiting) (inChain map[string]bool, err error) {
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
	return k.search(ctx, q)
}

// The rows that are read to find entries in a chain: at once, and at most. What lies farther back is taken to be there, for
// what nobody can show to be missing is not said to be.
const (
	searchPage = 1000
	searchMost = 10_000
)

// search goes back along the chain for what is asked for, and remembers what it finds.
func (k *linking) search(ctx context.Context, a asked) (map[string]bool, error) {
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
			k.believe(a)
			break
		}
	}
	return out, nil
}

// believe takes what was not looked for far enough to be there.
func (k *linking) believe(a asked) {
	for name := range a.ids {
		k.seen[name] = true
	}
}

// rowNames are what a row is found by: its own id, and the entry that it says to be missing.
type rowNames struct{ ID, Action, Target string }

func (r rowNames) names() []string {
	if r.Action == EntryMissing {
		return []string{r.ID, r.Target}
	}
	return []string{r.ID}
}
