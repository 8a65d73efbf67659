package local

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/seal"
)

const pepperSize = 32

// lineItemsFolder is the folder of line items in the folder of the service.
const lineItemsFolder = "line-items"

// newPlatform returns the platform of this process. Its keys are in files that only their owner may read. A lost key
// file is not replaced silently if the store has sealed values: those values then do not open, and the error says so.
func newPlatform(o Options, store table.Store) (*platform.Platform, error) {
	keys := filepath.Join(o.Dir, "keys")
	if err := os.MkdirAll(keys, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of keys: %w", err)
	}
	kek, err := seal.OpenKeyFile(filepath.Join(keys, "secrets.key"))
	if err != nil {
		return nil, err
	}
	ring, err := token.OpenKeyFile(filepath.Join(keys, "tokens.pem"), o.Clock)
	if err != nil {
		return nil, err
	}
	pepper, err := pepper(filepath.Join(keys, "pepper.key"))
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(o.Dir, "archive")
	inbox := archive.NewFolderInbox(dir, o.BaseURL, pepper, o.Clock)
	return &platform.Platform{
		Table: o.limited(store), Clock: o.Clock, Log: o.Log,
		Sealer: seal.NewEnvelope(observedKey{kek, o.Observer}), Tokens: token.NewJWTs(ring, o.BaseURL, o.Clock),
		Resolver: o.DNS, Archive: observedFiles{archive.NewFolder(dir), o.Observer}, Inbox: inbox, Outbox: inbox,
		Vault: observedVault{archive.NewFolderVault(o.anchors()), o.Observer}, AnchorKeys: token.NewDocuments(ring),
		Lines: observedFiles{archive.NewFolder(filepath.Join(o.Dir, lineItemsFolder)), o.Observer},
		Settings: platform.Settings{
			Version: o.Version, BaseURL: o.BaseURL, Simulated: true, CustomEndpoints: true, PrivateAddresses: true,
			Pepper: pepper, Epoch: o.Epoch, Google: o.Google, GitHub: o.GitHub, GoogleCloud: o.GoogleCloud,
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
