package wire

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/smithy-go/encoding/httpbinding"
)

// Params are the parameters of an operation that no struct describes: tables of changes name them
// (shared/cloud/aws/settings).
type Params struct {
	Labels map[string]string // in the path of a REST request
	Query  map[string]string // in the address of a REST request
	// Body are the members of a JSON body, or the parameters of a form by their complete names:
	// "Filters.Filter.1.Name".
	Body map[string]any
}

// MarshalJSON writes the body.
func (p *Params) MarshalJSON() ([]byte, error) {
	if p.Body == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(p.Body)
}

// bind writes the labels and the query of a REST request.
func (p *Params) bind(enc *httpbinding.Encoder) error {
	for _, name := range slices.Sorted(maps.Keys(p.Labels)) {
		if p.Labels[name] == "" {
			return fmt.Errorf("input member %s must not be empty", name)
		}
		if err := enc.SetURI(name).String(p.Labels[name]); err != nil {
			return err
		}
	}
	for name, text := range p.Query {
		enc.SetQuery(name).String(text)
	}
	return nil
}

// addTo writes the parameters into a form.
func (p *Params) addTo(form url.Values) {
	for name, v := range p.Body {
		form.Set(name, fmt.Sprint(v))
	}
}

// Document is a response that no struct describes. Objects are map[string]any, lists []any, numbers json.Number. The
// elements of XML are texts, and objects of their children; an element whose children are called item or member, and
// one that is repeated, is a list.
type Document map[string]any

// UnmarshalJSON reads a JSON response. Numbers keep their spelling.
func (d *Document) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		return err
	}
	*d = m
	return nil
}

// UnmarshalXML reads an element of an XML response.
func (d *Document) UnmarshalXML(dec *xml.Decoder, _ xml.StartElement) error {
	v, err := readXML(dec)
	if err != nil {
		return err
	}
	m, _ := v.(map[string]any)
	*d = m
	return nil
}

// readXML reads the content of an element up to its end: a text, an object or a list.
func readXML(dec *xml.Decoder) (any, error) {
	var text strings.Builder
	var kids map[string]any
	for {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			if kids == nil {
				return strings.TrimSpace(text.String()), nil
			}
			return listOr(kids), nil
		case xml.StartElement:
			kid, err := readXML(dec)
			if err != nil {
				return nil, err
			}
			if kids == nil {
				kids = map[string]any{}
			}
			addXML(kids, t.Name.Local, kid)
		}
	}
}

// addXML adds a child; a second one of the name makes a list.
func addXML(kids map[string]any, name string, kid any) {
	first, repeated := kids[name]
	switch many, isList := first.([]any); {
	case !repeated && (name == "item" || name == "member"):
		kids[name] = []any{kid}
	case !repeated:
		kids[name] = kid
	case isList:
		kids[name] = append(many, kid)
	default:
		kids[name] = []any{first, kid}
	}
}

// listOr returns the list of an element that has only items or members, else the children.
func listOr(kids map[string]any) any {
	for _, name := range []string{"item", "member"} {
		if list, is := kids[name].([]any); is && len(kids) == 1 {
			return list
		}
	}
	return kids
}
