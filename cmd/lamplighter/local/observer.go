package local

import (
	"context"
	"io"
	"time"

	"lamplighter.dev/shared/engine/archive"
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
	// UseFiles records requests to the file store: S3, in AWS. puts write or list objects, gets read them.
	UseFiles(puts, gets int)
}

// unobserved is the Observer that ignores every call.
type unobserved struct{}

func (unobserved) Call(string, table.Usage, time.Duration) {}
func (unobserved) Transition(string)                       {}
func (unobserved) UseKey()                                 {}
func (unobserved) UseFiles(int, int)                       {}

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

// observedFiles is a store of files that reports its requests to an Observer. The deletion of objects is free in S3.
type observedFiles struct {
	archive.Files
	o Observer
}

// Put stores an object.
func (f observedFiles) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	f.o.UseFiles(1, 0)
	return f.Files.Put(ctx, name, write)
}

// Erase lists and deletes the objects of a folder.
func (f observedFiles) Erase(ctx context.Context, folder string) error {
	f.o.UseFiles(1, 0)
	return f.Files.Erase(ctx, folder)
}

// Size returns the size of an object.
func (f observedFiles) Size(ctx context.Context, name string) (int64, error) {
	f.o.UseFiles(0, 1)
	return f.Files.Size(ctx, name)
}

// ReadAt reads a part of an object.
func (f observedFiles) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	f.o.UseFiles(0, 1)
	return f.Files.ReadAt(ctx, name, p, off)
}

// observedVault is a vault that reports its requests to an Observer.
type observedVault struct {
	archive.Vault
	o Observer
}

// Add stores an object.
func (v observedVault) Add(ctx context.Context, name string, content []byte) error {
	v.o.UseFiles(1, 0)
	return v.Vault.Add(ctx, name, content)
}

// Read reads an object.
func (v observedVault) Read(ctx context.Context, name string) ([]byte, error) {
	v.o.UseFiles(0, 1)
	return v.Vault.Read(ctx, name)
}

// Names lists a folder.
func (v observedVault) Names(ctx context.Context, folder string) ([]string, error) {
	v.o.UseFiles(1, 0)
	return v.Vault.Names(ctx, folder)
}
