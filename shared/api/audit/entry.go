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

// entry is a row on its way to its chain, as it waits in the store. Row is its JSON without what its place in the chain
// gives it, as text, so that no engine alters a byte of it.
type entry struct {
	Row      string `json:"row"`
	After    string `json:"after,omitempty"`    // the entry that the same process left before, for the same chain
	Nth      int64  `json:"nth"`                // of the process's; tells what came first within a millisecond
	UnderWay bool   `json:"underWay,omitempty"` // the request has not been answered
	MAC      string `json:"mac"`
	// Epoch is that of the process. What a process left before a restore may have gone with it.
	Epoch time.Time `json:"epoch,omitzero"`
}

// mac seals an entry where it waits, under a secret that the store does not hold: who can write there, and no more, can
// neither alter an entry nor make one.
func (e *entry) mac(secret []byte, at table.Key) string {
	b := make([]byte, 0, len(e.Row)+256)
	for _, v := range []string{at.PK, at.SK, e.Row, e.After} {
		b = append(strconv.AppendInt(b, int64(len(v)), 10), ':')
		b = append(b, v...)
	}
	b = append(strconv.AppendInt(b, e.Nth, 10), ' ')
	b = strconv.AppendBool(b, e.UnderWay)
	b = e.Epoch.AppendFormat(b, time.RFC3339Nano)
	h := hmac.New(sha256.New, secret)
	_, _ = h.Write(b) // never fails
	return hex.EncodeToString(h.Sum(nil))
}

// Entry is what one request leaves: what is known when its first change is stored goes into the transaction of that, and
// how it ended is put in its place.
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
	final bool // it says all that is to be said
	note  *table.Write
}

// Begin opens the entry of a request that is on record: known is what its row says when it succeeds, without what comes of
// it. What is noted with the context that it returns goes into the row, and the first change that is made with it is stored
// together with the entry.
func (l *Log) Begin(ctx context.Context, known Request) (context.Context, *Entry) {
	ctx, noted := beginNotes(ctx)
	e := &Entry{log: l, noted: noted, known: known, id: id.New("aud", l.clock.Now())}
	e.attachment = table.NewAttachment(e.intend)
	return table.WithAttachment(ctx, e.attachment), e
}

// Omitted reports whether Omit was said and nothing was changed.
func (e *Entry) Omitted() bool { return e.noted.Omitted() && !e.attachment.Sent() }

// Recorded reports whether the request is on record already, or may be: the change that it made is, if it made one.
func (e *Entry) Recorded() bool { return e.attachment.Sent() }

// intend makes the writes that are stored with the first change. The status of a request that is under way is not known.
func (e *Entry) intend() ([]table.Write, error) {
	org, row := e.noted.composeRow(e.known)
	in := intent{place: placeOf(org, row.IP), row: row, nth: e.log.count.Add(1), final: e.noted.isFinal()}
	in.row.ID, in.row.At = e.id, e.log.timeOf(e.id)
	if !in.final {
		in.row.Status = 0
	}
	it, err := e.log.item(in.place, in.row, entry{Nth: in.nth, UnderWay: !in.final})
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

// item makes what is stored of a row that waits.
func (l *Log) item(at Place, row Row, e entry) (table.Item, error) {
	content := row.content()
	delete(content, "seq")
	delete(content, "previousHash")
	k := at.waitingKey(row.ID)
	e.Row, e.After, e.Epoch = string(appendCanonical(nil, content)), l.before(at, row.ID), l.epoch
	e.MAC = e.mac(l.secret, k)
	return table.NewItem(k, e)
}

// Finish puts on record how the request ended. It costs nothing where the entry that was stored with the change says all of
// it. The row that it gives is what was to be written also where that failed; it has no place in the chain yet.
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
		e.log.remember(f.was.place, f.was.note, row.At)
	}
	if f.stored && f.was.final && f.was.row.String() == row.String() {
		e.log.left(f.place, row)
		return row, nil
	}
	return row, f.put(ctx)
}

// patience is how long an entry may take. The request has an answer that waits for it, and the gateway 29 seconds for both.
const patience = 8 * time.Second

// final is the last word on a request.
type final struct {
	log    *Log
	place  Place
	row    Row
	nth    int64
	was    *intent // which may be stored; nil where none is
	stored bool    // it is, and in the same place
}

// put stores the last word. It goes on when ctx is cancelled: a client that goes away does not keep its change off the
// record.
func (f *final) put(ctx context.Context) error {
	pks := []string{f.place.waitingKey(f.row.ID).PK, f.place.duePK()}
	if f.was != nil {
		pks = append(pks, f.was.place.waitingKey(f.row.ID).PK)
	}
	ctx, cancel := context.WithTimeout(table.Within(table.WithoutAttachment(context.WithoutCancel(ctx)), pks...),
		patience)
	defer cancel()
	err := f.try(ctx, f.stored)
	for n := 0; isPassing(err) && n < tries; n++ {
		if (clock.System{}).Sleep(ctx, jitter(n)) != nil {
			break
		}
		err = f.try(ctx, false)
	}
	if err != nil {
		return fmt.Errorf("store audit entry %s of %s: %w", f.row.ID, f.place.PK, err)
	}
	f.log.left(f.place, f.row)
	return nil
}

// putWith stores the row in one transaction with changes.
func (f *final) putWith(ctx context.Context, changes []table.Write) error {
	it, err := f.log.item(f.place, f.row, entry{Nth: f.nth})
	if err != nil {
		return err
	}
	note := f.log.noteDue(f.place, f.row.ID, f.row.At)
	ctx = table.Within(ctx, f.place.waitingKey(f.row.ID).PK, f.place.duePK())
	if err = f.log.store.Transact(ctx, slices.Concat(changes, withNote(table.Put(it), note))...); err != nil {
		return fmt.Errorf("store audit entry %s of %s: %w", f.row.ID, f.place.PK, err)
	}
	f.log.remember(f.place, note, f.row.At)
	f.log.left(f.place, f.row)
	return nil
}

// isPassing reports whether another try may succeed: the store gave no answer, or what was to be replaced is not there any more.
func isPassing(err error) bool {
	_, gone := errors.AsType[*table.ConditionError](err)
	return gone || fault.Is(err, fault.Unavailable)
}

// try makes one try. The first replaces what was stored with the change. Any other comes again, perhaps after the entry was
// linked; whoever links finds that out.
func (f *final) try(ctx context.Context, replace bool) error {
	it, err := f.log.item(f.place, f.row, entry{Nth: f.nth})
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
		f.log.remember(f.place, note, f.row.At)
	}
	return err
}

// tries bounds how often something is tried, because others were first or the store gave no answer.
const tries = 20

// longest is the longest pause between two tries.
const longest = 400 * time.Millisecond

// jitter draws the pause after try n: none after the first, because who was told what is there can use it at once. It is
// waited for by the machine's clock also where the service goes by another one: it is no time of day.
func jitter(n int) time.Duration {
	if n == 0 {
		return 0
	}
	return rand.N(min(time.Millisecond<<n, longest)) //nolint:gosec // spreads load, guards nothing
}
