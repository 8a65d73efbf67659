package rest

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/danielgtaylor/huma/v2"
)

// spoofable is the prefix of headers that the adapter can read as the gateway's context. Clients can send them, so they
// are removed. This service does not read them.
const spoofable = "X-Golambdaproxy-"

// sanitizeEvent changes an event so that the adapter accepts it, or returns the reason why it is refused.
func sanitizeEvent(ev *events.APIGatewayProxyRequest) huma.StatusError {
	for _, check := range []func(*events.APIGatewayProxyRequest) huma.StatusError{
		admitMethod, admitPath, admitBody,
		admitHeaders,
	} {
		if e := check(ev); e != nil {
			return e
		}
	}
	if strings.ContainsFunc(ev.RequestContext.DomainName, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`/\?#@%[]<>"^{|}:`+"`", r)
	}) {
		ev.RequestContext.DomainName = "" // it would become the host of an address that is parsed and not used
	}
	return nil
}

// admitMethod requires an upper-case word, because the adapter would turn any other method into one.
func admitMethod(ev *events.APIGatewayProxyRequest) huma.StatusError {
	notWord := func(r rune) bool { return r < 'A' || r > 'Z' }
	if ev.HTTPMethod == "" || len(ev.HTTPMethod) > 16 || strings.ContainsFunc(ev.HTTPMethod, notWord) {
		return &GatewayError{http.StatusMethodNotAllowed, "method not allowed"}
	}
	return nil
}

// admitPath requires a path that can be decoded. API Gateway may decode characters that the client escaped, so "?" and
// "#" belong to the path.
func admitPath(ev *events.APIGatewayProxyRequest) huma.StatusError {
	if len(ev.Path) > MaxURI {
		return newError(http.StatusRequestURITooLong, "the address is longer than 8 KiB")
	}
	if _, err := url.PathUnescape(ev.Path); err != nil || !utf8.ValidString(ev.Path) || hasControl(ev.Path) {
		return newError(http.StatusBadRequest, "the path is not well-formed")
	}
	ev.Path = pathOnly.Replace(ev.Path)
	return nil
}

// pathOnly escapes characters that would end a path.
var pathOnly = strings.NewReplacer("?", "%3F", "#", "%23")

func admitBody(ev *events.APIGatewayProxyRequest) huma.StatusError {
	size := len(ev.Body)
	if ev.IsBase64Encoded {
		b, err := base64.StdEncoding.DecodeString(ev.Body)
		if err != nil {
			return newError(http.StatusBadRequest, "the body is not well-formed")
		}
		size = len(b)
	}
	if size > MaxBody {
		return newError(http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB")
	}
	return nil
}

// admitHeaders normalizes header names. It removes two Authorization headers, because it cannot choose.
func admitHeaders(ev *events.APIGatewayProxyRequest) huma.StatusError {
	merged := ev.MultiValueHeaders
	if !isCanonical(merged) {
		merged = mergeHeaders(ev)
	}
	for name, vs := range merged {
		if !isToken(name) || slices.ContainsFunc(vs, hasControl) {
			return newError(http.StatusBadRequest, "a header is not well-formed")
		}
	}
	if len(merged["Authorization"]) > 1 {
		return &GatewayError{http.StatusUnauthorized, "unauthorized"}
	}
	ev.Headers, ev.MultiValueHeaders = nil, merged
	return nil
}

// isCanonical reports whether all header names are normalized, which is common, so that no merging is needed.
func isCanonical(headers map[string][]string) bool {
	for name := range headers {
		if textproto.CanonicalMIMEHeaderKey(name) != name || strings.HasPrefix(name, spoofable) {
			return false
		}
	}
	return headers != nil
}

// mergeHeaders collects an event's headers under normalized names, without those that clients may not send.
func mergeHeaders(ev *events.APIGatewayProxyRequest) map[string][]string {
	merged := make(map[string][]string, len(ev.MultiValueHeaders))
	if ev.MultiValueHeaders == nil {
		for name, v := range ev.Headers {
			name = textproto.CanonicalMIMEHeaderKey(name)
			merged[name] = append(merged[name], v)
		}
	}
	for name, vs := range ev.MultiValueHeaders {
		name = textproto.CanonicalMIMEHeaderKey(name)
		merged[name] = append(merged[name], vs...)
	}
	maps.DeleteFunc(merged, func(name string, _ []string) bool { return strings.HasPrefix(name, spoofable) })
	return merged
}

// hasControl reports whether s contains line breaks, NUL or other control characters except tabs. No byte of a
// multi-byte character is one.
func hasControl(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}

// isToken reports whether s is a valid header name according to RFC 9110 section 5.6.2.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// turnedAway returns the answer to an event that no operation gets.
func turnedAway(requestID string, e huma.StatusError) events.APIGatewayProxyResponse {
	b, err := json.Marshal(e)
	if err != nil { // structs of strings can always be encoded
		panic(err)
	}
	h := map[string][]string{"Content-Type": {contentJSON}, "Cache-Control": {"no-store"}}
	if requestID != "" {
		h["X-Request-Id"] = []string{requestID}
	}
	return events.APIGatewayProxyResponse{StatusCode: e.GetStatus(), MultiValueHeaders: h, Body: string(b)}
}
