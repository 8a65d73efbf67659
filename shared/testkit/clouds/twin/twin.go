// Package twin has the parts that the doubles of the clouds share. It exists so that a lost answer is the same in all
// of them.
package twin

import (
	"errors"
	"net/http"
	"net/http/httptest"
)

// Answer answers a request as a cloud does. If it returns lost, the answer does not reach the client.
type Answer func(w http.ResponseWriter, r *http.Request) (lost bool)

// RoundTrip answers a request to any address, so that a client of the cloud reaches its double.
func (a Answer) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	if lost := a(w, r); lost {
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		return nil, errors.New("connection reset by the twin")
	}
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// ServeHTTP answers a request of a server. A lost answer is a broken connection.
func (a Answer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if lost := a(w, r); lost {
		panic(http.ErrAbortHandler)
	}
}
