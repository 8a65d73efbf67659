package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow/asl"
	"lamplighter.dev/shared/foundation/fault"
)

// work is a running execution. It implements asl.Tasks and asl.Journal with handlers and the table.
type work struct {
	e   *Embedded
	ref ref

	mu     sync.Mutex
	kept   map[string]bool // sort keys to delete when the execution ends
	tokens []string        // made by this run
}

func newWork(e *Embedded, r ref) *work { return &work{e: e, ref: r, kept: map[string]bool{}} }

// storeTries is how often a write is tried before the execution is interrupted. storeLimit limits each try.
const (
	storeTries = 5
	storeLimit = 30 * time.Second
)

// persist writes to the store, and retries if that may help.
func (w *work) persist(ctx context.Context, op string, write func(context.Context) error) error {
	ctx = table.Within(ctx, scopePrefix)
	for n := 0; ; n++ {
		try, cancel := context.WithTimeout(ctx, storeLimit)
		err := write(try)
		cancel()
		if err == nil {
			return nil
		}
		kind := fault.KindOf(err)
		final := kind == fault.Conflict || kind == fault.Invalid || n+1 == storeTries
		if final || w.e.p.Clock.Sleep(ctx, backoffAfter(n, time.Second)) != nil {
			return fault.Wrap(op+" of "+w.ref.String(), err)
		}
	}
}

// Save saves a frame.
func (w *work) Save(ctx context.Context, path string, f asl.Frame) error {
	sk := framePrefix + path
	w.rememberKey(sk)
	return writePacked(func(as form) error {
		p, err := packValue(f, as)
		if err != nil {
			return err
		}
		it, err := encodeItem(w.ref.itemKey(sk), frameItem{f.Token, p}, w.e.p.Clock.Now().Add(maxLife))
		if err != nil {
			return err
		}
		return w.persist(ctx, "save frame", func(ctx context.Context) error {
			_, err := w.e.p.Store.Write(ctx, table.Put(it))
			return err
		})
	})
}

func (w *work) rememberKey(sk string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept[sk] = true
}

// Forget deletes frames.
func (w *work) Forget(ctx context.Context, paths []string) error {
	deletes := make([]table.Write, 0, len(paths))
	w.mu.Lock()
	for _, p := range paths {
		if sk := framePrefix + p; w.kept[sk] {
			delete(w.kept, sk)
			deletes = append(deletes, table.Delete(w.ref.itemKey(sk)))
		}
	}
	w.mu.Unlock()
	return w.deleteRunState(ctx, deletes)
}

// maxTogether is the number of frames that are deleted in the transaction that ends the execution. More are deleted
// after it.
const maxTogether = 90

// finishExecution writes the end of the execution, unless it was stopped in the meantime, and deletes its frames.
func (w *work) finishExecution(ctx context.Context, x Execution) error {
	deletes := w.runStateDeletes()
	now := min(len(deletes), maxTogether)
	err := writePacked(func(as form) error {
		items, err := executionItems(x, as)
		if err != nil {
			return err
		}
		writes := append([]table.Write{table.Delete(w.ref.runningKey())}, deletes[:now]...)
		writes = append(writes, table.Put(items[0], table.Equal("status", string(Running))))
		for _, it := range items[1:] {
			writes = append(writes, table.Put(it))
		}
		return w.persist(ctx, "end", func(ctx context.Context) error { return w.e.p.Store.Transact(ctx, writes...) })
	})
	if _, stopped := errors.AsType[*table.ConditionError](err); stopped {
		now, err = 0, nil
	}
	if err != nil {
		return err
	}
	return w.deleteRunState(ctx, deletes[now:])
}

// deleteRunState deletes items that only a running execution needs.
func (w *work) deleteRunState(ctx context.Context, deletes []table.Write) error {
	if len(deletes) == 0 {
		return nil
	}
	return w.persist(ctx, "forget frames", func(ctx context.Context) error {
		return w.e.p.Store.BatchWrite(ctx, deletes...)
	})
}

// runStateDeletes returns the deletes of all items that only a running execution needs.
func (w *work) runStateDeletes() []table.Write {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]table.Write, 0, len(w.kept))
	for sk := range w.kept {
		out = append(out, table.Delete(w.ref.itemKey(sk)))
	}
	return out
}

// reply is the response of a handler.
type reply struct {
	out json.RawMessage
	err error
}

// Invoke calls the handler of a function in a goroutine of its own, so that a handler that ignores its context delays
// only Close. It waits for one of the engine's slots.
func (w *work) Invoke(ctx context.Context, function string, payload json.RawMessage) (json.RawMessage, error) {
	h := w.e.p.Handlers[function]
	if h == nil {
		return nil, &asl.Error{Name: "Lambda.ResourceNotFoundException", Cause: "there is no function " + function}
	}
	select {
	case w.e.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, w.e.p.TaskLimit, &asl.Error{
		Name: "Sandbox.Timedout", Cause: "the function " + function + " ran longer than " + w.e.p.TaskLimit.String(),
	})
	done := make(chan reply, 1)
	defer cancel()
	w.e.group.Go(func() {
		defer func() { <-w.e.slots }()
		out, err := callHandler(ctx, h, payload)
		done <- reply{out, err}
	})
	select {
	case r := <-done:
		if r.err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx) // an error after the end of the context is not the handler's own failure
		}
		return r.out, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
