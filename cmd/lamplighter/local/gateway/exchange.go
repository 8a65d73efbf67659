package gateway

import (
	"context"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/id"
)

// The stage and the account id of every event. Functions ignore both.
const (
	stage   = "local"
	account = "000000000000"
)

// maxAnswer is the largest answer of a function in bytes, as in Lambda.
const maxAnswer = 6 << 20

// exchange is one request and its answer in the gateway.
type exchange struct {
	g  *Gateway
	w  http.ResponseWriter
	r  *http.Request
	id string
	at time.Time
}

func (g *Gateway) beginExchange(w http.ResponseWriter, r *http.Request) *exchange {
	at := g.clock.Now()
	return &exchange{g, w, r, id.New("gw", at), at}
}

// refusalStatus returns the status of the error page for a request that does not reach the interface, or 0.
func refusalStatus(r *http.Request) int {
	switch {
	case !slices.Contains(proxied, r.Method):
		return http.StatusMethodNotAllowed
	case len(r.RequestURI) > rest.MaxURI:
		return http.StatusRequestURITooLong
	case r.ContentLength > rest.MaxBody:
		return http.StatusRequestEntityTooLarge
	}
	return 0
}

// proxied are the methods that API Gateway supports.
var proxied = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions,
}

// readBody reads the body. It answers the request and returns false if the body is too large or cannot be read.
func (x *exchange) readBody() ([]byte, bool) {
	if x.r.Body == nil || x.r.Body == http.NoBody {
		return nil, true
	}
	body, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, rest.MaxBody))
	if err == nil {
		return body, true
	}
	if int64(len(body)) >= rest.MaxBody {
		x.writeErrorPage(http.StatusRequestEntityTooLarge)
	} else {
		x.writeGatewayResponse("BAD_REQUEST_BODY", http.StatusBadRequest)
	}
	return nil, false
}

// writeErrorPage answers with an HTML page, as a proxy does that does not know the interface.
func (x *exchange) writeErrorPage(status int) {
	text := html.EscapeString(strconv.Itoa(status) + " " + http.StatusText(status))
	x.header("text/html; charset=utf-8")
	x.w.WriteHeader(status)
	_, _ = fmt.Fprintf(x.w, "<html><head><title>%[1]s</title></head><body><h1>%[1]s</h1></body></html>\n", text)
}

// writeGatewayResponse answers with one of the template's gateway responses. If the template has no status for it,
// status is used, the one of API Gateway.
func (x *exchange) writeGatewayResponse(kind string, status int) {
	resp, ok := x.g.responses[kind]
	if !ok {
		resp = x.g.responses["DEFAULT_"+strconv.Itoa(status/100)+"XX"]
	}
	if resp.StatusCode != 0 {
		status = resp.StatusCode
	}
	format, body := "application/json", `{"message":`+strconv.Quote(http.StatusText(status))+`}`
	for f, b := range resp.ResponseTemplates { // there is one
		format, body = f, strings.ReplaceAll(b, "$context.error.messageString", strconv.Quote(http.StatusText(status)))
	}
	x.header(format)
	for name, v := range resp.ResponseParameters.Headers {
		x.w.Header().Set(name, x.value(v))
	}
	x.w.WriteHeader(status)
	_, _ = io.WriteString(x.w, body)
}

// value returns the value of a gateway response's parameter: a quoted text, or the id of the request.
func (x *exchange) value(v string) string {
	if v == "context.requestId" {
		return x.id
	}
	return strings.Trim(v, "'")
}

func (x *exchange) header(format string) {
	h := x.w.Header()
	h.Set("Content-Type", format)
	h.Set("X-Request-Id", x.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

// newEvent returns the event that API Gateway would make of the request, without its body.
func (x *exchange) newEvent(rt *route, params map[string]string) *events.APIGatewayProxyRequest {
	path := x.r.URL.EscapedPath()
	ev := &events.APIGatewayProxyRequest{
		Resource: rt.pattern, Path: path, HTTPMethod: x.r.Method, PathParameters: params,
		MultiValueHeaders: x.headers(),
		RequestContext: events.APIGatewayProxyRequestContext{
			AccountID: account, APIID: stage, Stage: stage, Protocol: x.r.Proto, ResourcePath: rt.pattern,
			RequestID: x.id, ExtendedRequestID: x.id, HTTPMethod: x.r.Method, Path: "/" + stage + path,
			RequestTime: x.at.Format("02/Jan/2006:15:04:05 -0700"), RequestTimeEpoch: x.at.UnixMilli(),
			DomainName: host(x.r.Host),
			Identity:   events.APIGatewayRequestIdentity{SourceIP: host(x.r.RemoteAddr), UserAgent: x.r.UserAgent()},
		},
	}
	ev.Headers = last(ev.MultiValueHeaders)
	if q := parameters(x.r.URL.RawQuery); len(q) > 0 {
		ev.MultiValueQueryStringParameters, ev.QueryStringParameters = q, last(q)
	}
	return ev
}

// setEventBody puts the body into an event. An event is text, so a body that is not valid UTF-8 is encoded in base64.
func setEventBody(ev *events.APIGatewayProxyRequest, body []byte) {
	if utf8.Valid(body) {
		ev.Body = string(body)
		return
	}
	ev.Body, ev.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
}

// parameters parses a query as leniently as API Gateway. A part that does not decode stays as it was sent.
func parameters(raw string) map[string][]string {
	out := map[string][]string{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, value = unescape(name), unescape(value)
		out[name] = append(out[name], value)
	}
	return out
}

func unescape(s string) string {
	if v, err := url.QueryUnescape(s); err == nil {
		return v
	}
	return s
}

func last(m map[string][]string) map[string]string {
	out := make(map[string]string, len(m))
	for name, vs := range m {
		if len(vs) > 0 {
			out[name] = vs[len(vs)-1]
		}
	}
	return out
}

// headers returns the headers of the client and those that API Gateway adds.
func (x *exchange) headers() map[string][]string {
	h := maps.Clone(map[string][]string(x.r.Header))
	h["Host"] = []string{x.r.Host}
	h["X-Forwarded-For"] = []string{strings.Join(append(slices.Clone(h["X-Forwarded-For"]), host(x.r.RemoteAddr)),
		", ")}
	h["X-Forwarded-Proto"] = []string{"http"}
	return h
}

// host returns an address without its port.
func host(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		return h
	}
	return address
}

// invocationContext returns the context that Lambda gives a function: it does not end when the client goes away.
func invocationContext(ev *events.APIGatewayProxyRequest) context.Context {
	return lambdacontext.NewContext(context.Background(),
		&lambdacontext.LambdaContext{AwsRequestID: ev.RequestContext.RequestID})
}

// writeResponse writes a function's answer to the client, or a 502 if API Gateway would not understand it.
func (x *exchange) writeResponse(out events.APIGatewayProxyResponse) {
	body := []byte(out.Body)
	if out.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(out.Body); err != nil {
			x.writeGatewayResponse("INTEGRATION_FAILURE", http.StatusBadGateway)
			return
		}
	}
	if out.StatusCode < http.StatusOK || out.StatusCode > 599 || len(out.Body) > maxAnswer {
		x.writeGatewayResponse("INTEGRATION_FAILURE", http.StatusBadGateway)
		return
	}
	for name, v := range out.Headers {
		x.w.Header().Set(name, v)
	}
	for name, vs := range out.MultiValueHeaders {
		x.w.Header()[http.CanonicalHeaderKey(name)] = vs
	}
	x.w.WriteHeader(out.StatusCode)
	_, _ = x.w.Write(body)
}
