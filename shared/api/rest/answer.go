package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Raw is an answer without envelope: a page, a key set, a file, a redirect. Its content type is Op.Produces, unless
// Header sets another.
type Raw struct {
	Status int // 0 means that of the operation
	Header http.Header
	Body   []byte
	// Failure is the error that a page or a redirect tells a person of, or nil. The log and the audit log get its
	// status instead of Status.
	Failure error
}

// answer is the answer that huma gets: a function that writes, so that huma changes neither envelope nor bytes.
type answer struct{ Body func(huma.Context) }

// NonNilMap returns m, or an empty map for nil: an answer has an object in its place, and not null.
func NonNilMap[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}

// Optional returns nil if v is zero, so that a member of an answer is null.
func Optional[T comparable](v T) *T {
	var zero T
	if z, ok := any(v).(interface{ IsZero() bool }); v == zero || ok && z.IsZero() {
		return nil
	}
	return &v
}

// newAnswer returns the answer that sends out.
func newAnswer(op *Op, out any) (*answer, error) {
	if raw, ok := out.(Raw); ok {
		return &answer{func(ctx huma.Context) { raw.write(ctx, op) }}, nil
	}
	if d, ok := out.(drawn); ok {
		data, picture := d.parts()
		if picture != nil {
			return newAnswer(op, PictureOf(picture))
		}
		out = data
	}
	status := op.Status
	if r, ok := out.(rehearsable); ok {
		out, status = r.answer()
	}
	out, total := op.countItems(out)
	b, err := wrapData(out)
	if err != nil {
		return nil, fmt.Errorf("encode answer of %s: %w", op.ID, err)
	}
	return &answer{func(ctx huma.Context) { op.writeData(ctx, status, total, b) }}, nil
}

// writeData writes an answer with its headers.
func (op *Op) writeData(ctx huma.Context, status int, total string, body []byte) {
	if total != "" {
		ctx.SetHeader(totalHeader, total)
	}
	if op.Catalogue {
		writeCatalogue(ctx, status, body)
		return
	}
	writeAnswer(ctx, status, contentJSON, body)
}

var rawJSON = reflect.TypeFor[json.RawMessage]()

// wrapData returns {"data":out}. A nil list becomes an empty one, because clients iterate over it.
func wrapData(out any) ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteString(`{"data":`)
	if v := reflect.ValueOf(out); v.Kind() == reflect.Slice && v.IsNil() && v.Type() != rawJSON {
		buf.WriteString(`[]}`)
		return buf.Bytes(), nil
	}
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil, err
	}
	buf.Truncate(buf.Len() - 1) // the newline that Encode adds
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

// Accepted returns the answer 202 of an operation whose Raw answer is made later by a job.
func Accepted(job any) (Raw, error) {
	b, err := wrapData(job)
	if err != nil {
		return Raw{}, fmt.Errorf("encode a job: %w", err)
	}
	return Raw{Status: http.StatusAccepted, Header: http.Header{"Content-Type": {contentJSON}}, Body: b}, nil
}

func (r Raw) write(ctx huma.Context, op *Op) {
	status, kind := op.Status, ""
	if kinds := op.contentTypes(); len(kinds) > 0 {
		kind = kinds[0]
	}
	if r.Status != 0 {
		status = r.Status
	}
	for name, values := range r.Header {
		if name == "Content-Type" && len(values) > 0 {
			kind = values[0]
			continue
		}
		for i, v := range values {
			if i == 0 {
				ctx.SetHeader(name, v) // replaces the default header
				continue
			}
			ctx.AppendHeader(name, v)
		}
	}
	writeAnswer(ctx, status, kind, r.Body)
}

func writeAnswer(ctx huma.Context, status int, kind string, body []byte) {
	if kind != "" {
		ctx.SetHeader("Content-Type", kind)
	}
	ctx.SetStatus(status)
	_, _ = ctx.BodyWriter().Write(body) // into memory (Lambda), or to a client that may have disconnected
}
