package workflow

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow/asl"
	"lamplighter.dev/shared/foundation/fault"
)

// token is the content of a task token: it identifies a task of a fiber of an execution.
type token struct{ Machine, Name, Path, Nonce string }

func (t token) encode() string {
	raw, err := json.Marshal([4]string{t.Machine, t.Name, t.Path, t.Nonce})
	if err != nil {
		panic(err) // strings are always JSON
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

func (t token) ref() ref { return ref{t.Machine, t.Name} }

// decodeToken decodes a token from outside.
func decodeToken(s string) (token, error) {
	var parts [4]string
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(raw, &parts)
	}
	if err != nil || parts[3] == "" {
		return token{}, fault.NewWithCause(fault.Invalid, err, "the task token %.80q is not one of ours", s)
	}
	return token{parts[0], parts[1], parts[2], parts[3]}, nil
}

// answer is the answer to a task with a token.
type answer struct {
	Output json.RawMessage `json:"out,omitempty"`
	Failed *TaskError      `json:"failed,omitempty"`
}

func (a answer) result() (json.RawMessage, error) {
	if a.Failed != nil {
		return nil, &asl.Error{Name: a.Failed.Name, Cause: a.Failed.Cause}
	}
	return a.Output, nil
}

// Token returns a new token of a task.
func (w *work) Token(path string) string {
	t := token{w.ref.machine, w.ref.name, path, rand.Text()}.encode()
	w.mu.Lock()
	w.tokens = append(w.tokens, t)
	w.mu.Unlock()
	w.e.mu.Lock()
	defer w.e.mu.Unlock()
	w.e.waiting[t] = make(chan answer, 1)
	return t
}

// releaseTokens releases the tokens that this run made.
func (w *work) releaseTokens() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.tokens {
		w.e.stopListening(t)
	}
}

// Await waits for the answer to a token. A token of an earlier process may have been answered already.
func (w *work) Await(ctx context.Context, s string) (json.RawMessage, error) {
	ch, mine := w.e.listen(s)
	defer w.e.stopListening(s)
	t, err := decodeToken(s)
	if err != nil {
		return nil, err
	}
	w.rememberKey(answerPrefix + t.Nonce)
	if !mine {
		a, err := w.readAnswer(ctx, t)
		if !fault.Is(err, fault.NotFound) {
			if err != nil {
				return nil, err
			}
			return a.result()
		}
	}
	select {
	case a := <-ch:
		return a.result()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// readAnswer reads the answer to a token from the table.
func (w *work) readAnswer(ctx context.Context, t token) (answer, error) {
	stored, err := table.Read[packed](table.Within(ctx, scopePrefix), w.e.p.Store,
		t.ref().itemKey(answerPrefix+t.Nonce))
	if err != nil {
		return answer{}, fault.Wrap("read answer for "+w.ref.String(), err)
	}
	var a answer
	return a, stored.unpackInto(&a)
}

// listen returns the channel that receives the answer to a token, and reports whether this call created it.
func (e *Embedded) listen(s string) (ch chan answer, mine bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if ch, ok := e.waiting[s]; ok {
		return ch, true
	}
	ch = make(chan answer, 1)
	e.waiting[s] = ch
	return ch, false
}

func (e *Embedded) stopListening(s string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.waiting, s)
}

// Signal answers a task. The answer is stored in the table before Signal returns, so that a restart does not lose it.
func (e *Embedded) Signal(ctx context.Context, s string, output any, failure *TaskError) error {
	t, err := decodeToken(s)
	if err != nil {
		return err
	}
	a, err := newAnswer(output, failure)
	if err != nil {
		return err
	}
	if err := e.storeAnswer(ctx, t, s, a); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if ch := e.waiting[s]; ch != nil {
		ch <- a // only the first answer gets here, and the channel has room for one
	}
	return nil
}

func newAnswer(output any, failure *TaskError) (answer, error) {
	if failure != nil {
		return answer{Failed: failure}, nil //nolint:nilerr // the failure is the answer
	}
	raw, err := asl.Encode(output)
	if err != nil {
		return answer{}, fault.NewWithCause(fault.Invalid, err, "the output of a task must be JSON")
	}
	if len(raw) > asl.MaxPayload {
		return answer{}, fault.New(
			fault.Invalid, "the output of a task has %d bytes; %d are allowed", len(raw), asl.MaxPayload)
	}
	return answer{Output: raw}, nil
}

// storeAnswer writes the answer, if the task still waits for one.
func (e *Embedded) storeAnswer(ctx context.Context, t token, s string, a answer) error {
	err := writePacked(func(as form) error {
		p, err := packValue(a, as)
		if err != nil {
			return err
		}
		it, err := encodeItem(t.ref().itemKey(answerPrefix+t.Nonce), p, e.p.Clock.Now().Add(maxLife))
		if err != nil {
			return err
		}
		return e.p.Store.Transact(table.Within(ctx, scopePrefix),
			table.Check(t.ref().itemKey(framePrefix+t.Path), table.Exists(), table.Equal("token", s)),
			table.Put(it, table.Absent()))
	})
	lost, ok := errors.AsType[*table.ConditionError](err)
	if !ok {
		return fault.Wrap("answer task of "+t.ref().String(), err)
	}
	if old, failed := lost.Old(0); failed && old.Data == nil {
		return fault.New(fault.NotFound, "no task of %s waits for this token", t.ref())
	}
	return fault.New(fault.Conflict, "the task of %s was answered already or is over", t.ref())
}
