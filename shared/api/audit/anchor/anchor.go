// Package anchor records the heads of all audit chains outside of the table, each night. A chain proves that no row
// between its first and its last was changed. An anchor proves that its end was not cut off, that it was not rewritten
// as a whole, and that the table is not an older copy of itself.
//
// A night is a signed document that names files by their digests, and the night before by its digest. The files hold
// the heads. So a night costs one signature and at most 18 objects, for any number of organizations.
package anchor

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
)

// Worker is the function that anchors chains at night. If it is called with a Question, it answers with the anchor of a
// chain.
const Worker = "auditanchor"

// Question asks for the anchor of an organization's chain.
type Question struct {
	Org string `json:"org,omitempty"`
}

// Answer is the anchor of a chain in the latest night. Leaf is nil if the chain has none.
type Answer struct {
	Night time.Time `json:"night,omitzero"`
	Leaf  *Leaf     `json:"leaf,omitempty"`
}

// Leaf is the anchor of a chain: its last row at a time.
type Leaf struct {
	Chain    string    `json:"chain"` // the ID of the organization, or system-00 to system-15
	Seq      int64     `json:"seq"`
	Hash     string    `json:"hash"`
	At       time.Time `json:"at"`       // of the row
	Anchored time.Time `json:"anchored"` // the first night with this row
	// Broken is the reason why the chain did not continue from the row in later nights; the row then stays anchored.
	Broken string `json:"broken,omitempty"`
}

// Chain is an audit chain with its name in anchors.
type Chain struct {
	Name  string
	Place audit.Place
}

// ChainOf returns the chain of an organization.
func ChainOf(org string) Chain { return Chain{org, audit.PlaceOf(org)} }

// SystemFile is the file of the chains of the installation.
const SystemFile = "system"

// SystemChains returns the chains of the installation.
func SystemChains() []Chain {
	places := audit.SystemPlaces()
	out := make([]Chain, len(places))
	for i, p := range places {
		out[i] = Chain{fmt.Sprintf("%s-%02d", SystemFile, i), p}
	}
	return out
}

// FileOf returns the file of a chain: of an organization, that of its shard of the directory.
func FileOf(chain string) string {
	if strings.HasPrefix(chain, SystemFile+"-") {
		return SystemFile
	}
	return ShardFile(table.ShardOf(chain, identity.DirectoryShards))
}

// ShardFile returns the file of the organizations of a shard of the directory.
func ShardFile(shard int) string { return fmt.Sprintf("%02d", shard) }

// Night is a signed document. Files of an earlier night are named again if no head in them has changed.
type Night struct {
	At       time.Time       `json:"at"`
	Epoch    time.Time       `json:"epoch,omitzero"`     // of the service at that time
	Previous string          `json:"previous,omitempty"` // digest of the document of the night before
	Files    map[string]File `json:"files"`              // by name
}

// File names an object with leaves.
type File struct {
	Object string `json:"object"`
	Digest string `json:"digest"`
}

// Leaves are the anchors of a file, by chain.
type Leaves map[string]Leaf

// encode returns the leaves as lines of JSON, in the order of the chains.
func (l Leaves) encode() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	for _, chain := range slices.Sorted(maps.Keys(l)) {
		if err := e.Encode(l[chain]); err != nil {
			return nil, fmt.Errorf("encode the anchor of %s: %w", chain, err)
		}
	}
	return out.Bytes(), nil
}

// decodeLeaves decodes the lines of a file.
func decodeLeaves(b []byte) (Leaves, error) {
	out := Leaves{}
	for line := range bytes.Lines(b) {
		var l Leaf
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, fmt.Errorf("decode anchors: %w", err)
		}
		out[l.Chain] = l
	}
	return out, nil
}

// digestOf returns the digest of a document or a file.
func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Explained reports whether a restore explains that the chain does not continue from the leaf: the operator has named
// an epoch after the night of the leaf.
func (l Leaf) Explained(epoch time.Time) bool { return l.Anchored.Before(epoch) }

// byTime orders nights, oldest first.
func byTime(a, b Signed) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Name, b.Name)) }
