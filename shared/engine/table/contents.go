package table

import (
	"encoding/binary"
	"hash/crc64"

	bolt "go.etcd.io/bbolt"
)

// sumKey is the key in the header of the sum of the contents, which each commit writes. A program that does not know it
// leaves it as it is; its transaction number is then not that of the file, and it says nothing.
var sumKey = []byte("sum")

// contents sums up what a store holds, so that a store from which rows have vanished is detected, whatever was damaged.
// A sum does not depend on the order of rows, so each commit adds and subtracts what it changes.
type contents struct {
	items    uint64 // of the keys and heads of items; a head has the checksum of the data
	feed     uint64 // of the entries of the feed
	sequence uint64 // of the feed
}

// polynomials is the table of the sums.
var polynomials = crc64.MakeTable(crc64.ECMA)

// itemSum returns the part of an item in the sum.
func itemSum(key, value []byte) uint64 {
	return crc64.Update(crc64.Checksum(key, polynomials), polynomials, value[:min(headBytes, len(value))])
}

// entrySum returns the part of an entry of the feed in the sum.
func entrySum(key, value []byte) uint64 {
	return crc64.Update(crc64.Checksum(key, polynomials), polynomials, value)
}

// replaceItem replaces the part of an item; nil stands for no item.
func (c *contents) replaceItem(key, before, after []byte) {
	if before != nil {
		c.items -= itemSum(key, before)
	}
	if after != nil {
		c.items += itemSum(key, after)
	}
}

// sumBytes is the size of a stored sum: transaction, items, feed, sequence.
const sumBytes = 32

// after returns the contents before the transaction tx, which writes: those of the stored sum, or c if an earlier
// version of the program has written since the sum. It reads the file, so it is right after a commit that failed.
func (c contents) after(tx *bolt.Tx) contents {
	txid, stored, ok := parseSum(tx.Bucket(headerBucket).Get(sumKey))
	if ok && txid+1 == uint64(tx.ID()) { //nolint:gosec // counts from 0
		return stored
	}
	return c
}

// store writes the sum into the header, in the transaction that changes the contents.
func (c contents) store(tx *bolt.Tx) error {
	b := make([]byte, 0, sumBytes)
	for _, n := range []uint64{uint64(tx.ID()), c.items, c.feed, c.sequence} { //nolint:gosec // counts from 0
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return tx.Bucket(headerBucket).Put(sumKey, b)
}

// parseSum decodes a stored sum.
func parseSum(b []byte) (txid uint64, c contents, ok bool) {
	if len(b) != sumBytes {
		return 0, contents{}, false
	}
	u64 := binary.BigEndian.Uint64
	return u64(b), contents{u64(b[8:]), u64(b[16:]), u64(b[24:])}, true
}

// matches reports whether the contents after a transaction are those of the stored sum. A sum of another transaction is
// not compared: an earlier version of the program has written since.
func (c contents) matches(stored []byte, txid uint64) bool {
	of, sum, ok := parseSum(stored)
	return !ok || of != txid || sum == c
}
