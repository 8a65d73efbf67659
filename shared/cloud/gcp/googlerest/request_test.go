package googlerest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/api/googleapi"

	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// answers is a transport that keeps the last request and answers each with one status and body.
type answers struct {
	status int
	body   string
	last   *http.Request
}

// RoundTrip keeps the request and answers it.
func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, errors.New("the connection is closed")
	}
	a.last = r
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body))},
		nil
}

func TestDo_BuildsTheAddress(t *testing.T) {
	for name, tt := range map[string]struct {
		request *googlerest.Request
		want    string
	}{
		"a segment is escaped": {
			googlerest.NewGet("", googlerest.Compute+"projects/{project}/regions", "example.com:shop").Set("pageToken",
				""),
			"https://compute.googleapis.com/compute/v1/projects/example.com%3Ashop/regions" +
				"?alt=json&pageToken=&prettyPrint=false",
		},
		"a name of several segments keeps its slashes": {
			googlerest.NewPost("", googlerest.Run+"{+name}:stop", "projects/p/services/s"),
			"https://run.googleapis.com/v2/projects/p/services/s:stop?alt=json&prettyPrint=false",
		},
		"a parameter may have several values": {
			googlerest.NewGet("", googlerest.Monitoring+"{+name}/timeSeries", "projects/p").Set("by", "b",
				"a").SetInt("pageSize", 0),
			"https://monitoring.googleapis.com/v3/projects/p/timeSeries" +
				"?alt=json&by=b&by=a&pageSize=0&prettyPrint=false",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := &answers{status: 200, body: "{}"}
			if _, err := googlerest.Do[struct{}](t.Context(), &http.Client{Transport: a}, tt.request); err != nil {
				t.Fatal(err)
			}
			if got := a.last.URL.String(); got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
}

func TestDo_RefusesAnAddressWithoutItsNames(t *testing.T) {
	a := &answers{status: 200, body: "{}"}
	r := googlerest.NewGet("", googlerest.Compute+"projects/{project}/zones/{zone}", "p")
	if _, err := googlerest.Do[struct{}](t.Context(), &http.Client{Transport: a}, r); err == nil || a.last != nil {
		t.Errorf("%v, sent %v; want an error and no request", err, a.last)
	}
}

func TestDo_ReturnsTheErrorOfTheCall(t *testing.T) {
	body := `{"error":{"code":403,"message":"no","errors":[{"reason":"forbidden"}]}}`
	for name, status := range map[string]int{
		"a refusal": 403, "a redirect": 302,
		"an answer that did not change": 304,
	} {
		t.Run(name, func(t *testing.T) {
			client := &http.Client{
				Transport: &answers{status: status, body: body},
				CheckRedirect: func(*http.Request, []*http.Request) error {
					return http.ErrUseLastResponse
				},
			}
			_, err := googlerest.Do[struct{}](t.Context(), client, googlerest.NewGet("", googlerest.Run+"x"))
			if e, ok := errors.AsType[*googleapi.Error](err); !ok || e.Body != body {
				t.Errorf("%v; want Google's error with its body", err)
			}
		})
	}
	ended, end := context.WithCancel(t.Context())
	end()
	_, err := googlerest.Do[struct{}](ended, &http.Client{Transport: &answers{}},
		googlerest.NewGet("", googlerest.Run+"x"))
	if !errors.Is(err, context.Canceled) || err.Error() != context.Canceled.Error() {
		t.Errorf("%v; want the error of the context", err)
	}
	_, err = googlerest.Do[struct{}](t.Context(), &http.Client{Transport: &answers{status: 200}},
		googlerest.NewGet("", googlerest.Run+"x"))
	if err == nil {
		t.Error("an answer without a body was taken")
	}
	if _, err = googlerest.Do[struct{}](t.Context(), &http.Client{Transport: &answers{status: 204}},
		googlerest.NewGet("", googlerest.Run+"x")); err != nil {
		t.Errorf("no content: %v", err)
	}
}

func TestDo_SendsABodyThatCanBeRepeated(t *testing.T) {
	a := &answers{status: 200, body: "{}"}
	r := googlerest.NewPost("", googlerest.Container+"x").Body(googlerest.NodePoolSizeChange{})
	if _, err := googlerest.Do[struct{}](t.Context(), &http.Client{Transport: a}, r); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		again, err := a.last.GetBody()
		if err != nil {
			t.Fatal(err)
		}
		if raw, err := io.ReadAll(again); err != nil || string(raw) != "{\"nodeCount\":0}\n" {
			t.Errorf("%q, %v", raw, err)
		}
	}
	if got := a.last.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
}

// TestBodies_SendZeroAndNullWhereGoogleNeedsThem holds the fields that omitempty would lose.
func TestBodies_SendZeroAndNullWhereGoogleNeedsThem(t *testing.T) {
	zero, text := int64(0), ""
	var noRule *googlerest.CPUUtilization
	var pool googlerest.NodePoolAutoscalingChange
	pool.Autoscaling.Enabled, pool.Autoscaling.MinNodeCount, pool.Autoscaling.MaxNodeCount = true, &zero, 5
	var service googlerest.RunServiceChange
	service.Annotations, service.Scaling.MinInstanceCount = map[string]string{}, &zero
	for name, tt := range map[string]struct {
		body any
		want string
	}{
		"a minimum of 0 and a removed rule": {
			googlerest.AutoscalerChange{AutoscalingPolicy: googlerest.AutoscalingPolicyChange{
				MinNumReplicas: &zero,
				CPUUtilization: &noRule,
			}},
			`{"autoscalingPolicy":{"cpuUtilization":null,"minNumReplicas":0}}`,
		},
		"an empty description, and a rule that stays": {
			googlerest.AutoscalerChange{
				Description:       &text,
				AutoscalingPolicy: googlerest.AutoscalingPolicyChange{Mode: "OFF"},
			},
			`{"autoscalingPolicy":{"mode":"OFF"},"description":""}`,
		},
		"a pool that is not scaled": {
			googlerest.NodePoolAutoscalingChange{},
			`{"autoscaling":{"enabled":false}}`,
		},
		"a pool with a minimum of 0": {
			pool,
			`{"autoscaling":{"enabled":true,"maxNodeCount":5,"minNodeCount":0}}`,
		},
		"a service without annotations":    {service, `{"annotations":{},"scaling":{"minInstanceCount":0}}`},
		"a service that keeps annotations": {googlerest.RunServiceChange{Etag: "e"}, `{"etag":"e","scaling":{}}`},
	} {
		if got, err := json.Marshal(tt.body); err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, tt.want)
		}
	}
}

func TestFloat_TakesNumbersAndTheirThreeWords(t *testing.T) {
	for text, want := range map[string]float64{
		"0.25": 0.25, "3": 3, `"Infinity"`: math.Inf(1),
		`"-Infinity"`: math.Inf(-1),
	} {
		var f googlerest.Float
		if err := json.Unmarshal([]byte(text), &f); err != nil || float64(f) != want {
			t.Errorf("%s: %v, %v; want %v", text, f, err, want)
		}
	}
	var f googlerest.Float
	if err := json.Unmarshal([]byte(`"NaN"`), &f); err != nil || !math.IsNaN(float64(f)) {
		t.Errorf("NaN: %v, %v", f, err)
	}
	for _, text := range []string{`"1"`, `"nan"`, `true`, `{}`} {
		if err := json.Unmarshal([]byte(text), &f); err == nil {
			t.Errorf("%s was taken for %v", text, f)
		}
	}
}
