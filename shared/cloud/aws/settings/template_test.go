package settings

import (
	"fmt"
	"testing"
)

// A text of a request is sent as it is, and so is JSON in a template: only names in braces are filled in.
func TestScope_FillsOnlyTheVariablesOfTemplates(t *testing.T) {
	s := scope{
		parts: map[string]string{"name": "orders"}, now: map[string]any{"Size": 7, "Tags": []any{"a"}},
		was: map[string]any{"Size": 9},
	}
	for template, want := range map[any]string{
		"{name}": "orders", "{.Size}": "7", "{was.Size}": "9", "{.Tags}": "[a]", "{.None}": "<nil>", "{none}": "<nil>",
		"table {name} of {.Size}": "table orders of 7", oldUntagged: oldUntagged, "{}": "{}", true: "true",
		given{"{.Size}"}: "{.Size}",
	} {
		if got := fmt.Sprint(s.fill(template)); got != want {
			t.Errorf("%v: %s, want %s", template, got, want)
		}
	}
}

func TestFind_FollowsListsAndSelectors(t *testing.T) {
	doc := map[string]any{"a": []any{
		map[string]any{"Key": "x.y", "Value": "1"}, map[string]any{"Key": "z", "Value": "2"},
	}, "b": map[string]any{"c": "3"}, "d": map[string]any{"Key": "z", "Value": "4"}}
	for path, want := range map[string]string{
		"b.c": "3", "a.Value": "1", "a[Key=z].Value": "2", "a[Key=x.y].Value": "1", "a[Key=none].Value": "",
		"d[Key=z].Value": "4", "b.c.d": "", "": "", "none.at.all": "",
	} {
		if got := textOf(find(doc, path)); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// A UID of another kind of resource of the service is not taken for one of the kind.
func TestPartsOf_TakesOnlyTheUIDsOfTheKind(t *testing.T) {
	const own = "arn:aws:x:eu-west-1:1:"
	for uid, c := range map[string]struct{ pattern, want string }{
		own + "table/orders":              {"table/{name}", "orders"},
		own + "table/orders/index/by-day": {"table/{name}", ""},
		own + "log-group:/aws/lambda/a:*": {"log-group:{name*}", "/aws/lambda/a"},
		own + "cluster-snapshot:a":        {"snapshot:{name*}", ""},
		"table/orders":                    {"table/{name}", ""},
		"i-1":                             {"", ""},
	} {
		if parts, _ := partsOf(uid, c.pattern); parts["name"] != c.want {
			t.Errorf("%s: %v, want %q", uid, parts, c.want)
		}
	}
}
