package secretsmanager

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"lamplighter.dev/shared/foundation/clock"
)

// vault is a Secrets Manager that gives its answers in turn, the last one again and again.
type vault struct {
	t       *testing.T
	answers []answer
	calls   atomic.Int64
}

type answer struct {
	status int
	body   string
}

// ServeHTTP answers GetSecretValue as its API reference says.
func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Amz-Target") != "secretsmanager.GetSecretValue" ||
		r.Header.Get("Content-Type") != "application/x-amz-json-1.1" ||
		!strings.Contains(r.Header.Get("Authorization"), "/eu-west-1/secretsmanager/aws4_request") {
		v.t.Errorf("the request is not a signed GetSecretValue: %v", r.Header)
	}
	var in map[string]string
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in) != 1 || in["SecretId"] != "lamplighter/x" {
		v.t.Errorf("it asks for %v, %v", in, err)
	}
	a := v.answers[min(int(v.calls.Add(1)), len(v.answers))-1]
	if a.status == 0 { // the connection breaks
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(a.status)
	fmt.Fprint(w, a.body)
}

// instant is a clock whose sleeps take no time.
type instant struct {
	clock.System
	slept *[]time.Duration
}

func (i instant) Sleep(ctx context.Context, d time.Duration) error {
	*i.slept = append(*i.slept, d)
	return ctx.Err()
}

func (v *vault) client(slept *[]time.Duration) *Client {
	srv := httptest.NewServer(v)
	v.t.Cleanup(srv.Close)
	return New(aws.Config{
		Region: "eu-west-1", BaseEndpoint: &srv.URL,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "c"),
	}, instant{slept: slept})
}

const found = `{"ARN":"arn:x","SecretString":"the text","VersionStages":["AWSCURRENT"]}`

func TestRead_TriesAgainWhileItMaySucceed(t *testing.T) {
	throttled := answer{400, `{"__type":"ThrottlingException","message":"slow down"}`}
	for name, c := range map[string]struct {
		answers []answer
		calls   int
		says    string // of an error
	}{
		"at once":                   {[]answer{{200, found}}, 1, ""},
		"after a broken connection": {[]answer{{}, {200, found}}, 2, ""},
		"after it was down":         {[]answer{{503, "x"}, {500, "{}"}, {200, found}}, 3, ""},
		"after it was throttled":    {[]answer{throttled, {200, found}}, 2, ""},
		"it stays down":             {[]answer{{500, ""}}, 3, "500"},
		"it stays throttled":        {[]answer{throttled}, 3, "ThrottlingException: slow down"},
		"no answer comes":           {[]answer{{}}, 3, "does not answer"},
		"there is no such secret": {
			[]answer{{400, `{"__type":"ResourceNotFoundException","Message":"none"}`}},
			1,
			"create it",
		},
		"the function may not read it": {[]answer{{
			400,
			`{"__type":"com.amazonaws#AccessDeniedException","Message":"no"}`,
		}}, 1, "kms:Decrypt"},
		"it holds bytes":        {[]answer{{200, `{"SecretBinary":"c2VjcmV0"}`}}, 1, "no text"},
		"it is empty":           {[]answer{{200, `{"SecretString":""}`}}, 1, "no text"},
		"the answer is no JSON": {[]answer{{200, `<html>`}}, 1, "no text"},
	} {
		t.Run(name, func(t *testing.T) {
			var slept []time.Duration
			v := &vault{t: t, answers: c.answers}
			text, err := v.client(&slept).Read(t.Context(), "lamplighter/x")
			if int(v.calls.Load()) != c.calls || len(slept) != c.calls-1 {
				t.Errorf("%d calls, want %d; it waited %v", v.calls.Load(), c.calls, slept)
			}
			if c.says == "" {
				if err != nil || text != "the text" {
					t.Errorf("%q, %v", text, err)
				}
				return
			}
			if err == nil || text != "" || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), `"lamplighter/x"`) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q, %v; want one line that names the secret and says %q", text, err, c.says)
			}
		})
	}
}

func TestRead_EndsWithItsContext(t *testing.T) {
	var slept []time.Duration
	v := &vault{t: t, answers: []answer{{500, ""}}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.client(&slept).Read(ctx, "lamplighter/x"); err == nil || v.calls.Load() > 1 {
		t.Errorf("%d calls, %v", v.calls.Load(), err)
	}
}
