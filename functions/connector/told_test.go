package connector

import (
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

// A setting is named alone: "the account cannot be opened" and the operation add nothing to it.
func TestClientFault_NamesASettingFirst(t *testing.T) {
	err := clientFault(cloud.ErrInvalid("credentials.size is %q; it must be a number", "x"))
	if want := `credentials.size is "x"; it must be a number`; fault.Message(err) != want {
		t.Errorf("%s, want %s", fault.Message(err), want)
	}
}
