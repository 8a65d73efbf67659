package lambdaemulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// maxPayload is the largest answer that Lambda accepts of a synchronous invocation, in bytes.
const maxPayload = 6 << 20

// Failure is an error as a Go Lambda reports it.
type Failure struct {
	Message string `json:"errorMessage"`
	Type    string `json:"errorType"` // the Go type's name
}

// Error returns the type and the message.
func (f *Failure) Error() string { return f.Type + ": " + f.Message }

// invocation is an event on its way to the function.
type invocation struct {
	event    []byte
	id       string
	deadline time.Time
}

// reply is the answer that the function posted; id is empty when it failed before it took an event.
type reply struct {
	id   string
	body []byte
	err  error
}

const base = "/2018-06-01/runtime/"

// runtimeAPI serves the four calls that the Go runtime makes.
func (f *Function) runtimeAPI() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+base+"invocation/next", f.next)
	mux.HandleFunc("POST "+base+"invocation/{id}/response", f.response)
	mux.HandleFunc("POST "+base+"invocation/{id}/error", f.failure)
	mux.HandleFunc("POST "+base+"init/error", f.failure)
	return mux
}

func (f *Function) next(w http.ResponseWriter, r *http.Request) {
	select {
	case in := <-f.events:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", in.id)
		w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(in.deadline.UnixMilli(), 10))
		w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-west-1:123456789012:function:local")
		w.Write(in.event) //nolint:errcheck // a function that has gone shows in Invoke
	case <-r.Context().Done():
	}
}

func (f *Function) response(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(io.LimitReader(r.Body, maxPayload+1))
	if len(b) > maxPayload {
		err = fmt.Errorf("an answer of more than %d bytes", maxPayload)
	}
	w.WriteHeader(http.StatusAccepted)
	f.replies <- reply{r.PathValue("id"), b, err}
}

func (f *Function) failure(w http.ResponseWriter, r *http.Request) {
	var e Failure
	err := json.NewDecoder(io.LimitReader(r.Body, maxPayload)).Decode(&e)
	w.WriteHeader(http.StatusAccepted)
	if err != nil {
		f.replies <- reply{id: r.PathValue("id"), err: fmt.Errorf("decode the function's error: %w", err)}
		return
	}
	f.replies <- reply{id: r.PathValue("id"), err: &e}
}

// ignoreDone returns nil for the error that a killed process has already ended.
func ignoreDone(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// tail keeps the end of the written text.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailSize = 16 << 10

// Write keeps the last 16 KiB.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if len(t.b) > tailSize {
		t.b = append([]byte(nil), t.b[len(t.b)-tailSize:]...)
	}
	return len(p), nil
}

// String returns the kept text.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
