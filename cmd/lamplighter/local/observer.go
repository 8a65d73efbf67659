package local

import (
	"context"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/seal"
)

// Observer is told about the usage of functions. Many goroutines call it.
type Observer interface {
	// Call records one call of a function, with its usage of the store and its duration on the service's clock.
	Call(function string, u table.Usage, took time.Duration)
	// Transition records a state transition of a machine.
	Transition(machine string)
	// UseKey records a call to the key that wraps data keys: KMS, in AWS.
	UseKey()
}

// unobserved is the Observer that ignores every call.
type unobserved struct{}

func (unobserved) Call(string, table.Usage, time.Duration) {}
func (unobserved) Transition(string)                       {}
func (unobserved) UseKey()                                 {}

// observedKey is a key that reports each use to an Observer.
type observedKey struct {
	seal.KEK
	o Observer
}

// NewDataKey returns a new data key, plain and wrapped.
func (k observedKey) NewDataKey(ctx context.Context, p seal.Place) (key, wrapped []byte, err error) {
	k.o.UseKey()
	return k.KEK.NewDataKey(ctx, p)
}

// Unwrap returns an unwrapped data key.
func (k observedKey) Unwrap(ctx context.Context, p seal.Place, wrapped []byte) ([]byte, error) {
	k.o.UseKey()
	return k.KEK.Unwrap(ctx, p, wrapped)
}
