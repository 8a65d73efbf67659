package cost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// An import that takes longer than one call is continued by the next call. A checkpoint is the state of its Builder, as
// an object beside the line items that are written so far, and a row that names the object. The row is changed on a
// condition, so of several runs that import the same period one is ahead, and the others continue from its checkpoint.

// checkpointKept is how long an unfinished import can be continued. It is shorter than idleKept, after which its line
// items are deleted.
const checkpointKept = idleKept - day

// Position is how far an import has read its delivery: all files before File, and the first Charges charges of File.
type Position struct {
	File    int   `json:"file"`
	Charges int64 `json:"charges,omitempty"`
	// Billed is the sum of these charges in all currencies. It differs if the file was replaced in the meantime.
	Billed money.Amount `json:"billed"`
	Rows   int64        `json:"rows"` // of the files before File
}

// ErrOvertaken is the error of Checkpoint if another run has saved a checkpoint of the same period. A new Begin
// continues from it.
var ErrOvertaken = fault.New(fault.Conflict, "another run imports this billing period, and is ahead")

// checkpoint is the row of an unfinished import of a period.
type checkpoint struct {
	Seq         int64     `json:"seq"` // each change is conditional on it
	Fingerprint string    `json:"fingerprint"`
	Files       string    `json:"files,omitempty"` // as in Import
	Program     string    `json:"program"`         // its version: another one may read bills by other rules
	Generation  string    `json:"gen"`             // of the line items
	State       string    `json:"state"`           // the folder of the object within that of the line items
	Until       time.Time `json:"until"`
}

func checkpointKey(org string, m Month, accountID string) table.Key {
	return key(org, checkpointPrefix+m.String()+"#"+accountID)
}

func (in *Import) checkpointKey() table.Key { return checkpointKey(in.Org, in.Month, in.AccountID) }

// stateName returns the name of the object with the state. Engines skip folders that begin with an underscore.
func (c *checkpoint) stateName(folder string) string { return folder + "/" + c.State + "/state" }

// checkpointsFolder holds the states within the folder of the line items.
const checkpointsFolder = "_checkpoints"

// readPeriod returns the pointer and the checkpoint of the period, or zero values: one round trip.
func (s *Store) readPeriod(ctx context.Context, in *Import) (old pointer, saved checkpoint, err error) {
	if !in.Lines {
		old, err = s.readPointer(ctx, in)
		return old, saved, err
	}
	found, err := s.table.BatchGet(ctx, in.key(), in.checkpointKey())
	if err != nil {
		return old, saved, fmt.Errorf("read period %s of %s: %w", in.Month, in.AccountID, err)
	}
	if it, ok := found[in.key()]; ok {
		old, err = table.Decode[pointer](it)
	}
	if it, ok := found[in.checkpointKey()]; ok && err == nil {
		saved, err = table.Decode[checkpoint](it)
	}
	return old, saved, err
}

// canContinue reports whether an import can continue from a checkpoint.
func (s *Store) canContinue(in *Import, saved *checkpoint) bool {
	return saved.Seq > 0 && saved.Fingerprint == in.Fingerprint && saved.Files == in.Files &&
		saved.Program == s.program && s.clock.Now().Before(saved.Until)
}

// Position returns how far the import had read its delivery at the checkpoint from which it continues, or the zero
// Position.
func (b *Builder) Position() Position { return b.position }

// Checkpoint saves the state of the import after the charges before at, so that the next Begin of the same delivery
// continues from there. items are the line items of these charges; their files must be written. It takes one object
// and one round trip. It returns ErrOvertaken if another run was faster: then do not continue this one.
func (b *Builder) Checkpoint(ctx context.Context, items *LineItems, at Position) error {
	s := b.store
	next := checkpoint{
		Seq: b.saved.Seq + 1, Fingerprint: b.in.Fingerprint, Files: b.in.Files, Program: s.program,
		Generation: items.Generation,
		State:      checkpointsFolder + "/" + s.newGeneration(), Until: b.until,
	}
	folder := items.Folder(b.in.Org)
	if err := s.putState(ctx, next.stateName(folder), b.encodeState(items, at)); err != nil {
		return fmt.Errorf("save a checkpoint of %s of %s: %w", b.in.Month, b.in.AccountID, err)
	}
	if err := s.moveCheckpoint(ctx, &b.in, &b.saved, &next); err != nil {
		return err
	}
	before := b.saved
	if b.saved, b.position = next, at; before.Generation == next.Generation {
		return s.eraseItems(ctx, folder+"/"+before.State)
	}
	return nil
}

// moveCheckpoint replaces the row of a checkpoint, if it is unchanged.
func (s *Store) moveCheckpoint(ctx context.Context, in *Import, old, next *checkpoint) error {
	it, err := table.NewItem(in.checkpointKey(), next)
	if err != nil {
		return err
	}
	it.Expires = next.Until
	unchanged := table.Equal("seq", old.Seq)
	if old.Seq == 0 {
		unchanged = table.Absent()
	}
	_, err = s.table.Write(ctx, table.Put(it, unchanged))
	lost, overtaken := errors.AsType[*table.ConditionError](err)
	if !overtaken {
		return fault.Wrap(fmt.Sprintf("save a checkpoint of %s of %s", in.Month, in.AccountID), err)
	}
	if found, _ := lost.Old(0); found.Data != nil {
		if had, err := table.Decode[checkpoint](found); err == nil && had.State == next.State {
			return nil // the answer to the first try was lost
		}
	}
	return ErrOvertaken
}

// Restart removes the checkpoint from which the import continues, because its delivery was replaced. The next Begin
// starts from the first file.
func (b *Builder) Restart(ctx context.Context) error {
	if b.saved.Seq == 0 {
		return nil
	}
	unchanged := table.Equal("seq", b.saved.Seq)
	_, err := b.store.table.Write(ctx, table.Delete(b.in.checkpointKey(), unchanged))
	if _, overtaken := errors.AsType[*table.ConditionError](err); overtaken {
		return nil
	}
	return fault.Wrap(fmt.Sprintf("remove the checkpoint of %s of %s", b.in.Month, b.in.AccountID), err)
}

// sharedFolder returns the generation that names the folder of the line items if the import has a checkpoint: then
// another run may write the same folder. It returns "" otherwise.
func (b *Builder) sharedFolder() string {
	if b.items == nil || b.items.Generation != b.saved.Generation {
		return ""
	}
	return b.items.Generation
}

// restore continues from a checkpoint. If its object is missing or damaged, or of another version of the program, the
// import starts from the first file.
func (b *Builder) restore(ctx context.Context, saved *checkpoint) error {
	b.saved = *saved
	if !b.store.canContinue(&b.in, saved) {
		return nil
	}
	of := LineItems{
		AccountID: b.in.AccountID, Provider: b.in.Provider, Month: b.in.Month, Generation: saved.Generation,
	}
	r, err := b.store.openState(ctx, saved.stateName(of.Folder(b.in.Org)))
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the checkpoint of %s of %s: %w", b.in.Month, b.in.AccountID, err)
	}
	err = b.decodeState(r)
	if r.failed != nil {
		return fmt.Errorf("read the checkpoint of %s of %s: %w", b.in.Month, b.in.AccountID, r.failed)
	}
	if err != nil {
		b.reset()
		return nil //nolint:nilerr // the delivery is there: it is read again
	}
	b.until = saved.Until
	return nil
}

// reset removes all charges.
func (b *Builder) reset() {
	*b = Builder{
		store: b.store, in: b.in, old: b.old, saved: b.saved, lines: newLines(), totals: map[string]*Totals{},
		through: -1,
	}
}
