// Package audit keeps the record of who changed what, or tried to: one row for each request that changes something, in a
// chain of hashes for each organization, so that a row that is altered, left out or put in later is found out. A request leaves
// an entry, in the transaction of its change; entries are linked into the chain afterwards.
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
	At           time.Time `json:"at" doc:"When it happened, to the millisecond; never before the row before it"`
	Actor        string    `json:"actor" doc:"E-mail address of who did it; system or anonymous where nobody is known"`
	UserID       string    `json:"userID" doc:"Who did it (usr_…); empty where nobody is known"`
	Credential   string    `json:"credential" doc:"How the caller proved who they are: jwt, pat, or empty"`
	Action       string    `json:"action" doc:"operationId of the request" example:"createTeam"`
	ResourceType string    `json:"resourceType" doc:"What kind of thing it is about, as policies name it" example:"teams"`
	Category     Category  `json:"category" doc:"Which part of the service" enum:"platform,scheduling,cost,provisioning,deployments"`
	Method       string    `json:"method" example:"POST"`
	Path         string    `json:"path" doc:"With its ids, without the query" example:"/teams"`
	Status       int       `json:"status" doc:"What was answered; 0 where the service ended after the change and before its answer" example:"200"`
	RequestID    string    `json:"requestID" doc:"As in X-Request-Id and in the logs"`
	IP           string    `json:"ip" doc:"Where the request came from, as the gateway saw it"`
	Target       string    `json:"target" doc:"The thing that it is about, mostly its id"`
	Changes      Changes   `json:"changes" doc:"The thing before and after; secrets are [redacted], and more than 8 kB is shortened"`
	PreviousHash string    `json:"previousHash" doc:"hash of the row before; 64 zeros in the first"`
	Hash         string    `json:"hash" doc:"SHA-256 of previousHash, a line break, and the row's JSON without hash, its members in order of their names"`
}

// Changes is a thing before and after a change, as JSON; nil where there is nothing to tell.
type Changes struct {
	Before any `json:"before" doc:"Null for what was created"`
	After  any `json:"after" doc:"Null for what was deleted or refused"`
}

// UnmarshalJSON reads changes, also from the text in which the store keeps them: no engine then alters a byte of it.
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
	*c = Changes{shown(sides.Before), shown(sides.After)}
	return nil
}

// shown returns a side as it is written out again: byte for byte, and null for nothing.
func shown(side json.RawMessage) any {
	if len(side) == 0 || string(side) == "null" {
		return nil
	}
	return side
}
