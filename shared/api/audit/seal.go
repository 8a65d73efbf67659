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

// clientRequestID is the member of a row's content that only some rows have.
const clientRequestID = "clientRequestID"

// hashContent returns the hash of a row's content: of all its members except hash.
func hashContent(content map[string]any) string {
	previous, _ := content["previousHash"].(string)
	sum := sha256.Sum256(appendCanonical([]byte(previous+"\n"), content))
	return hex.EncodeToString(sum[:])
}

// content returns the row in the form for hashContent. Its changes must be values as decodeJSON returns them.
func (r *Row) content() map[string]any {
	out := map[string]any{
		"id": r.ID, "seq": r.Seq, "at": r.At.UTC().Format(time.RFC3339Nano), "actor": r.Actor, "userID": r.UserID,
		"credential": r.Credential, "action": r.Action, "resourceType": r.ResourceType, "category": string(r.Category),
		"method": r.Method, "path": r.Path, "status": int64(r.Status), "requestID": r.RequestID, "ip": r.IP,
		"target":  r.Target,
		"changes": map[string]any{"before": r.Changes.Before, "after": r.Changes.After}, "previousHash": r.PreviousHash,
	}
	if r.ClientRequestID != nil {
		out[clientRequestID] = *r.ClientRequestID
	}
	return out
}

// sealAfter adds the members that depend on the place in the chain to the content of a row that follows h, and returns
// the new head.
func sealAfter(content map[string]any, h Head) Head {
	seq, previous, at := h.Seq+1, h.Hash, Sealed(content).rowTime().Truncate(time.Millisecond)
	if h.Seq == 0 {
		previous = genesis
	}
	if at.Before(h.At) { // other rows were linked in the meantime, or came from a process with a fast clock
		at = h.At
	}
	delete(content, "hash") // of an earlier attempt
	content["seq"], content["previousHash"] = json.Number(strconv.FormatInt(seq, 10)), previous
	content["at"] = at.Format(time.RFC3339Nano)
	content["hash"] = hashContent(content)
	return Head{seq, at, Sealed(content).stringMember("hash"), h.Epoch}
}

// storedItem returns a sealed row as an item. Its changes are text, so that no engine changes the notation of numbers.
func storedItem(pk string, content map[string]any) table.Item {
	s := Sealed(content)
	data := maps.Clone(content)
	data["changes"] = string(appendCanonical(nil, content["changes"]))
	return table.Item{Key: table.Key{PK: pk, SK: sortKey(s.rowTime(), s.rowNumber())}, Data: appendCanonical(nil, data)}
}

// sortKey returns the sort key of a row. Keys are ordered by time, and so by number.
func sortKey(at time.Time, seq int64) string { return fmt.Sprintf("%s#%012d", lowestKeyAt(at), seq) }

// latest is the last time that sort keys can represent, in the year 2286. With one more digit they would not be in
// order.
const latest = 9_999_999_999_999

// lowestKeyAt returns a lower bound of the sort keys of rows at or after a time.
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
