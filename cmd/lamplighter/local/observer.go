package local

import (
	"context"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/seal"
)

// Observer is told what the functions take while they answer, from many goroutines.
type Observer interface {
	// Call tells that a function was called once, what it took from the store, and how long on the service's clock.
	Call(function string, u table.Usage, took time.Duration)
	// Transition tells of a state transition of a machine.
	Transition(machine string)
	// UseKey tells of a call to the key that wraps data keys: KMS, in AWS.
	UseKey()
}

// unobserved is nobody.
type unobserved struct{}

func (unobserved) Call(string, table.Usage, time.Duration) {}
func (unobserved) Transition(string)                       {}
func (unobserved) UseKey()                                 {}

// observedKey tells of each use of a key.
type observedKey struct {
	seal.KEK
	o Observer
}

// NewDataKey makes a data key.
func (k observedKey) NewDataKey(ctx context.Context, p seal.Place) (key, wrapped []byte, err error) {
	k.o.UseKey()
	return k.KEK.NewDataKey(ctx, p)
}

// Unwrap gives a data key back.
func (k observedKey) Unwrap(ctx context.Context, p seal.Place, wrapped []byte) ([]byte, error) {
	k.o.UseKey()
	return k.KEK.Unwrap(ctx, p, wrapped)
}
