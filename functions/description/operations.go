// Package description describes the service: its interface description as JSON, YAML and a page for people, and its
// health. All of it is public.
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

// Source returns the interface description in one format each. Each is called once, at the first request that needs it:
// in a process that serves all groups, the description is complete only after all groups, including this one, are
// mounted, and writing it takes most of a second.
type Source struct {
	YAML, JSON func() ([]byte, error)
}

// FileSource returns the description in the YAML file at path. In AWS the file lies beside the function's bootstrap.
func FileSource(path string) Source {
	read := sync.OnceValues(func() ([]byte, error) {
		b, err := os.ReadFile(path) //nolint:gosec // the function's own file
		if err != nil {
			return nil, fmt.Errorf("read interface description: %w", err)
		}
		return b, nil
	})
	return Source{YAML: read, JSON: func() ([]byte, error) {
		b, err := read()
		if err != nil {
			return nil, err
		}
		return convertToJSON(b)
	}}
}

// Health is the answer of GET /healthz.
type Health struct {
	Status  string `json:"status" example:"ok"`
	Version string `json:"version" doc:"The running version"`
}

// none is the input of operations without parameters.
type none struct{}

// Operations returns the operations that describe the service. They belong to no group of the interface and have no
// tag.
func Operations(p *platform.Platform, s Source) *rest.Group {
	g := rest.NewGroup("")
	rest.Handle(g, rest.Op{
		ID: "getHealth", Method: http.MethodGet, Path: "/healthz", Public: true,
		Summary: "Get the health of the service",
	}, func(context.Context, *none) (Health, error) { return Health{"ok", p.Settings.Version}, nil })
	addDocument(g, rest.Op{ID: "getInterfaceJSON", Path: "/openapi.json", Produces: "application/json"},
		sync.OnceValues(s.JSON))
	addDocument(g, rest.Op{ID: "getInterfaceYAML", Path: "/openapi.yaml", Produces: "application/yaml"},
		sync.OnceValues(s.YAML))
	rest.Handle(g, rest.Op{
		ID: "getDocs", Method: http.MethodGet, Path: "/docs", Public: true, Produces: htmlpage.ContentType,
		Summary:     "Show the interface description as a page",
		Description: "Self-contained: it loads only `/openapi.json`.",
	}, func(context.Context, *none) (rest.Raw, error) { return docsPage(), nil })
	return g
}

// addDocument adds the operation that returns one format of the description.
func addDocument(g *rest.Group, op rest.Op, body func() ([]byte, error)) {
	op.Method, op.Public, op.Summary = http.MethodGet, true, "Get the interface description as "+op.Produces
	rest.Handle(g, op, func(context.Context, *none) (rest.Raw, error) {
		b, err := body()
		if err != nil {
			return rest.Raw{}, fault.NewWithCause(fault.Internal, err, "interface description")
		}
		return rest.Raw{Body: b}, nil
	})
}

func convertToJSON(document []byte) ([]byte, error) {
	var v any
	if err := yaml.Unmarshal(document, &v); err != nil {
		return nil, fmt.Errorf("parse interface description: %w", err)
	}
	j, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write interface description as JSON: %w", err)
	}
	return j, nil
}
