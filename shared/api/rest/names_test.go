package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

// Crate is the input and the answer of the operations of these tests.
type Crate struct {
	Size int `json:"size"`
}

// Pallet contains types without names.
type Pallet struct {
	Crates []struct {
		Size int `json:"size"`
	} `json:"crates"`
}

type (
	crateInput     struct{ Body Crate }
	namelessInput  struct{ Body struct{ Size int } }
	namelessPart   struct{ Body Pallet }
	perhapsInput   struct{ Body *struct{ Size int } }
	namelessSlice  struct{ Body []Crate }
	nestedIdentity struct{ Body grant.Grant }
)

// declareHandling declares one operation with the input I and the answer O.
func declareHandling[I, O any](id string) func(*rest.Group) {
	return func(g *rest.Group) {
		rest.Handle(g, rest.Op{ID: id, Method: http.MethodPut, Path: "/" + id, SignedIn: true},
			func(context.Context, *I) (O, error) { return *new(O), nil })
	}
}

// mountPanic returns the panic of mounting the operations, or "".
func mountPanic(ops ...func(*rest.Group)) (said string) {
	g := rest.NewGroup("Resources")
	for _, op := range ops {
		op(g)
	}
	defer func() {
		if r := recover(); r != nil {
			said = fmt.Sprint(r)
		}
	}()
	rest.Mount(&platform.Platform{}, g)
	return ""
}

func TestSchemaNames_WhatIsRefused(t *testing.T) {
	type Crate struct{ Other int }
	const declare, rename = "declare it as a type", "rename one of them"
	for name, c := range map[string]struct {
		ops  []func(*rest.Group)
		says []string // empty if it is mounted
	}{
		"a body that is a type of its own": {[]func(*rest.Group){declareHandling[crateInput, string]("a")}, nil},
		"one type in two operations": {[]func(*rest.Group){
			declareHandling[crateInput, string]("a"),
			declareHandling[crateInput, string]("b"),
		}, nil},
		"a page and a list of one type": {[]func(*rest.Group){
			declareHandling[struct{}, rest.List[Thing]]("a"), declareHandling[struct{}, []Thing]("b"),
		}, nil},
		"a body without a name": {
			[]func(*rest.Group){declareHandling[namelessInput, string]("a")},
			[]string{"operation a:", "its Body", declare, "Size int"},
		},
		"a body that may be left out": {
			[]func(*rest.Group){declareHandling[perhapsInput, string]("a")},
			[]string{"operation a:", "its Body", declare},
		},
		"a body that is a slice": {
			[]func(*rest.Group){declareHandling[namelessSlice, string]("a")},
			[]string{"operation a:", "its Body", declare},
		},
		"a part of a body without a name": {
			[]func(*rest.Group){declareHandling[namelessPart, string]("a")},
			[]string{"operation a:", "Size int", declare},
		},
		"a part of an answer without a name": {
			[]func(*rest.Group){declareHandling[struct{}, Pallet]("a")},
			[]string{"operation a:", "Size int", declare},
		},
		"a second type of one name": {[]func(*rest.Group){
			declareHandling[crateInput, string]("a"),
			declareHandling[struct{}, Crate]("b"),
		}, []string{
			"operation b:", "two types of one schema name, Crate", rename,
		}},
		"a second type of one name, in another package": {[]func(*rest.Group){
			declareHandling[nestedIdentity, string]("a"), declareHandling[struct{}, Grant]("b"),
		}, []string{"operation b:", "shared/api/identity", "shared/api/rest_test", rename}},
		"a page of a type of a function": {
			[]func(*rest.Group){declareHandling[struct{}, rest.List[Crate]]("a")},
			[]string{"operation a:", "at the top of a package"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			said := mountPanic(c.ops...)
			if len(c.says) == 0 && said != "" || len(c.says) > 0 && said == "" {
				t.Fatalf("mounting it said %q", said)
			}
			for _, part := range c.says {
				if !strings.Contains(said, part) {
					t.Errorf("mounting it said %q, without %q", said, part)
				}
			}
		})
	}
}

// Grant has the name of a type of package identity.
type Grant struct{ Other int }

func TestSchemaNames_DoNotDependOnTheOrder(t *testing.T) {
	ops := []func(*rest.Group){
		declareHandling[crateInput, rest.List[Thing]]("a"),
		declareHandling[creation, Thing]("b"),
		declareHandling[struct{}, []Crate]("c"),
	}
	described := func() string {
		g := rest.NewGroup("Resources")
		for _, op := range ops {
			op(g)
		}
		_, api := rest.Mount(&platform.Platform{}, g)
		return string(api.YAML())
	}
	forwards := described()
	slices.Reverse(ops)
	if backwards := described(); backwards != forwards {
		t.Errorf("forwards\n%s\nbackwards\n%s", forwards, backwards)
	}
}
