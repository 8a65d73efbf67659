package rest

import (
	"fmt"
	"reflect"
	"slices"
)

// sources are the tags that say where a field of an input comes from.
var sources = []string{"path", "query", "header", "cookie", "form"}

// checkInput refuses an input with a field that would never be filled. The framework passes over unexported fields in
// silence, and a struct of an unexported type that is embedded is one: an id of the path would be empty, a filter ignored.
func (o *operation) checkInput() error {
	for _, f := range reflect.VisibleFields(o.input) {
		if sourced(&f) && hidden(o.input, f.Index) {
			return fmt.Errorf("operation %s: field %s of its input is not exported, or lies in a struct that is "+
				"embedded and not exported: it would not be read", o.ID, f.Name)
		}
	}
	return nil
}

// sourced reports whether the field is filled from the request.
func sourced(f *reflect.StructField) bool {
	return f.Name == "Body" || f.Name == "RawBody" || slices.ContainsFunc(sources, func(tag string) bool {
		_, ok := f.Tag.Lookup(tag)
		return ok
	})
}

// hidden reports whether the field at index, or one on the way to it, is not exported.
func hidden(t reflect.Type, index []int) bool {
	for n := range index {
		if f := t.FieldByIndex(index[:n+1]); !f.IsExported() {
			return true
		}
	}
	return false
}
