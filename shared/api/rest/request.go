package rest

import "context"

// RequestHeader returns the first value of a header of the request with the context ctx. It returns "" outside of a
// request. Headers that belong to the interface are declared in the input of their operation instead.
func RequestHeader(ctx context.Context, name string) string {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return ""
	}
	return x.r.Header.Get(name)
}

// RequestHost returns the host, with its port if it has one, that the client of the request with the context ctx asked.
// It returns "" outside of a request.
func RequestHost(ctx context.Context) string {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return ""
	}
	if host := x.r.Header.Get("Host"); host != "" { // the adapter of events leaves it among the headers
		return host
	}
	return x.r.Host
}

// RequestPath returns the escaped path of the request with the context ctx, without a stage's prefix. It returns ""
// outside of a request.
func RequestPath(ctx context.Context) string {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return ""
	}
	return x.r.URL.EscapedPath()
}
