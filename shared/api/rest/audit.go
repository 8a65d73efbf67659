package rest

import (
	"bytes"
	"cmp"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
)

// Changes reports whether the operation changes something, so that each request to it leaves a row in the audit log.
func (op *Op) Changes() bool {
	return op.Writes || op.Method != http.MethodGet && op.Method != http.MethodHead && !op.Reads
}

// onRecord reports whether the request leaves a row. A service without a store has nothing to change, and nowhere to write.
func (x *exchange) onRecord() bool { return x.operation().Changes() && x.s.p.Table != nil }

// refuseRequest answers a request that comes to no handler.
func (x *exchange) refuseRequest(e huma.StatusError) {
	if !x.onRecord() {
		sendFailure(x, e)
		return
	}
	x.respondAudited(x, func(w http.ResponseWriter) { sendFailure(w, e) })
}

// respondAudited lets respond answer into memory, puts the request on record, and only then sends the answer. What respond
// changes in the store is on record in the transaction that changes it; how the request ended is added afterwards.
func (x *exchange) respondAudited(w http.ResponseWriter, respond func(http.ResponseWriter)) {
	ctx, entry := x.s.audit.Begin(x.r.Context(), x.audit(&reply{Status: x.operation().Status}))
	x.r = x.r.WithContext(ctx)
	rec := &recording{reply{Header: http.Header{}}}
	finished := false
	defer func() {
		if !finished { // the handler panicked; end makes an answer of that
			rec.Status = http.StatusInternalServerError
			x.record(entry, &rec.reply)
		}
	}()
	respond(rec)
	finished = true
	if entry.Omitted() && rec.Status < http.StatusMultipleChoices || x.record(entry, &rec.reply) {
		rec.sendReply(w)
		return
	}
	sendFailure(w, errorForStatus(x.operation(), http.StatusInternalServerError, "internal error"))
}

// record puts on record how a request ended that is answered with r, and reports whether r may be sent. Where that cannot be
// written the log has the row; a success that is on record nowhere is not acknowledged. One that changed something is on
// record with its change, and nobody is told that it failed; a refusal stays one.
func (x *exchange) record(entry *audit.Entry, r *reply) bool {
	ctx := x.r.Context()
	row, err := entry.Finish(ctx, x.audit(r))
	if err == nil {
		return true
	}
	sent := entry.Recorded() || r.Status >= http.StatusBadRequest
	attrs := []any{slog.String("row", row.String())}
	if sent {
		attrs = append(attrs, slog.String("error", err.Error()))
	} else {
		noteFailure(ctx, err)
	}
	x.s.log.ErrorContext(ctx, "audit row not written", attrs...)
	return sent
}

// audit returns what the row says of the request and of its answer.
func (x *exchange) audit(r *reply) audit.Request {
	op, c, ctx := x.operation(), identity.CallerFrom(x.r.Context()), x.r.Context()
	path, target := x.path()
	out := audit.Request{Org: c.Org, Unchanged: r.Status >= 400 && r.Status < 500, Gone: op.Method == http.MethodDelete,
		Row: audit.Row{
			Actor: cmp.Or(c.Email, c.Worker), UserID: c.User, Credential: c.Method,
			Action: op.ID, ResourceType: op.about(), Category: audit.CategoryOf(x.route.tag()),
			Method: op.Method, Path: path, Target: target, Status: r.Status,
			RequestID: RequestID(ctx), IP: SourceIP(ctx),
		}}
	if data, ok := bytes.CutPrefix(r.Body, []byte(`{"data":`)); ok && r.Status < 300 {
		out.Answered = bytes.TrimSuffix(data, []byte{'}'})
	}
	return out
}

// path returns the path of the request and the last thing that it names; neither with what is a secret there.
func (x *exchange) path() (path, target string) {
	segments := strings.Split(x.operation().Path, "/")
	for i, seg := range segments {
		name, ok := strings.CutPrefix(seg, "{")
		if !ok {
			continue
		}
		name = strings.TrimSuffix(name, "}")
		target = x.r.PathValue(name)
		segments[i] = url.PathEscape(target)
		if audit.SecretName(name) || audit.SecretText(target) {
			target, segments[i] = audit.Redacted, audit.Redacted
		}
	}
	return strings.Join(segments, "/"), target
}

// about returns the kind of thing that the operation is about, as its policy names it, or its path.
func (op *Op) about() string {
	if resource, _, ok := strings.Cut(op.Policy, ":"); ok {
		return resource
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(op.Path, "/"), "/")
	return first
}

// tag returns the group of the operation in the interface description, "" for none.
func (rt *route) tag() string {
	if len(rt.hop.Tags) == 0 {
		return ""
	}
	return rt.hop.Tags[0]
}
