package aws_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

const role = "arn:aws:iam::111122223333:role/lamplighter"

func roleAccount() cloud.Account {
	return cloud.Account{
		Org: "org_1", ID: "ca_1", Provider: "aws", AuthMethod: "assume_role",
		Credentials: map[string]string{"roleArn": role, "externalID": "ext_1"},
	}
}

func TestARoleIsAssumedWithItsExternalID(t *testing.T) {
	tw := &awstwin.Cloud{}
	tw.AddRole(role, "ext_1")
	got, err := open(t, tw, roleAccount()).Identify(t.Context())
	if err != nil || got != awstwin.Account {
		t.Fatalf("Identify = %q, %v", got, err)
	}
	calls := tw.Calls("sts:AssumeRole")
	if len(calls) != 2 || calls[0].Params["ExternalId"] != nil || calls[1].Params["ExternalId"] != "ext_1" {
		t.Errorf("AssumeRole was called as %v; want once without the external id, then with it", calls)
	}
	if name := calls[1].Params["RoleSessionName"]; name != "lamplighter-org_1-ca_1" {
		t.Errorf("session name %q; want organization and account in it", name)
	}
}

func TestARoleThatOpensWithoutExternalIDIsRefused(t *testing.T) {
	tw := &awstwin.Cloud{}
	tw.AddRole(role, "")
	_, err := open(t, tw, roleAccount()).Identify(t.Context())
	wantClass(t, "Identify with an unsafe role", err, cloud.Refused)
	if !strings.Contains(err.Error(), "without its external id") || !strings.Contains(err.Error(), "sts:ExternalId") {
		t.Errorf("the message %q does not say what is wrong and what to do", err)
	}
}

func TestARoleThatDoesNotOpenIsRefusedInAWSsWords(t *testing.T) {
	tw := &awstwin.Cloud{}
	c := open(t, tw, roleAccount())
	_, err := c.Identify(t.Context())
	wantClass(t, "Identify with an unknown role", err, cloud.Refused)
	e, ok := errors.AsType[*cloud.Error](err)
	if !ok || e.Op != "sts:AssumeRole" || e.Code != "AccessDenied" ||
		!strings.Contains(e.Message, "is not authorized to perform: sts:AssumeRole") {
		t.Errorf("error %+v; want AWS's own code and words", e)
	}
	_, err = c.List(t.Context(), "aws-ec2", region, "")
	wantClass(t, "List with an unknown role", err, cloud.Refused)
}

// An emulator does not check external ids, and never receives this installation's own identity.
func TestACustomEndpointGetsAPlaceholderIdentity(t *testing.T) {
	tw := &awstwin.Cloud{}
	tw.AddRole(role, "")
	srv := httptest.NewServer(tw)
	defer srv.Close()
	o := options(nil)
	o.CustomEndpoints, o.PrivateAddresses = true, true
	a := roleAccount()
	a.EndpointURL = srv.URL
	c, err := aws.New(o).Connect(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Identify(t.Context())
	// The twin does not know the placeholder key, so its refusal shows that our key was not sent.
	wantClass(t, "Identify with the placeholder", err, cloud.Refused)
	if n := len(tw.Calls("sts:AssumeRole")); n != 1 {
		t.Errorf("AssumeRole was called %d times; want once, without the negative check", n)
	}
}

func TestConnectRefusesWhatIsIncomplete(t *testing.T) {
	with := func(method string, c map[string]string) cloud.Account {
		return cloud.Account{Provider: "aws", AuthMethod: method, Credentials: c}
	}
	at := func(url string) cloud.Account { a := keys("k"); a.EndpointURL = url; return a }
	tests := map[string]struct {
		account cloud.Account
		custom  bool
		private bool
		says    string
	}{
		"keys without a secret": {
			account: with("static_keys", map[string]string{"accessKeyID": "a"}),
			says:    "secretAccessKey",
		},
		"temporary ones without a session": {account: with("temporary_credentials",
			map[string]string{"accessKeyID": "a", "secretAccessKey": "b"}), says: "sessionToken"},
		"a role without an external id": {
			account: with("assume_role", map[string]string{"roleArn": role}),
			says:    "externalID",
		},
		"a role that is none": {account: with("assume_role",
			map[string]string{"roleArn": "admin", "externalID": "e"}), says: `"admin"`},
		"a method of another cloud": {account: with("service_account", nil), says: `"service_account"`},
		"an endpoint where none is": {account: at("http://127.0.0.1:5000"), says: "no custom endpoints"},
		"an endpoint that is no address": {
			account: at("file:///etc/passwd"), custom: true,
			says: "must begin with https://",
		},
		"an endpoint of this machine": {
			account: at("https://127.0.0.1:5000"), custom: true,
			says: "private or special network",
		},
		"an endpoint without TLS": {
			account: at("http://cloud.example.com"), custom: true,
			says: "must begin with https://",
		},
		"an endpoint that is metadata": {
			account: at("http://169.254.169.254/"), custom: true, private: true,
			says: "link-local or metadata address",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := options(&awstwin.Cloud{})
			o.CustomEndpoints, o.PrivateAddresses = tt.custom, tt.private
			_, err := aws.New(o).Connect(t.Context(), tt.account)
			wantClass(t, "Connect", err, cloud.Invalid)
			if err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("the error %q does not say %q", err, tt.says)
			}
		})
	}
}

// The address of an endpoint is checked when it is dialled, even if it was allowed when the account was connected.
func TestAnEndpointIsRefusedWhenItIsDialled(t *testing.T) {
	tw := &awstwin.Cloud{}
	srv := httptest.NewServer(tw)
	defer srv.Close()
	o := options(nil)
	o.CustomEndpoints, o.PrivateAddresses, o.Attempts, o.MaxBackoff = true, true, 5, time.Minute
	a := keys(awstwin.AccessKey)
	a.EndpointURL = srv.URL
	c, err := aws.New(o).Connect(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_LAMBDA_RUNTIME_API", srv.Listener.Addr().String())
	_, err = c.Identify(t.Context())
	wantClass(t, "Identify at the runtime's own address", err, cloud.Invalid)
	if e, ok := errors.AsType[*cloud.Error](err); !ok || e.Code != "AddressRefused" ||
		!strings.Contains(e.Message, "the runtime of this process") {
		t.Errorf("error %+v; want it to say what was refused", err)
	}
	t.Setenv("AWS_LAMBDA_RUNTIME_API", "")
	if got, err := c.Identify(t.Context()); got != awstwin.Account || err != nil {
		t.Errorf("Identify where nothing is refused = %q, %v", got, err)
	}
	if n := len(tw.Calls("sts:GetCallerIdentity")); n != 1 {
		t.Errorf("%d calls reached the endpoint; want the one that was allowed", n)
	}
}

func TestTemporaryCredentialsCarryTheirSession(t *testing.T) {
	tw := &awstwin.Cloud{}
	a := keys("ASIATEMPORARY")
	a.AuthMethod, a.Credentials["sessionToken"] = "temporary_credentials", "token"
	if got, err := open(t, tw, a).Identify(t.Context()); got != awstwin.Account || err != nil {
		t.Errorf("Identify = %q, %v", got, err)
	}
}

func TestOnlyEnabledRegionsAreListed(t *testing.T) {
	tw, c := connect(t)
	got, err := c.Regions(t.Context())
	if want := []string{"eu-south-1", "eu-west-1", "us-east-1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Regions = %v, %v; want %v, without the one that is not opted in", got, err, want)
	}
	a := keys(awstwin.AccessKey)
	a.Regions = []string{"eu-west-1", "ap-east-1"}
	got, err = open(t, tw, a).Regions(t.Context())
	if err != nil || !slices.Equal(got, []string{"eu-west-1"}) {
		t.Errorf("Regions of an account that names two = %v, %v; want the enabled one", got, err)
	}
}

func TestPermissionsTellWhatAWSSays(t *testing.T) {
	tw, c := connect(t)
	tw.AddInstance(awstwin.Instance{ID: awstwin.InstanceID(1), Region: "us-east-1"})
	tw.AddFault(awstwin.Fault{
		Op: "rds:DescribeDBInstances", Code: "AccessDenied",
		Message: "no identity-based policy allows the rds:DescribeDBInstances action", Status: 403, Times: -1,
	})
	tw.AddFault(awstwin.Fault{
		Op: "ec2:StopInstances", Code: "UnauthorizedOperation", Message: "You are not authorized",
		Status: 403, Times: -1,
	})
	got, err := c.Permissions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"ec2:DescribeInstances": "granted", "ec2:StartInstances": "granted",
		"ec2:StopInstances":       "denied: You are not authorized",
		"rds:DescribeDBInstances": "denied: no identity-based policy", "rds:StopDBInstance": "unknown: no dry run",
		"autoscaling:UpdateAutoScalingGroup": "unknown: no dry run", "ecs:ListClusters": "granted",
	}
	for action, says := range want {
		i := slices.IndexFunc(got, func(p cloud.Permission) bool { return p.Action == action })
		status, part, _ := strings.Cut(says, ": ")
		if i < 0 || got[i].Status != status || !strings.Contains(got[i].Message, part) {
			t.Errorf("%s: %+v; want %s", action, got, says)
		}
	}
	for _, i := range tw.Calls("ec2:StartInstances") {
		if i.Params["DryRun"] != "true" {
			t.Error("a probe did what it probed")
		}
	}
}

func TestACallEndsWithItsDeadline(t *testing.T) {
	hang := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer srv.Close()
	defer close(hang)
	o := options(nil)
	o.CustomEndpoints, o.PrivateAddresses, o.Timeout, o.Attempts = true, true, 20*time.Millisecond, 2
	a := keys(awstwin.AccessKey)
	a.EndpointURL = srv.URL
	c, err := aws.New(o).Connect(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = c.List(t.Context(), "aws-ec2", region, "")
	wantClass(t, "List of a cloud that hangs", err, cloud.Transient)
	if e, ok := errors.AsType[*cloud.Error](err); !ok || e.Code != "Timeout" || time.Since(began) > 5*time.Second {
		t.Errorf("after %v: %+v; want a timeout after two short attempts", time.Since(began), err)
	}
}

func TestTheLimiterWaitsNoLongerThanItsCaller(t *testing.T) {
	tw := &awstwin.Cloud{}
	o := options(tw)
	o.Limits = map[string]aws.Limit{"": {PerSecond: 0.001, Burst: 1}}
	c, err := aws.New(o).Connect(t.Context(), keys(awstwin.AccessKey))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.List(t.Context(), "aws-ec2", region, ""); err != nil {
		t.Fatalf("the first call: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = c.List(ctx, "aws-ec2", region, "")
	wantClass(t, "a call that would wait a quarter of an hour", err, cloud.Transient)
	if n := len(tw.Calls("ec2:DescribeInstances")); n != 1 {
		t.Errorf("%d calls reached the cloud; want 1", n)
	}
}

func TestAnInstallationWithoutAnIdentitySaysSo(t *testing.T) {
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE",
		"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", "/nonexistent")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	o := options(&awstwin.Cloud{})
	o.Base = nil
	c, err := aws.New(o).Connect(t.Context(), roleAccount())
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Identify(t.Context())
	wantClass(t, "Identify without an identity of ours", err, cloud.Refused)
	if err == nil || !strings.Contains(err.Error(), "no AWS identity of its own") {
		t.Errorf("the error %v does not say what is missing", err)
	}
}
