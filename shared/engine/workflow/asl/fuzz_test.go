package asl

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// instant is a clock without waits.
type instant struct{}

func (instant) Now() time.Time { return epoch }

func (instant) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

var _ clock.Clock = instant{}

// FuzzMachine parses any text as a machine, and runs valid ones. It must not panic, hang, or fail without an error
// name.
func FuzzMachine(f *testing.F) {
	for _, c := range readCases(f) {
		f.Add([]byte(c.Definition), []byte(c.Input))
	}
	f.Fuzz(func(t *testing.T, definition, input []byte) {
		m, err := Parse(definition)
		if err != nil || m.TimeoutSeconds > 0 || len(input) > 10_000 {
			return
		}
		w := newFixture()
		w.tasks = map[string]testTask{"echo": func(_ context.Context, in map[string]any) (any, error) {
			return in, nil
		}}
		out, err := m.Run(t.Context(), Env{Clock: instant{}, Tasks: answering{w}}, newExecution(string(input)))
		if _, named := errors.AsType[*Error](err); err != nil && !named {
			t.Fatalf("an error without a name: %v", err)
		}
		if err == nil && !json.Valid(out) {
			t.Fatalf("the output is not JSON: %q", out)
		}
	})
}

// answering is a fixture that answers every token at once.
type answering struct{ *fixture }

func (answering) Await(context.Context, string) (json.RawMessage, error) {
	return json.RawMessage(`1`), nil
}

// FuzzExpression parses any text as a path or an intrinsic, and evaluates it.
func FuzzExpression(f *testing.F) {
	for _, s := range []string{
		`$.a[1]['b']`, `$$.k[*].c`, `States.Format('{}-\{', $.a)`,
		`States.Array(1, States.ArrayRange(1, 9, 2))`, `States.Hash('x','MD5')`, `States.StringSplit($.s, ',')`,
	} {
		f.Add(s, `{"a":[1,{"b":2}],"s":"a,b"}`)
	}
	f.Fuzz(func(t *testing.T, text, data string) {
		v, err := evaluate(text, data)
		if err != nil {
			return
		}
		b, err := encodeJSON(v)
		if err != nil || !json.Valid(b) {
			t.Fatalf("%s gives %v, which is not JSON: %v", text, v, err)
		}
		if n := measureJSON(v, 1<<30); n > len(b) {
			t.Fatalf("size says %d of %d bytes: %s", n, len(b), b)
		}
	})
}
