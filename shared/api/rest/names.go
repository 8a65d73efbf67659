package rest

import (
	"encoding"
	"fmt"
	"reflect"
	"regexp"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// schemaNames names the schemas of a description. A name depends only on the Go type, not on earlier names, so it does
// not change if operations are added, removed or moved. Types that cannot be named so are refused when they are
// mounted.
type schemaNames struct {
	op    string // the operation that is being mounted
	types map[string]reflect.Type
}

// schemaName is the form of schema names. The name of a generic type with an argument declared in a function does not
// match.
var schemaName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

// name returns the name of t's schema: that of the Go type, and for List[Team] ListTeam. It panics if there is none, or
// if another type has it.
func (n *schemaNames) name(t reflect.Type, hint string) string {
	t = pointed(t)
	name := huma.DefaultSchemaNamer(t, hint)
	if !isComponent(t) {
		return name
	}
	was, taken := n.types[name]
	switch {
	case t.Name() == "":
		panic(fmt.Sprintf("rest: operation %s: the type %.120s has no name, so its schema would have none: "+
			"declare it as a type that is called after what it holds", n.op, t))
	case !schemaName.MatchString(name):
		panic(fmt.Sprintf("rest: operation %s: the schema of %s would be called %q: declare the type, and those it "+
			"is made of, at "+
			"the top of a package, in letters and digits", n.op, t, name))
	case taken && was != t:
		panic(fmt.Sprintf("rest: operation %s: %s (%s) and %s (%s) are two types of one schema name, %s: rename "+
			"one of them "+
			"after its subject", n.op, t, t.PkgPath(), was, was.PkgPath(), name))
	}
	n.types[name] = t
	return name
}

// isComponent reports whether t has a separate schema, which others refer to by name. The schemas of other types are
// inlined.
func isComponent(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return false
	}
	p := reflect.PointerTo(t)
	return !p.Implements(reflect.TypeFor[huma.SchemaProvider]()) &&
		!p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// pointed returns the type without pointers.
func pointed(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// checkBodyName returns an error for a body whose type has no name.
func (o *operation) checkBodyName() error {
	f, ok := o.input.FieldByName("Body")
	if !ok || pointed(f.Type).Name() != "" {
		return nil
	}
	return fmt.Errorf("operation %s: the type of its Body has no name (%.120s): declare it as a type that is called "+
		"after what "+
		"it holds (type NewThing struct{…}; Body NewThing)", o.ID, f.Type)
}
