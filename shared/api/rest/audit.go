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

// Changes reports whether the operation changes something, so that each of its requests leaves a row in the audit log.
func (op *Op) Changes() bool {
	return op.Writes || op.Method != http.MethodGet && op.Method != http.MethodHead && !op.Reads
}

// onRecord reports whether the request leaves a row. A service without a store has no audit log.
func (x *exchange) onRecord() bool { return x.operation().Changes() && x.s.p.Table != nil }

// refuseRequest answers a request that no handler gets.
func (x *exchange) refuseRequest(e huma.StatusError) {
	if !x.onRecord() {
		sendFailure(x, e)
		return
	}
	x.respondAudited(x, func(w http.ResponseWriter) { sendFailure(w, e) })
}

// respondAudited runs respond with an answer in memory, records the request, and then sends the answer. A change in the
// store is recorded in its own transaction; the end of the request is added afterwards.
func (x *exchange) respondAudited(w http.ResponseWriter, respond func(http.ResponseWriter)) {
	ctx, entry := x.s.audit.Begin(x.r.Context(), x.audit(&reply{Status: x.operation().Status}))
	x.r = x.r.WithContext(ctx)
	rec := &recording{reply{Header: http.Header{}}}
	finished := false
	defer func() {
		if !finished { // the handler panicked; finishRequest answers
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

// record records the end of a request that is answered with r, and reports whether r may be sent. If the row cannot be
// stored, it is logged, and a success without any record is not acknowledged. A request that changed something is
// recorded with its change, so it is never answered with a failure. A refusal is sent anyway.
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

// audit returns the row of the request and its answer.
func (x *exchange) audit(r *reply) audit.Request {
	op, c, ctx := x.operation(), identity.CallerFrom(x.r.Context()), x.r.Context()
	path, target := x.auditPath()
	status := cmp.Or(x.shown, r.Status)
	out := audit.Request{
		Org: c.Org, Unchanged: status >= 400 && status < 500, Gone: op.Method == http.MethodDelete,
		Row: audit.Row{
			Actor: cmp.Or(c.Email, c.Worker), UserID: c.User, Credential: c.Method,
			Action: op.ID, ResourceType: op.resourceType(), Category: audit.CategoryOf(x.route.tag()),
			Method: op.Method, Path: path, Target: target, Status: status,
			RequestID: RequestID(ctx), ClientRequestID: Optional(x.client), IP: SourceIP(ctx),
		},
	}
	if data, ok := bytes.CutPrefix(r.Body, []byte(`{"data":`)); ok && r.Status < 300 {
		out.Answered = bytes.TrimSuffix(data, []byte{'}'})
	}
	return out
}

// auditPath returns the path of the request and its last parameter, both without secrets.
func (x *exchange) auditPath() (path, target string) {
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

// resourceType returns the kind of record of the operation, from its policy or its path.
func (op *Op) resourceType() string {
	if resource, _, ok := strings.Cut(op.Policy, ":"); ok {
		return resource
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(op.Path, "/"), "/")
	return first
}

// tag returns the group of the operation in the interface description, or "".
func (rt *route) tag() string {
	if len(rt.hop.Tags) == 0 {
		return ""
	}
	return rt.hop.Tags[0]
}
