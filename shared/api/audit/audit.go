// Package audit records the requests that change something, or try to. Each of them is a row in a chain of hashes, one
// chain for each organization, so that a row that is altered, removed or inserted is detected. A request stores an
// entry in the transaction of its change; entries are linked into the chain afterwards.
package audit

import (
	"encoding/json"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// Row is one request that changed something, or was refused. Its hash seals it together with all rows before it.
type Row struct {
	ID           string    `json:"id" doc:"The row" example:"aud_01k8z3v5y0e6m9x2q4t7r1c8bd"`
	Seq          int64     `json:"seq" doc:"Counts the rows of the organization from 1, without gaps"`
	At           time.Time `json:"at" doc:"Time in milliseconds; never earlier than that of the previous row"`
	Actor        string    `json:"actor" doc:"E-mail address of the user; system or anonymous if there is none"`
	UserID       string    `json:"userID" doc:"ID of the user (usr_…); empty if there is none"`
	Credential   string    `json:"credential" doc:"Kind of the caller's credential: jwt, pat, or empty"`
	Action       string    `json:"action" doc:"operationId of the request" example:"createTeam"`
	ResourceType string    `json:"resourceType" doc:"Kind of the record, as in policies" example:"teams"`
	Category     Category  `json:"category" doc:"Part of the service" enum:"platform,scheduling,cost,provisioning,deployments"`
	Method       string    `json:"method" example:"POST"`
	Path         string    `json:"path" doc:"With IDs, without the query" example:"/teams"`
	Status       int       `json:"status" doc:"Status of the answer; 0 if the service stopped after the change and before its answer" example:"200"`
	RequestID    string    `json:"requestID" doc:"As in X-Request-Id and in the logs"`
	// a row without one has no such member in the store and in exports, like all rows of earlier versions
	ClientRequestID *string `json:"clientRequestID" doc:"The client's own X-Request-Id, if it is 8 to 128 letters, digits and ._:/+=-"`
	IP              string  `json:"ip" doc:"Network address of the client, as the gateway saw it"`
	Target          string  `json:"target" doc:"The changed record, usually its ID"`
	Changes         Changes `json:"changes" doc:"The record before and after; secrets are [redacted], and each side is shortened to 8 kB"`
	PreviousHash    string  `json:"previousHash" doc:"hash of the previous row; 64 zeros in the first row"`
	Hash            string  `json:"hash" doc:"SHA-256 of previousHash, a line break, and the row's JSON without hash and without a clientRequestID of null, with members sorted by name"`
}

// Changes is a record before and after a change, as JSON. A side is nil if there is nothing to show.
type Changes struct {
	Before any `json:"before" doc:"Null if the record was created"`
	After  any `json:"after" doc:"Null if the record was deleted, or the request refused"`
}

// UnmarshalJSON decodes changes. It also accepts a JSON string, which is the form in the store, so that no engine
// alters a byte.
func (c *Changes) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var text string
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
		b = []byte(text)
	}
	var sides struct{ Before, After json.RawMessage }
	if err := json.Unmarshal(b, &sides); err != nil {
		return fault.NewWithCause(fault.Internal, err, "the changes of an audit row are damaged")
	}
	*c = Changes{decodeSide(sides.Before), decodeSide(sides.After)}
	return nil
}

// decodeSide returns a side unchanged, and nil for null.
func decodeSide(side json.RawMessage) any {
	if len(side) == 0 || string(side) == "null" {
		return nil
	}
	return side
}
