package recommendations

import (
	"reflect"
	"strings"
	"testing"

	"lamplighter.dev/shared/domain/rule"
)

// The text of the field verb names exactly the verbs whose changes the product never makes.
func TestRule_TheTextOfItsVerbNamesTheVerbsForPeople(t *testing.T) {
	field, _ := reflect.TypeFor[RecommendationRule]().FieldByName("Verb")
	text, _, said := strings.Cut(field.Tag.Get("doc"), " are always made by people")
	if !said {
		t.Fatalf("%q does not say which changes people make", field.Tag.Get("doc"))
	}
	for _, r := range rule.All() {
		if strings.Contains(text, string(r.Verb)) != r.Verb.ForPeople() {
			t.Errorf("%s is made by people: %t; the text is %q", r.Verb, r.Verb.ForPeople(), text)
		}
	}
}
