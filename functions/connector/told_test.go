package connector

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

func TestWhatACloudSaysReachesTheClient(t *testing.T) {
	nowhere := &net.DNSError{Err: "no such host", Name: "sts.us-mars-1.amazonaws.com", IsNotFound: true}
	for name, c := range map[string]struct {
		err     error
		kind    fault.Kind
		mention string
	}{
		"a region that does not exist": {&cloud.Error{
			Class: cloud.Transient, Op: "sts:GetCallerIdentity",
			Err: nowhere,
		}, fault.Invalid, "us-mars-1"},
		"credentials that are refused": {
			&cloud.Error{Class: cloud.Refused, Code: "InvalidClientTokenId"},
			fault.Invalid, "InvalidClientTokenId",
		},
		"a request that is called wrong": {
			&cloud.Error{Class: cloud.Invalid, Code: "ValidationError"}, fault.Invalid,
			"ValidationError",
		},
		"a cloud that is out of order": {
			&cloud.Error{Class: cloud.Transient, Code: "InternalFailure"},
			fault.Unavailable, "InternalFailure",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := clientFault(c.err)
			if fault.KindOf(err) != c.kind || !strings.Contains(fault.Message(err), c.mention) {
				t.Errorf("kind %d: %s", fault.KindOf(err), fault.Message(err))
			}
		})
	}
}

// What answers at an endpoint may be anything: a page, a proxy, another service.
func TestVerify_SaysThatAnEndpointIsNoCloud(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<html>nothing here</html>", http.StatusNotFound)
	}))
	defer page.Close()
	options := aws.Options{Clock: clock.System{}, CustomEndpoints: true, PrivateAddresses: true}
	conn, err := aws.New(options).Connect(t.Context(), cloud.Account{
		AuthMethod: "static_keys", EndpointURL: page.URL,
		Credentials: map[string]string{"accessKeyID": "A", "secretAccessKey": "b"},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = verifyIdentity(t.Context(), conn, page.URL)
	want := "endpointURL: " + page.URL + " answers HTTP 404, but not as a cloud does: check that it is the right one"
	if !fault.Is(err, fault.Invalid) || fault.Message(err) != want {
		t.Errorf("%s, want %s", fault.Message(err), want)
	}
}

// The SDKs name the calls around a failure of the network, and a resolver its address in our network.
func TestVerify_SaysWhyNothingAnswersAtAnEndpoint(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connect: connection refused")}
	missing := &net.DNSError{Err: "no such host", Name: "cloud.example.com", Server: "10.0.0.2:53", IsNotFound: true}
	slow := &net.DNSError{Err: "i/o timeout", Name: "cloud.example.com", Server: "10.0.0.2:53", IsTimeout: true}
	for cause, want := range map[error]string{
		refused:                                "connect: connection refused",
		missing:                                "there is no host cloud.example.com",
		slow:                                   "the lookup of cloud.example.com failed: i/o timeout",
		&net.OpError{Op: "dial", Err: missing}: "there is no host cloud.example.com",
	} {
		err := endpointFault("https://cloud.example.com", &cloud.Error{
			Class: cloud.Transient, Op: "sts:GetCallerIdentity", Message: "sent by 10.0.0.9", Err: cause,
		})
		if !fault.Is(err, fault.Invalid) || !strings.HasSuffix(fault.Message(err), ": "+want) {
			t.Errorf("%v: %s, want %s", cause, fault.Message(err), want)
		}
	}
}

// A setting is named alone: "the account cannot be opened" and the operation add nothing to it.
func TestClientFault_NamesASettingFirst(t *testing.T) {
	err := clientFault(cloud.ErrInvalid("credentials.size is %q; it must be a number", "x"))
	if want := `credentials.size is "x"; it must be a number`; fault.Message(err) != want {
		t.Errorf("%s, want %s", fault.Message(err), want)
	}
}
