package lambdacall

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

type order struct {
	Wick  string
	Break bool
	Deny  bool
}

type lit struct{ Flame string }

// lighter is a worker: its input decides whether it succeeds, refuses or fails.
func lighter(_ context.Context, in json.RawMessage) (any, error) {
	var o order
	if err := json.Unmarshal(in, &o); err != nil {
		return nil, err
	}
	switch {
	case o.Break:
		return nil, errors.New("a secret of ours")
	case o.Deny:
		return nil, fault.New(fault.Denied, "no matches for %s", o.Wick)
	}
	return lit{"flame of " + o.Wick}, nil
}

// startService runs Lambda's Invoke according to its API reference, for the function lamplighter-test-lighter.
func startService(t *testing.T) *Lambda {
	t.Helper()
	function := Function(lighter)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/functions/lamplighter-test-lighter/invocations") ||
			r.URL.Query().Get("Qualifier") != "live" {
			http.Error(w, `{"Message":"Function not found"}`, http.StatusNotFound)
			return
		}
		if a := r.Header.Get("Authorization"); !strings.HasPrefix(a, "AWS4-HMAC-SHA256 Credential=a/") ||
			!strings.Contains(a, "/eu-west-1/lambda/aws4_request") {
			t.Errorf("the request is not signed for Lambda: %q", a)
		}
		var in json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		out, err := function(r.Context(), in)
		if err != nil {
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
			out = map[string]string{"errorMessage": err.Error(), "errorType": "errorString"}
		}
		if err := json.NewEncoder(w).Encode(out); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	return NewLambda(aws.Config{
		Region: "eu-west-1", BaseEndpoint: &srv.URL,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	}, "lamplighter-test-", clock.System{})
}

func TestInvokersAgree(t *testing.T) {
	for name, inv := range map[string]Invoker{
		"in this process": Local{"lighter": lighter},
		"through Lambda":  startService(t),
	} {
		t.Run(name, func(t *testing.T) {
			var got lit
			if err := inv.Invoke(t.Context(), "lighter", order{Wick: "one"}, &got); err != nil ||
				got.Flame != "flame of one" {
				t.Errorf("an answer: %+v, %v", got, err)
			}
			err := inv.Invoke(t.Context(), "lighter", order{Wick: "two", Deny: true}, &got)
			if fault.KindOf(err) != fault.Denied || fault.Message(err) != "no matches for two" {
				t.Errorf("a refusal: %v (%v)", err, fault.KindOf(err))
			}
			err = inv.Invoke(t.Context(), "lighter", order{Break: true}, &got)
			if fault.KindOf(err) != fault.Internal || fault.Message(err) != "internal error" {
				t.Errorf("a defect: %v (%v), client sees %q", err, fault.KindOf(err), fault.Message(err))
			}
			if err = inv.Invoke(t.Context(), "nobody", order{}, &got); err == nil {
				t.Error("a worker that does not exist answered")
			}
		})
	}
}

func TestLambdaThatCannotBeReachedIsUnavailable(t *testing.T) {
	l := startService(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Invoke(ctx, "lighter", order{}, &lit{}); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("got %v", err)
	}
}

// A worker of state machines responds with its result without an envelope, and reports failures as failed invocations.
func TestRunTask_TakesTheAnswerOfAWorkerOfMachines(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/functions/lamplighter-test-broken/") {
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
		}
		_, _ = w.Write([]byte(`{"done":true}`))
	}))
	t.Cleanup(srv.Close)
	cfg := aws.Config{
		Region: "eu-west-1", BaseEndpoint: &srv.URL,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	}
	l := NewLambda(cfg, "lamplighter-test-", clock.System{})
	var got struct{ Done bool }
	if err := l.RunTask(t.Context(), "executor", map[string]string{"task": "abandon"}, &got); err != nil || !got.Done {
		t.Errorf("%+v, %v", got, err)
	}
	if err := l.RunTask(t.Context(), "broken", nil, &got); err == nil || !fault.Is(err, fault.Internal) {
		t.Errorf("got %v", err)
	}
}
