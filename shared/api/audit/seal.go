package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// genesis is the previousHash of the first row of a chain.
var genesis = strings.Repeat("0", sha256.Size*2)

// hashContent seals the content of a row: all of its members but hash.
func hashContent(content map[string]any) string {
	previous, _ := content["previousHash"].(string)
	sum := sha256.Sum256(appendCanonical([]byte(previous+"\n"), content))
	return hex.EncodeToString(sum[:])
}

// content returns the row as digest takes it. Changes are made of what decode gives.
func (r *Row) content() map[string]any {
	return map[string]any{
		"id": r.ID, "seq": r.Seq, "at": r.At.UTC().Format(time.RFC3339Nano), "actor": r.Actor, "userID": r.UserID,
		"credential": r.Credential, "action": r.Action, "resourceType": r.ResourceType, "category": string(r.Category),
		"method": r.Method, "path": r.Path, "status": int64(r.Status), "requestID": r.RequestID, "ip": r.IP, "target": r.Target,
		"changes": map[string]any{"before": r.Changes.Before, "after": r.Changes.After}, "previousHash": r.PreviousHash,
	}
}

// sealAfter puts the row behind what the head says is the last one, and seals it.
func (r *Row) sealAfter(h Head, now time.Time) Head {
	r.Seq, r.PreviousHash = h.Seq+1, h.Hash
	if h.Seq == 0 {
		r.PreviousHash = genesis
	}
	r.At = now.UTC().Truncate(time.Millisecond)
	if r.At.Before(h.At) { // of another process, whose clock is ahead
		r.At = h.At
	}
	r.Hash = hashContent(r.content())
	return Head{r.Seq, r.At, r.Hash}
}

// storedItem returns the row as it is stored. The changes are a text, so that no engine writes their numbers in its own way.
func (r *Row) storedItem(pk string) table.Item {
	content := r.content()
	content["changes"] = string(appendCanonical(nil, content["changes"]))
	content["hash"] = r.Hash
	return table.Item{Key: table.Key{PK: pk, SK: sortKey(r.At, r.Seq)}, Data: appendCanonical(nil, content)}
}

// sortKey puts rows in the order of their time, which is that of their numbers.
func sortKey(at time.Time, seq int64) string { return fmt.Sprintf("%s#%012d", lowestKeyAt(at), seq) }

// latest is the last time that sort keys can tell, in the year 2286: one digit more, and they are out of order.
const latest = 9_999_999_999_999

// lowestKeyAt returns what the sort keys of rows at or after a time are not below.
func lowestKeyAt(at time.Time) string {
	ms := at.UnixMilli()
	if at.After(time.UnixMilli(ms)) {
		ms++
	}
	return fmt.Sprintf("%013d", min(max(ms, 0), latest))
}

// String returns the row as one line of JSON, for the log.
func (r *Row) String() string {
	content := r.content()
	content["hash"] = r.Hash
	return string(appendCanonical(nil, content))
}
