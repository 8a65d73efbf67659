package local

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/testkit/seed"
)

// describedIn returns the description of the groups after order has sorted them. Only its tags follow the order of
// the groups, so they are sorted by name.
func describedIn(t *testing.T, order func([]*rest.Group)) []byte {
	t.Helper()
	p := &platform.Platform{}
	groups := functions.Groups(p)
	order(groups)
	_, api := rest.Mount(p, groups...)
	var doc map[string]any
	if err := json.Unmarshal(api.JSON(), &doc); err != nil {
		t.Fatal(err)
	}
	tags, ok := doc["tags"].([]any)
	if !ok || len(tags) == 0 {
		t.Fatalf("tags are %v", doc["tags"])
	}
	slices.SortFunc(tags, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	out, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDescribe_IsTheSameInAnyOrderOfGroups(t *testing.T) {
	random := seed.Random(t)
	want := describedIn(t, func([]*rest.Group) {})
	orders := map[string]func([]*rest.Group){"backwards": slices.Reverse[[]*rest.Group]}
	for n := range 5 {
		orders[fmt.Sprint("shuffle ", n)] = func(gs []*rest.Group) {
			random.Shuffle(len(gs), func(i, j int) { gs[i], gs[j] = gs[j], gs[i] })
		}
	}
	for name, order := range orders {
		if got := describedIn(t, order); string(got) != string(want) {
			t.Errorf("%s: %s", name, firstDifference(string(want), string(got)))
		}
	}
}

// firstDifference describes the first line that differs between two texts.
func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is %s, want %s", i+1, b[i], a[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(b), len(a))
}

func TestDescribe_NamesItsSchemasAsTypes(t *testing.T) {
	var doc struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(functions.Describe(&platform.Platform{}).JSON(), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Components.Schemas) < 50 {
		t.Fatalf("%d schemas", len(doc.Components.Schemas))
	}
	plain := regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	for name := range doc.Components.Schemas {
		if !plain.MatchString(name) || strings.HasSuffix(name, "InputBody") {
			t.Errorf("a schema is called %q", name)
		}
	}
}

func TestGroups_OneWithAnAnonymousBodyIsRefused(t *testing.T) {
	p := &platform.Platform{}
	g := rest.NewGroup("Budgets")
	rest.Handle(g, rest.Op{ID: "createBudget", Method: http.MethodPost, Path: "/budgets", SignedIn: true},
		func(context.Context, *struct {
			Body struct {
				Name string `json:"name"`
			}
		},
		) (string, error) {
			return "", nil
		})
	defer func() {
		said := fmt.Sprint(recover())
		for _, part := range []string{"operation createBudget", "its Body has no name", "declare it as a type"} {
			if !strings.Contains(said, part) {
				t.Errorf("mounting the group said %s, without %q", said, part)
			}
		}
	}()
	rest.Mount(p, append(functions.Groups(p), g)...)
}
