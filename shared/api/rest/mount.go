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

// The metadata keys of a huma operation for its Op, the type of its body, and its query parameters.
const (
	opKey     = "op"
	bodyKey   = "body"
	paramsKey = "params"
)

// server serves the mounted operations.
type server struct {
	p      *platform.Platform
	log    *slog.Logger
	clock  clock.Clock
	audit  *audit.Log
	routes router
	limit  time.Duration // deadline of an operation
}

// requestTime limits the time of an operation. API Gateway waits 29 seconds. An operation that is cut off here is
// answered with a reason, and logged with the status that the client sees.
const requestTime = 24 * time.Second

// Mount returns one handler for groups, and the description of its operations. It panics on a wrong declaration: a
// missing or unknown policy, a path declared twice, a type without name in a body, two types with one schema name. The
// caller of a request comes from identity.CallerFrom(ctx); Lambda sets it.
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
			mountOperation(api, g.Tag, &g.ops[i])
		}
		api.addTag(g.Tag)
	}
	api.correctNullable()
	return s, api
}

func mountOperation(api *API, tag string, o *operation) {
	if err := errors.Join(o.checkDeclaration(), o.checkInput(), o.checkBodyName(), o.checkMembers()); err != nil {
		panic("rest: " + err.Error())
	}
	api.names.op = o.ID
	op := o.Op
	hop := huma.Operation{
		OperationID: op.ID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description,
		Deprecated: op.Deprecated, DefaultStatus: op.Status,
		BodyReadTimeout: -1, MaxBodyBytes: -1, // the body has already been read, within limits
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

// Handle implements huma.Adapter, together with ServeHTTP.
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
