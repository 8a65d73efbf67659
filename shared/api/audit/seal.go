package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
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
		"method": r.Method, "path": r.Path, "status": int64(r.Status), "requestID": r.RequestID, "ip": r.IP,
		"target":  r.Target,
		"changes": map[string]any{"before": r.Changes.Before, "after": r.Changes.After}, "previousHash": r.PreviousHash,
	}
}

// sealAfter puts the content of a row behind what the head says is the last one, and seals it.
func sealAfter(content map[string]any, h Head) Head {
	seq, previous, at := h.Seq+1, h.Hash, Sealed(content).rowTime().Truncate(time.Millisecond)
	if h.Seq == 0 {
		previous = genesis
	}
	if at.Before(h.At) { // others were linked meanwhile, or were left by a process whose clock is ahead
		at = h.At
	}
	delete(content, "hash") // of a try before
	content["seq"], content["previousHash"] = json.Number(strconv.FormatInt(seq, 10)), previous
	content["at"] = at.Format(time.RFC3339Nano)
	content["hash"] = hashContent(content)
	return Head{seq, at, Sealed(content).stringMember("hash"), h.Epoch}
}

// storedItem returns a sealed row as it is stored. The changes are a text, so that no engine writes their numbers in its own
// way.
func storedItem(pk string, content map[string]any) table.Item {
	s := Sealed(content)
	data := maps.Clone(content)
	data["changes"] = string(appendCanonical(nil, content["changes"]))
	return table.Item{Key: table.Key{PK: pk, SK: sortKey(s.rowTime(), s.rowNumber())}, Data: appendCanonical(nil, data)}
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
