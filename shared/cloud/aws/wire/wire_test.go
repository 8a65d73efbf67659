package wire_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
	"lamplighter.dev/shared/cloud/aws/wire/eks"
)

// service answers requests with its answers in order, and repeats the last one. It records the requests.
type service struct {
	answers []*http.Response
	got     []*http.Request
	bodies  []string
}

// Do implements aws.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	s.got, s.bodies = append(s.got, r), append(s.bodies, body)
	a := s.answers[min(len(s.got), len(s.answers))-1]
	return a, nil
}

func response(status int, date time.Time, body string) *http.Response {
	h := http.Header{}
	if !date.IsZero() {
		h.Set("Date", date.Format(http.TimeFormat))
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func failure(status int, date time.Time, code string) *http.Response {
	return response(status, date,
		"<Response><Errors><Error><Code>"+code+"</Code><Message>m</Message></Error></Errors></Response>")
}

func (s *service) config() aws.Config {
	return aws.Config{
		Region: "eu-west-1", HTTPClient: s, AppID: "lamplighter",
		Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	}
}

func TestCall_RetriesWhatAWSSaysMayBeRetried(t *testing.T) {
	for name, c := range map[string]struct {
		status   int
		code     string
		attempts int // allowed
		calls    int // wanted
	}{
		"throttling":                       {400, "RequestLimitExceeded", 3, 3},
		"a fault of the service":           {503, "Unavailable", 3, 3},
		"a refusal":                        {403, "UnauthorizedOperation", 3, 1},
		"throttling, with fewer attempts":  {400, "RequestLimitExceeded", 2, 2},
		"a fault, where one attempt is it": {500, "InternalError", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := &service{}
			for range 3 {
				s.answers = append(s.answers, failure(c.status, time.Time{}, c.code))
			}
			_, err := ec2.NewFromConfig(s.config()).StopInstances(wire.WithAttempts(t.Context(), c.attempts),
				&ec2.StopInstancesInput{InstanceIds: []string{"i-1"}})
			if len(s.got) != c.calls {
				t.Errorf("%d calls; want %d", len(s.got), c.calls)
			}
			answered, ok := errors.AsType[*smithyhttp.ResponseError](err)
			if !ok || answered.HTTPStatusCode() != c.status || !strings.Contains(err.Error(), c.code) {
				t.Errorf("error %v; want status %d and code %s", err, c.status, c.code)
			}
			for _, body := range s.bodies {
				if !strings.Contains(body, "InstanceId.1=i-1") {
					t.Errorf("an attempt sent %q", body)
				}
			}
		})
	}
}

// AWS never carries out a call that it throttles, so it is made again; any other failure may have taken effect.
func TestCall_AWriteIsMadeAgainOnlyAfterThrottling(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		code   string
		calls  int
	}{
		"throttling":                  {503, "RequestLimitExceeded", 3},
		"throttling by another word":  {400, "ThrottlingException", 3},
		"a fault of the service":      {500, "InternalError", 1},
		"a service that is not there": {503, "Unavailable", 1},
		"a refusal":                   {403, "UnauthorizedOperation", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := &service{}
			for range 3 {
				s.answers = append(s.answers, failure(c.status, time.Time{}, c.code))
			}
			_, err := ec2.NewFromConfig(s.config()).DeleteVolume(wire.WithOneWrite(t.Context()),
				&ec2.DeleteVolumeInput{VolumeId: aws.String("vol-1")})
			if len(s.got) != c.calls || err == nil || !strings.Contains(err.Error(), c.code) {
				t.Errorf("%d calls, %v; want %d", len(s.got), err, c.calls)
			}
		})
	}
}

// The pauses between the attempts end with the deadline of the call.
func TestCall_AThrottledWriteEndsWithItsDeadline(t *testing.T) {
	s := &service{answers: []*http.Response{failure(503, time.Time{}, "RequestLimitExceeded")}}
	cfg := s.config()
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return time.Hour, nil })
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := ec2.NewFromConfig(cfg).DeleteVolume(wire.WithOneWrite(ctx),
		&ec2.DeleteVolumeInput{VolumeId: aws.String("vol-1")})
	if !errors.Is(err, context.DeadlineExceeded) || len(s.got) != 1 {
		t.Errorf("%d calls, %v", len(s.got), err)
	}
}

func TestCall_SignsAtTheServersTimeAfterARefusalForTheClock(t *testing.T) {
	server := time.Now().Add(3 * time.Hour).UTC()
	s := &service{answers: []*http.Response{
		failure(401, server, "AuthFailure"),
		response(200, server, "<DescribeRegionsResponse/>"),
	}}
	c := ec2.NewFromConfig(s.config())
	if _, err := c.DescribeRegions(t.Context(), &ec2.DescribeRegionsInput{}); err != nil {
		t.Fatal(err)
	}
	signed, err := time.Parse("20060102T150405Z", s.got[1].Header.Get("X-Amz-Date"))
	if err != nil || signed.Sub(server).Abs() > time.Minute {
		t.Errorf("the second attempt is signed at %s, %v; the server's time is %s", signed, err, server)
	}
}

func TestCall_NamesTheServiceAndThisProgram(t *testing.T) {
	s := &service{answers: []*http.Response{response(200, time.Time{}, "<DescribeRegionsResponse/>")}}
	if _, err := ec2.NewFromConfig(s.config()).DescribeRegions(t.Context(), &ec2.DescribeRegionsInput{}); err != nil {
		t.Fatal(err)
	}
	agent := s.got[0].Header.Get("User-Agent")
	for _, want := range []string{"aws-sdk-go-v2/", "api/ec2", "app/lamplighter"} {
		if !strings.Contains(agent, want) {
			t.Errorf("user agent %q has no %q", agent, want)
		}
	}
}

func TestUpdateNodegroupConfig_SendsOneTokenInAllAttempts(t *testing.T) {
	s := &service{answers: []*http.Response{response(500, time.Time{}, "{}"), response(200, time.Time{}, "{}")}}
	name := "blue"
	c := eks.NewFromConfig(s.config())
	for range 2 {
		_, err := c.UpdateNodegroupConfig(t.Context(),
			&eks.UpdateNodegroupConfigInput{ClusterName: &name, NodegroupName: &name})
		if err != nil {
			t.Fatal(err)
		}
		s.answers[1] = response(200, time.Time{}, "{}")
	}
	if len(s.bodies) != 3 || s.bodies[0] != s.bodies[1] || !strings.Contains(s.bodies[0], "clientRequestToken") {
		t.Errorf("the attempts of one call differ, or have no token: %q", s.bodies)
	}
	if s.bodies[1] == s.bodies[2] {
		t.Errorf("two calls have the same token: %q", s.bodies[2])
	}
}

func TestPages_EndWithThePageThatHasNoToken(t *testing.T) {
	s := &service{answers: []*http.Response{
		response(200, time.Time{}, "<R><nextToken>two</nextToken></R>"),
		response(200, time.Time{}, "<R><nextToken></nextToken></R>"),
	}}
	pages := wire.NewPages(ec2.NewFromConfig(s.config()).DescribeInstances, &ec2.DescribeInstancesInput{})
	for pages.HasMorePages() {
		if _, err := pages.NextPage(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.bodies) != 2 || !strings.Contains(s.bodies[1], "NextToken=two") {
		t.Errorf("requests %q; want two, the second with the token", s.bodies)
	}
}

func TestTime_ReadsTheFormatsOfAWS(t *testing.T) {
	want := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	for _, text := range []string{
		`1714979289`, `1.714979289E9`, `1714979289.0`, `"2024-05-06T07:08:09Z"`, `"2024-05-06T07:08:09.000Z"`,
		`"2024-05-06T09:08:09+02:00"`, `"2024-05-06T07:08:09"`,
	} {
		var got wire.Time
		if err := got.UnmarshalJSON([]byte(text)); err != nil || !got.Equal(want) {
			t.Errorf("%s is read as %s, %v; want %s", text, got, err, want)
		}
	}
	var got wire.Time
	if err := got.UnmarshalJSON([]byte(`"yesterday"`)); err == nil {
		t.Errorf("%q is read as %s; want an error", "yesterday", got)
	}
}
