package anchor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/fault"
)

// The folders of a vault, the form of times in names, and the type of the signatures.
const (
	nightsFolder = "nights"
	headsFolder  = "heads"
	timeForm     = "20060102T150405Z"
	dayForm      = "2006-01-02"
	documentType = "audit-anchor+jwt"
)

// Verify returns the body of a signed document, as token.VerifyDocument does.
type Verify func(ctx context.Context, typ, document string) ([]byte, error)

// Book reads and writes the nights of a vault.
type Book struct {
	vault  archive.Vault
	verify Verify
}

// NewBook returns the book in a vault. Without verify (nil), signatures are not verified.
func NewBook(v archive.Vault, verify Verify) *Book {
	if verify == nil {
		verify = acceptAnyKey
	}
	return &Book{v, verify}
}

// acceptAnyKey returns the body of a document with ErrUnknownKey, as for a key that was replaced.
func acceptAnyKey(_ context.Context, typ, document string) ([]byte, error) {
	return token.VerifyDocument(jose.JSONWebKeySet{}, typ, document)
}

// Signed is a night as it was read.
type Signed struct {
	Night
	Name   string
	Digest string
	// UnknownKey says that the key of the signature is none of the accepted ones: it was replaced since.
	UnknownKey bool
}

// maxRefused is the number of documents without a valid signature that Latest passes over.
const maxRefused = 10

// Latest returns the last night with a valid signature; nil if there is none. refused describes the later documents
// that were passed over: only a person with write access to the vault can have added them. If no night has an accepted
// key, because the key was replaced, it is the last night (UnknownKey).
func (b *Book) Latest(ctx context.Context) (last *Signed, refused, err error) {
	names, err := b.vault.Names(ctx, nightsFolder)
	if err != nil {
		return nil, nil, err
	}
	slices.Reverse(names)
	var unknown *Signed
	for _, name := range names[:min(len(names), maxRefused)] {
		s, err := b.read(ctx, name)
		switch {
		case err == nil && !s.UnknownKey:
			return &s, errors.Join(refused, refuseUnknown(unknown)), nil
		case err == nil && unknown == nil:
			unknown = &s
		case fault.KindOf(err) == fault.Unavailable:
			return nil, nil, err
		default:
			refused = errors.Join(refused, err)
		}
	}
	if unknown == nil && refused != nil {
		return nil, nil, fault.NewWithCause(fault.Internal, refused, "no night of the vault has a valid signature")
	}
	return unknown, refused, nil
}

// refuseUnknown returns the error for a night of an unknown key behind which there is one of an accepted key.
func refuseUnknown(s *Signed) error {
	if s == nil {
		return nil
	}
	return fmt.Errorf("the night %s is not accepted: its key is none of the service's", s.Name)
}

// Nights returns all nights, oldest first, and checks that each names the one before. The signature of the last one is
// verified; it covers the earlier ones.
func (b *Book) Nights(ctx context.Context) ([]Signed, error) {
	names, err := b.vault.Names(ctx, nightsFolder)
	if err != nil {
		return nil, err
	}
	unverified := NewBook(b.vault, nil)
	out := make([]Signed, len(names))
	for i, name := range names {
		from := unverified
		if i == len(names)-1 {
			from = b
		}
		if out[i], err = from.read(ctx, name); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, byTime)
	for i := 1; i < len(out); i++ {
		if out[i].Previous != out[i-1].Digest {
			return nil, fmt.Errorf(
				"the night %s does not name the night before it, %s: one of the two was altered, or "+
					"a night between them is missing", out[i].Name, out[i-1].Name)
		}
	}
	return out, nil
}

// read reads a night and verifies its signature.
func (b *Book) read(ctx context.Context, name string) (Signed, error) {
	s := Signed{Name: name}
	document, err := b.vault.Read(ctx, name)
	if err != nil {
		return s, err
	}
	body, err := b.verify(ctx, documentType, string(document))
	if fault.Is(err, fault.Unavailable) {
		return s, err
	}
	if s.UnknownKey = errors.Is(err, token.ErrUnknownKey); err != nil && !s.UnknownKey {
		return s, fmt.Errorf("the night %s is not accepted: %w", name, err)
	}
	if err = json.Unmarshal(body, &s.Night); err != nil {
		return s, fmt.Errorf("the night %s is not accepted: %w", name, err)
	}
	s.Digest = digestOf(document)
	return s, nil
}

// Leaves returns the leaves of a file of a night; none if the night has no such file.
func (b *Book) Leaves(ctx context.Context, n *Night, file string) (Leaves, error) {
	f, ok := n.Files[file]
	if !ok {
		return Leaves{}, nil
	}
	content, err := b.vault.Read(ctx, f.Object)
	if err != nil {
		return nil, err
	}
	if digestOf(content) != f.Digest {
		return nil, fmt.Errorf("the anchors %s were altered after the night of %s was signed", f.Object,
			n.At.Format(time.RFC3339))
	}
	return decodeLeaves(content)
}

// AddFile stores leaves for the night, unless they are those of the file before.
func (b *Book) AddFile(ctx context.Context, n *Night, name string, leaves Leaves, before File) error {
	content, err := leaves.encode()
	if err != nil {
		return err
	}
	f := File{fmt.Sprintf("%s/%s/%s.ndjson", headsFolder, n.At.Format(timeForm), name), digestOf(content)}
	if f.Digest == before.Digest {
		f = before
	} else if err = b.vault.Add(ctx, f.Object, content); err != nil && !b.holds(ctx, f, err) {
		return err
	}
	n.Files[name] = f
	return nil
}

// holds reports whether a file was added by another run at the same time, with the same content.
func (b *Book) holds(ctx context.Context, f File, err error) bool {
	if !fault.Is(err, fault.Conflict) {
		return false
	}
	content, err := b.vault.Read(ctx, f.Object)
	return err == nil && digestOf(content) == f.Digest
}

// Add signs a night and stores it under its day. If there is a night of that day, the error is fault.Conflict: of two
// runs at once, one makes the night.
func (b *Book) Add(ctx context.Context, sign token.Documents, n *Night) error {
	body, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("encode a night: %w", err)
	}
	document, err := sign.Sign(ctx, documentType, body)
	if err != nil {
		return fault.NewWithCause(fault.Unavailable, err, "the night cannot be signed now")
	}
	return b.vault.Add(ctx, fmt.Sprintf("%s/%s.jws", nightsFolder, n.At.Format(dayForm)), []byte(document))
}

// Find returns the answer for a chain of the latest night.
func (b *Book) Find(ctx context.Context, chain string) (Answer, error) {
	last, _, err := b.Latest(ctx)
	if err != nil || last == nil {
		return Answer{}, err
	}
	out := Answer{Night: last.At}
	leaves, err := b.Leaves(ctx, &last.Night, FileOf(chain))
	if err != nil {
		return out, err
	}
	if l, ok := leaves[chain]; ok {
		out.Leaf = &l
	}
	return out, nil
}
