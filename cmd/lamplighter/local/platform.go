package local

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

const pepperSize = 32

// lineItemsFolder is the folder of line items in the folder of the service.
const lineItemsFolder = "line-items"

// The key files that a store cannot be read without.
const (
	secretsKeyFile = "secrets.key"
	pepperKeyFile  = "pepper.key"
)

// keys are the keys of the service, from files that only their owner may read.
type keys struct {
	secrets *seal.KeyFile
	tokens  *token.KeyFile
	pepper  []byte
}

// openKeys reads the key files of the service, and makes those that are missing.
func openKeys(o Options) (k keys, err error) {
	dir := o.keysFolder()
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return k, fmt.Errorf("make the folder of keys: %w", err)
	}
	if k.secrets, err = seal.OpenKeyFile(filepath.Join(dir, secretsKeyFile)); err != nil {
		return k, err
	}
	if k.tokens, err = token.OpenKeyFile(filepath.Join(dir, "tokens.pem"), o.Clock); err != nil {
		return k, err
	}
	k.pepper, err = pepper(filepath.Join(dir, pepperKeyFile))
	return k, err
}

// refuseLostKeys returns an error if a key file of an existing store is missing. A new key in its place would hide the
// accounts and credentials of the store.
func refuseLostKeys(o Options, store string) error {
	for _, name := range []string{pepperKeyFile, secretsKeyFile} {
		path := filepath.Join(o.keysFolder(), name)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the key file %s is missing, and the store %s cannot be used without it: restore it "+
				"from your copy of the keys, or move the store away to start empty", path, store)
		}
	}
	return nil
}

// pepperMark is the record in an embedded store that tells by which pepper it hashes. It does not reveal the pepper.
type pepperMark struct {
	Digest string `json:"digest"`
}

// refuseOtherPepper returns an error if an embedded store was written with another pepper: its accounts would not be
// found. It marks a store that has no mark yet, such as a new one. It takes one round trip.
func refuseOtherPepper(o Options, store table.Store, pepper []byte) error {
	if o.Remote.Table != "" {
		return nil
	}
	key := table.Key{PK: "KEYS#LAPTOP", SK: "PEPPER"}
	ctx := table.Within(context.Background(), key.PK)
	now := pepperMark{identity.Digest(pepper, "the pepper of this store")}
	was, err := table.Read[pepperMark](ctx, store, key)
	switch {
	case fault.Is(err, fault.NotFound):
		return markPepper(ctx, store, key, now)
	case err != nil:
		return fmt.Errorf("read which pepper the store has: %w", err)
	case was != now:
		return fmt.Errorf("the key file %s belongs to another store, or is damaged: restore the one that %s was "+
			"written with from your copy of the keys", filepath.Join(o.keysFolder(), pepperKeyFile), storePath(o))
	}
	return nil
}

func markPepper(ctx context.Context, store table.Store, key table.Key, mark pepperMark) error {
	it, err := table.NewItem(key, mark)
	if err == nil {
		_, err = store.Write(ctx, table.Put(it))
	}
	return fault.Wrap("write which pepper the store has", err)
}

func storePath(o Options) string { return filepath.Join(o.Dir, "store.db") }

func (o Options) keysFolder() string { return filepath.Join(o.Dir, "keys") }

// newPlatform returns the platform of this process.
func newPlatform(o Options, store table.Store) (*platform.Platform, error) {
	k, err := openKeys(o)
	if err == nil {
		err = refuseOtherPepper(o, store, k.pepper)
	}
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(o.Dir, "archive")
	inbox := archive.NewFolderInbox(dir, o.BaseURL, k.pepper, o.Clock)
	return &platform.Platform{
		Table: o.limited(store), Clock: o.Clock, Log: o.Log,
		Sealer:   seal.NewEnvelope(observedKey{k.secrets, o.Observer}),
		Tokens:   token.NewJWTs(k.tokens, o.BaseURL, o.Clock),
		Resolver: o.DNS, Archive: observedFiles{archive.NewFolder(dir), o.Observer}, Inbox: inbox, Outbox: inbox,
		Vault: observedVault{archive.NewFolderVault(o.anchors()), o.Observer}, AnchorKeys: token.NewDocuments(k.tokens),
		Lines: observedFiles{archive.NewFolder(filepath.Join(o.Dir, lineItemsFolder)), o.Observer},
		Settings: platform.Settings{
			Version: o.Version, BaseURL: o.BaseURL, Simulated: true, CustomEndpoints: true, PrivateAddresses: true,
			Pepper: k.pepper, Epoch: o.Epoch, Google: o.Google, GitHub: o.GitHub, GoogleCloud: o.GoogleCloud,
			BillReader: o.BillReader,
		},
	}, nil
}

// anchors returns the folder of the anchors of the audit log.
func (o Options) anchors() string { return cmp.Or(o.Anchors, filepath.Join(o.Dir, "anchors")) }

// pepper reads the key of stored hashes, and makes one if there is none.
func pepper(path string) ([]byte, error) {
	b, err := seal.ReadPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		b = make([]byte, pepperSize)
		rand.Read(b) //nolint:errcheck // crypto/rand never fails
		b, err = seal.CreatePrivate(path, b)
	}
	if err != nil {
		return nil, err
	}
	if len(b) != pepperSize {
		return nil, fmt.Errorf(
			"key file %s has %d bytes, where %d belong: restore it, for without it no login works", path, len(b),
			pepperSize)
	}
	return b, nil
}
