package table

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// A stored key is the partition key with 0x00 escaped as 00 FF, the terminator 00 01, and the sort key. The order of
// its bytes is the order of (PK, SK), and all keys of a partition share a prefix.
const (
	escaped    = "\x00\xff"
	terminator = "\x00\x01"
)

// partitionPrefix returns the prefix of the stored keys of a partition.
func partitionPrefix(pk string) []byte {
	b := make([]byte, 0, len(pk)+len(terminator)+32)
	if strings.IndexByte(pk, 0) >= 0 {
		pk = strings.ReplaceAll(pk, "\x00", escaped)
	}
	return append(append(b, pk...), terminator...)
}

// storedKey returns the stored form of k.
func storedKey(k Key) []byte { return append(partitionPrefix(k.PK), k.SK...) }

// splitKey decodes a stored key. It returns false for bytes that are none.
func splitKey(stored []byte) (Key, bool) {
	part, sk, found := bytes.Cut(stored, []byte(terminator))
	pk := string(part)
	if strings.IndexByte(pk, 0) >= 0 {
		pk = strings.ReplaceAll(pk, escaped, "\x00")
	}
	k := Key{PK: pk, SK: string(sk)}
	return k, found && bytes.Equal(storedKey(k), stored)
}

// prefixEnd returns the first key after all keys with the prefix, or nil if there is none.
func prefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			next := append([]byte(nil), prefix[:i+1]...)
			next[i]++
			return next
		}
	}
	return nil
}

// A stored value is a fixed-size head and the data in unchanged form, so that reads decode nothing. The head holds the
// size by DynamoDB's rules (4 bytes), the checksum of the data (4), and the expiry in Unix seconds or 0 (8).
const headBytes = 16

// castagnoli is the checksum that processors compute in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// head is the head of a stored value.
type head struct {
	size    int
	sum     uint32
	expires int64
}

// storedValue returns the stored form of an item of size bytes.
func storedValue(it Item, size int) []byte {
	b := make([]byte, headBytes, headBytes+len(it.Data))
	binary.BigEndian.PutUint32(b, uint32(size)) //nolint:gosec // at most MaxItem
	binary.BigEndian.PutUint32(b[4:], crc32.Checksum(it.Data, castagnoli))
	binary.BigEndian.PutUint64(b[8:], uint64(expirySeconds(it.Expires))) //nolint:gosec // never negative
	return append(b, it.Data...)
}

// parseHead decodes the head of a stored value.
func parseHead(v []byte) (head, bool) {
	if len(v) < headBytes {
		return head{}, false
	}
	return head{
		size:    int(binary.BigEndian.Uint32(v)),
		sum:     binary.BigEndian.Uint32(v[4:]),
		expires: int64(binary.BigEndian.Uint64(v[8:])), //nolint:gosec // written from an int64
	}, true
}

// isLive reports whether the item has not expired at now, in Unix seconds.
func (h head) isLive(now int64) bool { return h.expires == 0 || h.expires > now }

// isSumOf reports whether the head has the checksum of the data of the stored value v.
func (h head) isSumOf(v []byte) bool { return crc32.Checksum(v[headBytes:], castagnoli) == h.sum }

// expiryTime returns the expiry as a time.
func (h head) expiryTime() time.Time {
	if h.expires == 0 {
		return time.Time{}
	}
	return time.Unix(h.expires, 0).UTC()
}

// errDamagedItem is the cause of a DamageError of an item in a file.
var errDamagedItem = errors.New("its checksum is not that of its data")

// storedItem decodes and copies an item of the store.
func storedItem(k Key, v []byte) (Item, head, error) {
	h, ok := parseHead(v)
	if !ok || !h.isSumOf(v) {
		return Item{}, h, fault.NewWithCause(fault.Internal, &DamageError{k, errDamagedItem},
			"the stored item %s %s is damaged", k.PK, k.SK)
	}
	return Item{Key: k, Data: append([]byte(nil), v[headBytes:]...), Expires: h.expiryTime()}, h, nil
}

// expiryKey returns a key that sorts stored keys by expiry.
func expiryKey(expires int64, key []byte) []byte {
	b := make([]byte, 8, 8+len(key))
	binary.BigEndian.PutUint64(b, uint64(expires)) //nolint:gosec // never negative
	return append(b, key...)
}

// feedKey returns the key of an entry of the feed.
func feedKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// feedSequence decodes a key of the feed.
func feedSequence(k []byte) uint64 { return binary.BigEndian.Uint64(k) }

// feedHead is the number of bytes before the keys of a stored feed entry: time (8), length of PK (2), length of SK (2).
const feedHead = 12

// feedValue returns the stored form of an entry of the feed: time, keys, and the stored value of the item.
func feedValue(now int64, k Key, value []byte) []byte {
	b := make([]byte, 0, feedHead+len(k.PK)+len(k.SK)+len(value))
	b = binary.BigEndian.AppendUint64(b, uint64(now))       //nolint:gosec // after 1970
	b = binary.BigEndian.AppendUint16(b, uint16(len(k.PK))) //nolint:gosec // at most MaxKey
	b = binary.BigEndian.AppendUint16(b, uint16(len(k.SK))) //nolint:gosec // at most MaxKey
	b = append(append(b, k.PK...), k.SK...)
	return append(b, value...)
}

// feedItem decodes an entry of the feed.
func feedItem(v []byte) (Item, error) {
	if len(v) < feedHead {
		return Item{}, fault.New(fault.Internal, "a stored entry of the feed is damaged")
	}
	pk, sk := int(binary.BigEndian.Uint16(v[8:])), int(binary.BigEndian.Uint16(v[10:]))
	if len(v) < feedHead+pk+sk {
		return Item{}, fault.New(fault.Internal, "a stored entry of the feed is damaged")
	}
	k := Key{PK: string(v[feedHead : feedHead+pk]), SK: string(v[feedHead+pk : feedHead+pk+sk])}
	it, _, err := storedItem(k, v[feedHead+pk+sk:])
	return it, err
}

// sequenceOf returns the sequence of a bucket in its stored form.
func sequenceOf(bucket []byte) uint64 {
	if len(bucket) < bucketHeadBytes {
		return 0
	}
	return binary.NativeEndian.Uint64(bucket[8:])
}

// feedTime returns the time of an entry in Unix seconds.
func feedTime(v []byte) int64 {
	if len(v) < feedHead {
		return 0
	}
	return int64(binary.BigEndian.Uint64(v)) //nolint:gosec // written from an int64
}

// encodeCursor returns the cursor that continues a query after the sort key sk.
func encodeCursor(sk string) string { return base64.RawURLEncoding.EncodeToString([]byte(sk)) }

// decodeCursor decodes a query's cursor.
func decodeCursor(cursor string) (string, error) {
	sk, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || checkKeyPart("sort", string(sk)) != nil {
		return "", fault.New(fault.Invalid, "the cursor %.40q is not one that a query handed out", cursor)
	}
	return string(sk), nil
}
