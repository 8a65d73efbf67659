package rest

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// MaxTexts is how many texts a Texts may have.
const MaxTexts = 20

// Texts is a field of a body that accepts one text or a list of at most MaxTexts, like a query parameter that may be
// repeated.
type Texts []string

// UnmarshalJSON reads a text or a list of texts.
func (t *Texts) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil && string(b) != "null" {
		*t = Texts{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// Schema documents the field as a text or a list of texts.
func (Texts) Schema(huma.Registry) *huma.Schema {
	text, most := &huma.Schema{Type: huma.TypeString}, MaxTexts
	return &huma.Schema{OneOf: []*huma.Schema{text, {Type: huma.TypeArray, Items: text, MaxItems: &most}}}
}
