package table

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strconv"

	"lamplighter.dev/shared/foundation/fault"
)

// inspection checks a store file completely: the pages, the order of the keys, the checksum of each item, the order of
// expiry, and the sum of the contents. A file that passes has no page on which bbolt could fail, and no row is missing.
type inspection struct {
	path     string
	pages    *boltPages
	parts    map[string][]byte // buckets in their stored form, by name
	header   map[string][]byte
	contents contents
	expiring balance
}

// balance compares the expiring items with their entries in the order of expiry, without memory for each.
type balance struct {
	seed maphash.Seed
	sum  uint64
}

// add adds the hash of an entry; the entry of an item and that of the order cancel each other out.
func (b *balance) add(sign uint64, entry []byte) { b.sum += sign * maphash.Bytes(b.seed, entry) }

// inspectStore checks the store file f of size bytes, and returns its contents and the number of its last transaction.
// The errors are for operators.
func inspectStore(f io.ReaderAt, path string, size int64, layout int) (c contents, txid uint64, err error) {
	defer func() {
		if r := recover(); r != nil { // a form of damage that no check knows
			err = errDamaged(path, r)
		}
	}()
	head, err := readHead(f, size)
	switch {
	case errors.Is(err, errNoHeads):
		return c, 0, errForeign(path)
	case err != nil:
		return c, 0, errDamaged(path, err)
	}
	i := &inspection{
		path: path, pages: newBoltPages(f, head), parts: map[string][]byte{}, header: map[string][]byte{},
		expiring: balance{seed: maphash.MakeSeed()},
	}
	if err = i.inspectHeader(layout); err != nil {
		return c, 0, err
	}
	if err = i.inspectParts(); err != nil {
		return c, 0, errDamaged(path, err)
	}
	return i.contents, head.txid, nil
}

// inspectHeader reads the names of the buckets and the header, and checks format, version and layout.
func (i *inspection) inspectHeader(layout int) error {
	err := i.pages.walkTree(i.pages.head.root, i.takePart)
	if err != nil {
		return errDamaged(i.path, err)
	}
	header, ok := i.parts[string(headerBucket)]
	if !ok {
		return errForeign(i.path)
	}
	err = i.pages.walkBucket(header, func(e element) error {
		i.header[string(e.key)] = bytes.Clone(e.value)
		return nil
	})
	if err != nil {
		return errDamaged(i.path, err)
	}
	return errors.Join(i.checkVersion(), i.checkLayout(layout))
}

// takePart stores a bucket of the bucket of buckets.
func (i *inspection) takePart(e element) error {
	if !e.isBucket {
		return fmt.Errorf("there is a row %.40q outside of the parts", e.key)
	}
	i.parts[string(e.key)] = bytes.Clone(e.value)
	return nil
}

// checkVersion checks the header's format and version, and that the buckets exist.
func (i *inspection) checkVersion() error {
	if string(i.header[string(formatKey)]) != formatName {
		return errForeign(i.path)
	}
	v, err := strconv.Atoi(string(i.header[string(versionKey)]))
	if err != nil || v < 1 {
		return errDamaged(i.path, "its version is unreadable")
	}
	if v > version {
		return fault.New(fault.Invalid,
			"the store file %s has version %d and this program reads up to %d; use the newer program", i.path, v,
			version)
	}
	for _, name := range [][]byte{itemBucket, expiryBucket, feedBucket} {
		if i.parts[string(name)] == nil {
			return errDamaged(i.path, "the part "+string(name)+" is missing")
		}
	}
	return nil
}

// checkLayout returns an error for a file with another layout version; 0 accepts every version.
func (i *inspection) checkLayout(layout int) error {
	if layout == 0 {
		return nil
	}
	has := 1
	if text := i.header[string(layoutKey)]; text != nil {
		var err error
		if has, err = strconv.Atoi(string(text)); err != nil {
			return errDamaged(i.path, "its layout is unreadable")
		}
	}
	if has != layout && has != 0 {
		return fault.New(fault.Invalid,
			"the store file %s has its rows in layout %d and this program reads %d: use the program that wrote it, "+
				"or move the file away to start empty", i.path, has, layout)
	}
	return nil
}

// inspectParts checks the contents of all buckets, and that no page is lost.
func (i *inspection) inspectParts() error {
	for name, value := range i.parts {
		var err error
		switch name {
		case string(headerBucket):
		case string(itemBucket):
			err = i.pages.walkBucket(value, i.inspectItem)
		case string(expiryBucket):
			err = i.pages.walkBucket(value, i.inspectExpiry)
		case string(feedBucket):
			i.contents.sequence = sequenceOf(value)
			err = i.pages.walkBucket(value, i.inspectEntry)
		default:
			err = i.pages.walkBucket(value, i.passUnknown)
		}
		if err != nil {
			return fmt.Errorf("in the part %.40q, %w", name, err)
		}
	}
	if i.expiring.sum != 0 {
		return errors.New("its order of expiry is not that of its items")
	}
	if !i.contents.matches(i.header[string(sumKey)], i.pages.head.txid) {
		return errors.New("its contents are not those of the last change")
	}
	return i.pages.checkFree()
}

// inspectItem checks an item.
func (i *inspection) inspectItem(e element) error {
	k, ok := splitKey(e.key)
	if !ok || e.isBucket {
		return fmt.Errorf("%.40q is not a key", e.key)
	}
	h, ok := parseHead(e.value)
	if !ok || !h.isSumOf(e.value) {
		return fmt.Errorf("the item %.100q %.100q is altered", k.PK, k.SK)
	}
	i.contents.replaceItem(e.key, nil, e.value)
	if h.expires != 0 {
		i.expiring.add(1, expiryKey(h.expires, e.key))
	}
	return nil
}

// inspectExpiry checks an entry of the order of expiry.
func (i *inspection) inspectExpiry(e element) error {
	if e.isBucket || len(e.value) > 0 {
		return fmt.Errorf("%.40q has a value", e.key)
	}
	i.expiring.add(^uint64(0), e.key)
	return nil
}

// inspectEntry checks an entry of the feed.
func (i *inspection) inspectEntry(e element) error {
	if e.isBucket || len(e.key) != len(feedKey(0)) || feedSequence(e.key) > i.contents.sequence {
		return fmt.Errorf("%q is not a number of an entry", e.key)
	}
	if _, err := feedItem(e.value); err != nil {
		return err
	}
	i.contents.feed += entrySum(e.key, e.value)
	return nil
}

// passUnknown walks through a bucket that this program does not know, because its pages are in use.
func (i *inspection) passUnknown(e element) error {
	if !e.isBucket {
		return nil
	}
	return i.pages.walkBucket(bytes.Clone(e.value), i.passUnknown)
}
