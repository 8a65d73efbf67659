package rest

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/foundation/clock"
)

// Where an Op, the type of its input's body, and its query parameters lie in the metadata of its huma operation.
const (
	opKey     = "op"
	bodyKey   = "body"
	paramsKey = "params"
)

// server answers the operations that were mounted on it.
type server struct {
	p      *platform.Platform
	log    *slog.Logger
	clock  clock.Clock
	audit  *audit.Log
	routes router
	limit  time.Duration // that an operation has
}

// requestTime is how long an operation may take. API Gateway waits 29 seconds: an operation that is cut off here answers the client, and is logged
// with the status that the client sees.
const requestTime = 24 * time.Second

// Mount makes one handler of groups, and the description of what it answers. It panics on a mistake in a declaration: a
// policy that is missing or unknown, a path declared twice, a type without a name in a body, two types of one schema name.
// The caller of a request is taken from identity.CallerFrom(ctx); Lambda puts it there.
func Mount(p *platform.Platform, groups ...*Group) (http.Handler, *API) {
	s := &server{p: p, log: p.Log, clock: p.Clock, audit: audit.New(p), limit: requestTime}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.clock == nil {
		s.clock = clock.System{}
	}
	api := newAPI(s)
	for _, g := range groups {
		for i := range g.ops {
			mount(api, g.Tag, &g.ops[i])
		}
		api.addTag(g.Tag)
	}
	api.correctNullable()
	return s, api
}

func mount(api *API, tag string, o *operation) {
	if err := errors.Join(o.checkDeclaration(), o.checkInput(), o.checkBody(), o.checkMembers()); err != nil {
		panic("rest: " + err.Error())
	}
	api.names.op = o.ID
	op := o.Op
	hop := huma.Operation{
		OperationID: op.ID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description,
		Deprecated: op.Deprecated, DefaultStatus: op.Status,
		BodyReadTimeout: -1, MaxBodyBytes: -1, // the body has been read, within limits, before
		Metadata:   map[string]any{opKey: &op},
		Extensions: map[string]any{},
	}
	if tag != "" {
		hop.Tags = []string{tag}
	}
	o.describe(api.huma, &hop)
	hop.Metadata[bodyKey], hop.Metadata[paramsKey] = bodyOf(o.input), parametersOf(o.input)
	o.register(api.huma, hop)
}

// Handle takes an operation from huma; with ServeHTTP it makes server a huma.Adapter.
func (s *server) Handle(hop *huma.Operation, handler func(huma.Context)) {
	op, ok := hop.Metadata[opKey].(*Op)
	if !ok {
		panic(fmt.Sprintf("rest: %s %s did not come through Handle", hop.Method, hop.Path))
	}
	body, _ := hop.Metadata[bodyKey].(reflect.Type)
	params, _ := hop.Metadata[paramsKey].(map[string]parameter)
	describeLists(hop, params)
	s.routes.addRoute(&route{op, hop, body, params, handler})
}
