package rest

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// correctNullable corrects the schemas of members that are pointers to structs and may be null. huma describes them as
// never null, because it refers to the schema of the struct.
func (a *API) correctNullable() {
	r := a.doc.Components.Schemas
	for name, s := range r.Map() {
		t := r.TypeFromRef("#/components/schemas/" + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for _, f := range reflect.VisibleFields(t) {
			member, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if p := s.Properties[member]; p != nil && f.Type.Kind() == reflect.Pointer &&
				!strings.Contains(options, "omit") {
				s.Properties[member] = orNull(p)
			}
		}
	}
}

// orNull adds null to the schema s, if s is a reference. Other schemas can express null themselves.
func orNull(s *huma.Schema) *huma.Schema {
	if s.Ref == "" {
		return s
	}
	return &huma.Schema{Description: s.Description, AnyOf: []*huma.Schema{{Ref: s.Ref}, {Type: "null"}}}
}
