// Package description tells what the service is: its interface description as JSON, YAML and a page for people, and
// whether it is well. All of it is public.
package description

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"

	"gopkg.in/yaml.v3"

	"lamplighter.dev/shared/api/htmlpage"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
)

// Source gives the interface description as YAML. It is asked once, at the first request that needs it: the description
// of a process that serves all groups exists only when all of them, this one too, are mounted.
type Source func() ([]byte, error)

// FileSource returns the description that lies at path; in AWS it lies beside the function's bootstrap.
func FileSource(path string) Source {
	return func() ([]byte, error) {
		b, err := os.ReadFile(path) //nolint:gosec // the function's own file
		if err != nil {
			return nil, fmt.Errorf("read interface description: %w", err)
		}
		return b, nil
	}
}

// Health is the answer of GET /healthz.
type Health struct {
	Status  string `json:"status" example:"ok"`
	Version string `json:"version" doc:"What runs"`
}

// none is the input of operations that take nothing.
type none struct{}

// Operations returns the operations that describe the service. They belong to no group of the interface and carry no tag.
func Operations(p *platform.Platform, s Source) *rest.Group {
	g := rest.NewGroup("")
	d := sync.OnceValues(func() (documents, error) { return read(s) })
	rest.Handle(g, rest.Op{
		ID: "getHealth", Method: http.MethodGet, Path: "/healthz", Public: true,
		Summary: "Tell whether the service is well",
	}, func(context.Context, *none) (Health, error) { return Health{"ok", p.Settings.Version}, nil })
	document(g, rest.Op{ID: "getInterfaceJSON", Path: "/openapi.json", Produces: "application/json"},
		func() ([]byte, error) {
			v, err := d()
			return v.json, err
		})
	document(g, rest.Op{ID: "getInterfaceYAML", Path: "/openapi.yaml", Produces: "application/yaml"},
		func() ([]byte, error) {
			v, err := d()
			return v.yaml, err
		})
	rest.Handle(g, rest.Op{
		ID: "getDocs", Method: http.MethodGet, Path: "/docs", Public: true, Produces: htmlpage.ContentType,
		Summary:     "The interface description as a page",
		Description: "Self-contained: it loads nothing but `/openapi.json`.",
	}, func(context.Context, *none) (rest.Raw, error) { return docsPage(), nil })
	return g
}

// document adds the operation that hands out one spelling of the description.
func document(g *rest.Group, op rest.Op, body func() ([]byte, error)) {
	op.Method, op.Public, op.Summary = http.MethodGet, true, "The interface description as "+op.Produces
	rest.Handle(g, op, func(context.Context, *none) (rest.Raw, error) {
		b, err := body()
		if err != nil {
			return rest.Raw{}, fault.NewWithCause(fault.Internal, err, "interface description")
		}
		return rest.Raw{Body: b}, nil
	})
}

// documents is the description in both spellings.
type documents struct{ yaml, json []byte }

func read(s Source) (documents, error) {
	b, err := s()
	if err != nil {
		return documents{}, err
	}
	var v any
	if err := yaml.Unmarshal(b, &v); err != nil {
		return documents{}, fmt.Errorf("parse interface description: %w", err)
	}
	j, err := json.Marshal(v)
	if err != nil {
		return documents{}, fmt.Errorf("write interface description as JSON: %w", err)
	}
	return documents{b, j}, nil
}
