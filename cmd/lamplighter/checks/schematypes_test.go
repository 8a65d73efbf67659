package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gopkg.in/yaml.v3"
)

// schemaTypes are the types of JSON Schema, draft 2020-12, section 6.1.1 of its validation.
var schemaTypes = []string{"null", "boolean", "object", "array", "number", "string", "integer"}

// Generators of clients stop at a type that JSON Schema does not have.
func TestTheInterfaceDescriptionHasOnlyTypesOfJSONSchema(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err = yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	components, _ := doc["components"].(map[string]any)
	checkSchemaTypes(t, "components", components["schemas"])
	checkSchemaTypes(t, "paths", doc["paths"])
}

// checkSchemaTypes checks the types of all schemas in a part of the description. Examples have no schemas.
func checkSchemaTypes(t *testing.T, at string, part any) {
	t.Helper()
	switch x := part.(type) {
	case []any:
		for i, one := range x {
			checkSchemaTypes(t, fmt.Sprint(at, "/", i), one)
		}
	case map[string]any:
		for name, one := range x {
			switch name {
			case "example", "examples", "default", "enum":
			case "type":
				for _, kind := range typesOf(one) {
					if !slices.Contains(schemaTypes, kind) {
						t.Errorf("%s: type %q is none of JSON Schema's", at, kind)
					}
				}
			default:
				checkSchemaTypes(t, at+"/"+name, one)
			}
		}
	}
}

// typesOf returns the types that a schema's keyword type names; none for a property that is called type.
func typesOf(keyword any) (out []string) {
	switch x := keyword.(type) {
	case string:
		return []string{x}
	case []any:
		for _, one := range x {
			out = append(out, fmt.Sprint(one))
		}
	}
	return out
}
