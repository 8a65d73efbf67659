package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/go-jose/go-jose/v4"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/audit/anchor"
	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/engine/archive"
)

// anchorProof compares an export with the anchors of its organization.
type anchorProof struct {
	folder, org, keys string
	nights            int
	unknownKey        bool
	leaves            map[int64]anchor.Leaf // by number of the row: of the last epoch
	last              *anchor.Leaf
	reached           int // leaves whose rows were compared
}

// flags defines the flags that name the anchors.
func (a *anchorProof) flags(f *flag.FlagSet) {
	f.StringVar(&a.folder, "anchors", "",
		"folder of the anchors: anchors in the folder of a local service, or a copy of the bucket that the stack "+
			"tells as "+
			"AnchorsName")
	f.StringVar(&a.org, "org", "", "of -anchors: the ID of the organization whose log it is, or system-00 to system-15")
	f.StringVar(&a.keys, "keys", "",
		"of -anchors: the public keys that may have signed, as GET /.well-known/jwks.json answers them, or as PEM; "+
			"without it the signature is not verified")
}

// read reads the anchors of the organization in all nights.
func (a *anchorProof) read(ctx context.Context) error {
	if a.folder == "" && a.org == "" && a.keys == "" {
		return nil
	}
	if a.folder == "" || a.org == "" {
		return errors.New("audit verify wants -anchors and -org together")
	}
	keys, err := readKeys(a.keys)
	if err != nil {
		return err
	}
	book := anchor.NewBook(archive.NewFolderVault(a.folder), keys)
	nights, err := book.Nights(ctx)
	if err != nil {
		return fmt.Errorf("read the anchors of %s: %w", a.folder, err)
	}
	if len(nights) == 0 {
		return fmt.Errorf("there are no anchors in %s", a.folder)
	}
	return a.take(ctx, book, nights)
}

// take keeps the leaves of the last epoch. Leaves of an earlier one may be of rows that a restore has removed.
func (a *anchorProof) take(ctx context.Context, book *anchor.Book, nights []anchor.Signed) error {
	latest := nights[len(nights)-1]
	a.nights, a.unknownKey, a.leaves = len(nights), latest.UnknownKey, map[int64]anchor.Leaf{}
	for _, n := range nights {
		leaves, err := book.Leaves(ctx, &n.Night, anchor.FileOf(a.org))
		if err != nil {
			return fmt.Errorf("read the anchors of %s: %w", a.folder, err)
		}
		if leaf, ok := leaves[a.org]; ok && !leaf.Explained(latest.Epoch) {
			a.leaves[leaf.Seq], a.last = leaf, &leaf
		}
	}
	if a.last == nil {
		return fmt.Errorf("the anchors in %s have no row of %s", a.folder, a.org)
	}
	return nil
}

// compare compares the row that the walk has reached with its anchor.
func (a *anchorProof) compare(w *audit.Walk) error {
	leaf, ok := a.leaves[w.Last]
	if !ok {
		return nil
	}
	if leaf.Hash != w.Hash {
		return fmt.Errorf("row %d is not the row that was anchored on %s: the log was rewritten, or is of an "+
			"older copy of "+
			"the store", w.Last, leaf.Anchored.Format(time.DateOnly))
	}
	a.reached++
	return nil
}

// conclude returns an error if the export ends before the last anchor.
func (a *anchorProof) conclude(w *audit.Walk) error {
	switch {
	case a.last == nil || w.Last >= a.last.Seq && a.reached > 0:
		return nil
	case w.Last < a.last.Seq:
		return fmt.Errorf("the rows end with %d, and row %d was anchored on %s: the export was made before, "+
			"its end was "+
			"cut off, or an older copy of the store was put back (docs/operations/restore.md)", w.Last, a.last.Seq,
			a.last.Anchored.Format(time.DateOnly))
	}
	return fmt.Errorf("the rows begin behind row %d, the last one that was anchored: name an earlier export before",
		a.last.Seq)
}

// result describes the comparison.
func (a *anchorProof) result() string {
	if a.last == nil {
		return ""
	}
	signed := "verified"
	switch {
	case a.keys == "":
		signed = "not verified: name the service's keys with -keys"
	case a.unknownKey:
		signed = "not verified: the key of the last night is none of -keys"
	}
	return fmt.Sprintf("anchors        %d of %d nights, the last of row %d on %s\nsignature      %s\n", a.reached,
		a.nights,
		a.last.Seq, a.last.Anchored.Format(time.DateOnly), signed)
}

// readKeys reads public keys from a file with a set of JSON Web Keys or with PEM blocks; nil without a file.
func readKeys(path string) (anchor.Verify, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // signatures are not verified then
	}
	b, err := os.ReadFile(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, fmt.Errorf("read -keys: %w", err)
	}
	var set jose.JSONWebKeySet
	if json.Unmarshal(b, &set) != nil || len(set.Keys) == 0 {
		if set, err = parsePublicKeys(b); err != nil {
			return nil, fmt.Errorf("-keys %s: %w", path, err)
		}
	}
	return func(_ context.Context, typ, document string) ([]byte, error) {
		return token.VerifyDocument(set, typ, document)
	}, nil
}

// parsePublicKeys parses PEM blocks of public keys.
func parsePublicKeys(b []byte) (set jose.JSONWebKeySet, err error) {
	for block, rest := pem.Decode(b); block != nil; block, rest = pem.Decode(rest) {
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return set, fmt.Errorf("a PEM block is no public key: %w", err)
		}
		var alg jose.SignatureAlgorithm
		switch parsed.(type) {
		case *ecdsa.PublicKey:
			alg = jose.ES256
		case ed25519.PublicKey:
			alg = jose.EdDSA
		}
		key, err := token.PublicKey(parsed, alg)
		if err != nil {
			return set, err
		}
		set.Keys = append(set.Keys, key)
	}
	if len(set.Keys) == 0 {
		return set, errors.New("it holds neither a set of JSON Web Keys nor a PEM block")
	}
	return set, nil
}
