package settings

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
)

// place is a resource where its calls go.
type place struct {
	of    cloud.KindChange
	at    resource.Place
	parts map[string]string
}

// readAll makes the calls that the change needs, and puts their parts side by side.
func (k *place) readAll(ctx context.Context, reads []read) (map[string]any, error) {
	doc := map[string]any{}
	for i, r := range reads {
		if i > 0 && !slices.Contains(k.of.Needs, r.need()) {
			continue
		}
		if r.needs != "" && textOf(find(doc, r.needs)) == "" {
			return nil, cloud.ErrUnsupported("it has no %s: change it by hand", r.needs)
		}
		out, err := k.send(ctx, r.call, scope{k.parts, doc, doc})
		if r.none != "" && cloud.CodeOf(err) == r.none {
			continue
		}
		if err != nil {
			return nil, err
		}
		part := map[string]any(out)
		if r.at != "" {
			part, _ = firstOf(find(part, scope{k.parts, doc, doc}.text(r.at))).(map[string]any)
		}
		if part == nil && i == 0 {
			return nil, cloud.ErrNotFound("%s is gone", k.parts["arn"])
		}
		maps.Copy(doc, part)
	}
	return doc, nil
}

// send makes a call that reads.
func (k *place) send(ctx context.Context, c call, s scope) (wire.Document, error) {
	out, err := k.ask(ctx, c, s, false)
	if err != nil {
		return nil, err
	}
	return *out, nil
}

// write makes a call that changes something. Its answer is not read: some operations have none.
func (k *place) write(ctx context.Context, c call, s scope) error {
	_, err := k.ask(resource.WriteOnce(ctx), c, s, true)
	return err
}

func (k *place) ask(ctx context.Context, c call, s scope, writes bool) (*wire.Document, error) {
	name, op, _ := strings.Cut(c.op, ":")
	service := services[name]
	p := &wire.Params{Body: s.fillIn(c.in, isForm(service))}
	o := wire.Operation{Name: op, NoResult: writes}
	if c.http != "" {
		k.route(c, s, &o, p)
	}
	out, err := wire.Call[wire.Document](ctx, wire.New(service, k.at.Cfg), o, p)
	return out, resource.ClassifyError(err)
}

// route sets the method and the address of a REST operation.
func (k *place) route(c call, s scope, o *wire.Operation, p *wire.Params) {
	var path, query string
	o.Method, path, _ = strings.Cut(c.http, " ")
	o.URI, query, _ = strings.Cut(path, "?")
	o.Body = o.Method != http.MethodGet && o.Method != http.MethodDelete
	p.Labels, p.Query = map[string]string{}, map[string]string{}
	for _, label := range variable.FindAllString(o.URI, -1) {
		name := strings.Trim(label, "{}")
		p.Labels[name] = k.parts[name]
	}
	for pair := range strings.SplitSeq(query, "&") {
		if name, text, is := strings.Cut(pair, "="); is {
			p.Query[name] = s.text(text)
		}
	}
}

func isForm(s *wire.Service) bool {
	switch s.Protocol.(type) {
	case wire.EC2, wire.Query:
		return true
	}
	return false
}
