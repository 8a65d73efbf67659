package rest

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"runtime/debug"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// exchange is one request with the state of its answer. It is the http.ResponseWriter of the answer.
type exchange struct {
	http.ResponseWriter
	s      *server
	r      *http.Request
	route  *route // nil until it is found
	id     string
	client string // X-Request-Id of the client
	began  time.Time
	status int
	shown  int // status of the failure that a page or a redirect tells of; 0 for none
	meter  *table.Meter
	cause  error  // cause of a 5xx
	body   []byte // of the request, after it was admitted
}

type exchangeKey struct{}

// RequestID returns the ID of the request with the context ctx, which the answer has in X-Request-Id. It returns ""
// outside of a request.
func RequestID(ctx context.Context) string {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return ""
	}
	return x.id
}

// SourceIP returns the client's network address of the request with the context ctx, as the gateway saw it. It returns
// "" outside of a request. It ignores the client's X-Forwarded-For.
func SourceIP(ctx context.Context) string {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return ""
	}
	if host, _, err := net.SplitHostPort(x.r.RemoteAddr); err == nil {
		return host
	}
	return x.r.RemoteAddr
}

// UserAgent returns the User-Agent header of the request with the context ctx, without control characters and of at
// most 200 characters. It returns "" outside of a request.
func UserAgent(ctx context.Context) string {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return ""
	}
	return fault.CleanText(x.r.UserAgent(), 200)
}

// wellFormed is the form of a client's X-Request-Id that is recorded.
var wellFormed = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/+=-]{7,127}$`)

func (s *server) beginExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{ResponseWriter: w, s: s, began: s.clock.Now()}
	x.id, x.client = requestID(r, x.began), clientRequestID(r)
	ctx, meter := table.WithMeter(context.WithValue(r.Context(), exchangeKey{}, x))
	x.r, x.meter = r.WithContext(ctx), meter
	h := w.Header()
	h.Set("X-Request-Id", x.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	return x
}

// clientRequestID returns the client's X-Request-Id, or "" if there is none or it is not well-formed.
func clientRequestID(r *http.Request) string {
	v := r.Header.Get("X-Request-Id")
	switch {
	case !wellFormed.MatchString(v):
		return ""
	case audit.SecretText(v):
		return audit.Redacted
	}
	return v
}

// requestID returns the gateway's ID, or else a new one. Clients cannot choose it, so two requests never share one.
func requestID(r *http.Request, at time.Time) string {
	if v := gatewayRequestID(r.Context()); v != "" {
		return v
	}
	return id.New("req", at)
}

// WriteHeader records the status.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
		x.ResponseWriter.WriteHeader(status)
	}
}

// Write drops the body of an answer to HEAD.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.WriteHeader(http.StatusOK)
	}
	if x.r.Method == http.MethodHead {
		return len(b), nil
	}
	return x.ResponseWriter.Write(b)
}

// noteFailure records the cause of a 5xx for the request's log line, which is the only one.
func noteFailure(ctx context.Context, err error) {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		x.cause = err
	}
}

// finishRequest turns a panic into an answer, and writes the request's log line.
func (x *exchange) finishRequest() {
	var stack []byte
	if v := recover(); v != nil {
		stack = debug.Stack()
		x.cause = panicked{v}
		if x.status == 0 {
			sendFailure(x, errorForStatus(x.operation(), http.StatusInternalServerError, "internal error"))
		}
	}
	x.report(stack)
}

func (x *exchange) operation() *Op {
	if x.route == nil {
		return nil
	}
	return x.route.op
}

// report writes the log line. It contains no body, no query, and no path with IDs.
func (x *exchange) report(stack []byte) {
	if x.cause == nil && !x.s.log.Enabled(x.r.Context(), slog.LevelInfo) {
		return
	}
	level, c, ended := slog.LevelInfo, identity.CallerFrom(x.r.Context()), x.s.clock.Now()
	attrs := append(x.s.p.Used(ended, x.meter.Usage(), 0),
		slog.String("method", x.r.Method), slog.String("route", x.pattern()),
		slog.Int("status", cmp.Or(x.shown, x.status)),
		slog.Float64("ms", float64(ended.Sub(x.began).Microseconds())/1000),
		slog.Bool("late", platform.Late(x.r.Context(), x.began, ended)),
		slog.String("request_id", x.id), slog.String("org", c.Org), slog.String("user", c.User),
	)
	if x.client != "" {
		attrs = append(attrs, slog.String("clientRequestID", x.client))
	}
	if x.cause != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.String("error", x.cause.Error()))
	}
	if stack != nil {
		attrs = append(attrs, slog.String("stack", string(stack)))
	}
	x.s.log.LogAttrs(x.r.Context(), level, "request", attrs...)
}

// pattern returns the operation's path, which contains no IDs, or "" if there is no operation.
func (x *exchange) pattern() string {
	if x.route == nil {
		return ""
	}
	return x.route.op.Path
}
