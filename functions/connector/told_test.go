package connector

import (
	"net"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
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
