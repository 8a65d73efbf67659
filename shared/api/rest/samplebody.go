package rest

import (
	"encoding/json"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Sample is a sample body of an operation for readers of the interface description.
type Sample struct {
	Body json.RawMessage `json:"body"` // empty if only programs sign and send the body
	// the reason why the sample cannot be sent, or "" if it is accepted with the reader's IDs in it
	Unsendable string `json:"unsendable"`
}

// AddSamples adds sample bodies, by operation ID, to the description.
func (a *API) AddSamples(samples map[string]Sample) {
	for _, path := range a.doc.Paths {
		for _, op := range []*huma.Operation{path.Post, path.Put, path.Patch, path.Delete} {
			if op == nil || op.RequestBody == nil {
				continue
			}
			if s, ok := samples[op.OperationID]; ok {
				s.describe(op)
			}
		}
	}
}

func (s Sample) describe(op *huma.Operation) {
	if s.Body != nil {
		op.RequestBody.Content[contentJSON].Example = s.Body
	}
	if s.Unsendable == "" {
		return
	}
	op.Description = strings.TrimSpace(op.Description + " The sample body cannot be sent as it is: " + s.Unsendable +
		".")
}
