package audit

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// entry is a row that waits in the store to be linked. Row is its JSON without the members that depend on its place in
// the chain. It is stored as text, so that no engine alters a byte.
type entry struct {
	Row   string `json:"row"`
	After string `json:"after,omitempty"` // the previous entry of the same process for the same chain
	// number of the process's entries; it orders those of the same millisecond
	Nth      int64  `json:"nth"`
	UnderWay bool   `json:"underWay,omitempty"` // the request has not been answered
	MAC      string `json:"mac"`
	// Epoch is that of the process. Entries from before a restore may have been lost with it.
	Epoch time.Time `json:"epoch,omitzero"`
}

// computeMAC authenticates an entry with a secret that is not in the store. Someone who can only write to the store can
// neither alter an entry nor make one.
func (e *entry) computeMAC(secret []byte, at table.Key) string {
	b := make([]byte, 0, len(e.Row)+256)
	for _, v := range []string{at.PK, at.SK, e.Row, e.After} {
		b = append(strconv.AppendInt(b, int64(len(v)), 10), ':')
		b = append(b, v...)
	}
	b = append(strconv.AppendInt(b, e.Nth, 10), ' ')
	b = strconv.AppendBool(b, e.UnderWay)
	b = e.Epoch.AppendFormat(b, time.RFC3339Nano)
	h := hmac.New(sha256.New, secret)
	_, _ = h.Write(b) // a hash never fails
	return hex.EncodeToString(h.Sum(nil))
}

// Entry is the entry of one request. The facts known at its first change are stored in the transaction of that change,
// and replaced by the complete row at its end.
type Entry struct {
	log        *Log
	noted      *Noted
	known      Request
	id         string
	attachment *table.Attachment
	intent     intent
}

// intent is an entry as it was attached to a change.
type intent struct {
	place Place
	row   Row
	nth   int64
	final bool // the row is complete
	note  *table.Write
}

// Begin opens the entry of a request: known is its row if it succeeds, without its results. Notes made with the
// returned context are added to the row. The first change made with it is stored together with the entry.
func (l *Log) Begin(ctx context.Context, known Request) (context.Context, *Entry) {
	ctx, noted := beginNotes(ctx)
	e := &Entry{log: l, noted: noted, known: known, id: id.New("aud", l.clock.Now())}
	e.attachment = table.NewAttachment(e.intend)
	return table.WithAttachment(ctx, e.attachment), e
}

// Omitted reports whether Omit was called and nothing was changed.
func (e *Entry) Omitted() bool { return e.noted.Omitted() && !e.attachment.Sent() }

// Recorded reports whether the row of the request may be stored already, which is so if the request made a change.
func (e *Entry) Recorded() bool { return e.attachment.Sent() }

// intend returns the writes that are stored with the first change. At that time the status of the request is not known.
func (e *Entry) intend() ([]table.Write, error) {
	org, row := e.noted.composeRow(e.known)
	in := intent{place: placeOf(org, row.IP), row: row, nth: e.log.count.Add(1), final: e.noted.isFinal()}
	in.row.ID, in.row.At = e.id, e.log.timeOf(e.id)
	if !in.final {
		in.row.Status = 0
	}
	it, err := e.log.newEntryItem(in.place, in.row, entry{Nth: in.nth, UnderWay: !in.final})
	if err != nil {
		return nil, err
	}
	in.note = e.log.noteDue(in.place, e.id, in.row.At)
	e.intent = in
	return withNote(table.Put(it), in.note), nil
}

func withNote(put table.Write, note *table.Write) []table.Write {
	if note == nil {
		return []table.Write{put}
	}
	return []table.Write{put, *note}
}

// newEntryItem returns the item of a row that waits.
func (l *Log) newEntryItem(at Place, row Row, e entry) (table.Item, error) {
	content := row.content()
	delete(content, "seq")
	delete(content, "previousHash")
	k := at.waitingKey(row.ID)
	e.Row, e.After, e.Epoch = string(appendCanonical(nil, content)), l.previousEntry(at, row.ID), l.epoch
	e.MAC = e.computeMAC(l.secret, k)
	return table.NewItem(k, e)
}

// Finish records how the request ended. It makes no call if the entry that was stored with the change is complete. It
// returns the row that was to be written even if writing failed. The row has no place in the chain yet.
func (e *Entry) Finish(ctx context.Context, r Request) (Row, error) {
	org, row := e.noted.composeRow(r)
	row.ID, row.At = e.id, e.log.timeOf(e.id)
	f := final{log: e.log, place: placeOf(org, row.IP)}
	if e.attachment.Sent() {
		row.At, f.nth, f.was = e.intent.row.At, e.intent.nth, &e.intent
	} else {
		f.nth = e.log.count.Add(1)
	}
	f.row = row
	if e.attachment.Stored() {
		f.stored = f.was.place == f.place
		e.log.rememberNote(f.was.place, f.was.note, row.At)
	}
	if f.stored && f.was.final && f.was.row.String() == row.String() {
		e.log.rememberEntry(f.place, row)
		return row, nil
	}
	return row, f.put(ctx)
}

// putTimeout limits how long storing an entry may take. The request's answer waits for it, and the gateway waits 29
// seconds for both.
const putTimeout = 8 * time.Second

// final is the complete row of a request.
type final struct {
	log    *Log
	place  Place
	row    Row
	nth    int64
	was    *intent // the entry that may be stored, or nil
	stored bool    // it is stored, in the same place
}

// put stores the row. It continues if ctx is cancelled, so that a client cannot prevent the record by disconnecting.
func (f *final) put(ctx context.Context) error {
	pks := []string{f.place.waitingKey(f.row.ID).PK, f.place.duePK()}
	if f.was != nil {
		pks = append(pks, f.was.place.waitingKey(f.row.ID).PK)
	}
	ctx, cancel := context.WithTimeout(table.Within(table.WithoutAttachment(context.WithoutCancel(ctx)), pks...),
		putTimeout)
	defer cancel()
	err := f.tryPut(ctx, f.stored)
	for n := 0; isPassing(err) && n < maxTries; n++ {
		if (clock.System{}).Sleep(ctx, jitter(n)) != nil {
			break
		}
		err = f.tryPut(ctx, false)
	}
	if err != nil {
		return fmt.Errorf("store audit entry %s of %s: %w", f.row.ID, f.place.PK, err)
	}
	f.log.rememberEntry(f.place, f.row)
	return nil
}

// putWith stores the row in one transaction with changes.
func (f *final) putWith(ctx context.Context, changes []table.Write) error {
	it, err := f.log.newEntryItem(f.place, f.row, entry{Nth: f.nth})
	if err != nil {
		return err
	}
	note := f.log.noteDue(f.place, f.row.ID, f.row.At)
	ctx = table.Within(ctx, f.place.waitingKey(f.row.ID).PK, f.place.duePK())
	if err = f.log.store.Transact(ctx, slices.Concat(changes, withNote(table.Put(it), note))...); err != nil {
		return fmt.Errorf("store audit entry %s of %s: %w", f.row.ID, f.place.PK, err)
	}
	f.log.rememberNote(f.place, note, f.row.At)
	f.log.rememberEntry(f.place, f.row)
	return nil
}

// isPassing reports whether another attempt may succeed: the store did not answer, or the entry to be replaced no
// longer exists.
func isPassing(err error) bool {
	_, gone := errors.AsType[*table.ConditionError](err)
	return gone || fault.Is(err, fault.Unavailable)
}

// tryPut makes one attempt. The first attempt replaces the entry stored with the change. Later ones store it again,
// possibly after it was linked; linking detects that.
func (f *final) tryPut(ctx context.Context, replace bool) error {
	it, err := f.log.newEntryItem(f.place, f.row, entry{Nth: f.nth})
	if err != nil {
		return err
	}
	if replace {
		_, err = f.log.store.Write(ctx, table.Put(it, table.Exists()))
		return err
	}
	note := f.log.noteDue(f.place, f.row.ID, f.row.At)
	ws := withNote(table.Put(it), note)
	if f.was != nil && f.was.place != f.place {
		ws = append(ws, table.Delete(f.was.place.waitingKey(f.row.ID)))
	}
	if len(ws) == 1 {
		_, err = f.log.store.Write(ctx, ws[0])
	} else {
		err = f.log.store.Transact(ctx, ws...)
	}
	if err == nil {
		f.log.rememberNote(f.place, note, f.row.At)
	}
	return err
}

// maxTries limits the attempts if other processes were faster or the store did not answer.
const maxTries = 20

// maxPause is the longest delay between two attempts.
const maxPause = 400 * time.Millisecond

// jitter returns a random delay after attempt n. There is none after the first, because its error tells the current
// state. Use it with the machine's clock, even if the service has another clock, because it does not depend on the time
// of day.
func jitter(n int) time.Duration {
	if n == 0 {
		return 0
	}
	return rand.N(min(time.Millisecond<<n, maxPause)) //nolint:gosec // spreads load, guards nothing
}
