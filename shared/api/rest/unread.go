package rest

import (
	"fmt"
	"reflect"
	"slices"
)

// sources are the tags of fields that are filled from a request.
var sources = []string{"path", "query", "header", "cookie", "form"}

// checkInput returns an error for an input with a field that would never be filled. The framework silently skips
// unexported fields, and an embedded struct of an unexported type is one: an ID of the path would be empty, a filter
// ignored.
func (o *operation) checkInput() error {
	for _, f := range reflect.VisibleFields(o.input) {
		if hasSource(&f) && isHidden(o.input, f.Index) {
			return fmt.Errorf("operation %s: field %s of its input is not exported, or lies in a struct that is "+
				"embedded and not exported: it would not be read", o.ID, f.Name)
		}
	}
	return nil
}

// hasSource reports whether the field is filled from the request.
func hasSource(f *reflect.StructField) bool {
	return f.Name == "Body" || f.Name == "RawBody" || slices.ContainsFunc(sources, func(tag string) bool {
		_, ok := f.Tag.Lookup(tag)
		return ok
	})
}

// isHidden reports whether the field at index, or one on the way to it, is not exported.
func isHidden(t reflect.Type, index []int) bool {
	for n := range index {
		if f := t.FieldByIndex(index[:n+1]); !f.IsExported() {
			return true
		}
	}
	return false
}
