package resource_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/containers"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/testkit/seed"
)

// answer returns an error of a call to EC2 in the SDK's form.
func answer(op, code, message string, status int) error {
	return &smithy.OperationError{ServiceID: "EC2", OperationName: op, Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
		Err:      &smithy.GenericAPIError{Code: code, Message: message},
	}}
}

func TestErrorsAreClassified(t *testing.T) {
	tests := []struct {
		code   string
		status int
		want   cloud.Class
	}{
		{"RequestLimitExceeded", 503, cloud.Throttled},
		{"Throttling", 400, cloud.Throttled},
		{"ThrottlingException", 400, cloud.Throttled},
		{"TooManyRequestsException", 429, cloud.Throttled},
		{"InternalError", 500, cloud.Transient},
		{"NotImplemented", 501, cloud.Unsupported},
		{"InsufficientImagination", 501, cloud.Unsupported},
		{"ServiceUnavailable", 503, cloud.Transient},
		{"InsufficientInstanceCapacity", 500, cloud.NoCapacity},
		{"InsufficientDBInstanceCapacity", 400, cloud.NoCapacity},
		{"InsufficientClusterCapacity", 400, cloud.NoCapacity},
		{"InsufficientFreeAddressesInSubnet", 400, cloud.Transient},
		{"ResourceContention", 500, cloud.Transient},
		{"IncorrectInstanceState", 400, cloud.Moving},
		{"InvalidDBInstanceState", 400, cloud.Moving},
		{"InvalidDBInstanceStateFault", 400, cloud.Moving},
		{"InvalidDBClusterStateFault", 400, cloud.Moving},
		{"ResourceInUseException", 409, cloud.Moving},
		{"ScalingActivityInProgress", 400, cloud.Moving},
		{"InvalidInstanceID.NotFound", 400, cloud.NotFound},
		{"InvalidInstanceID.Malformed", 400, cloud.NotFound},
		{"DBInstanceNotFound", 404, cloud.NotFound},
		{"DBClusterNotFoundFault", 404, cloud.NotFound},
		{"ResourceNotFoundException", 404, cloud.NotFound},
		{"ServiceNotFoundException", 400, cloud.NotFound},
		{"AccessDenied", 403, cloud.Denied},
		{"AccessDeniedException", 400, cloud.Denied},
		{"UnauthorizedOperation", 403, cloud.Denied},
		{"SomethingNewForbidden", 403, cloud.Denied},
		{"AuthFailure", 401, cloud.Refused},
		{"InvalidClientTokenId", 403, cloud.Refused},
		{"SignatureDoesNotMatch", 403, cloud.Refused},
		{"ExpiredToken", 400, cloud.Refused},
		{"ExpiredTokenException", 403, cloud.Refused},
		{"UnrecognizedClientException", 400, cloud.Refused},
		{"OperationNotPermitted", 400, cloud.Unsupported},
		{"UnsupportedOperation", 400, cloud.Unsupported},
		{"UnsupportedHibernationConfiguration", 400, cloud.Unsupported},
		{"ValidationError", 400, cloud.Invalid},
		{"InvalidParameterException", 400, cloud.Invalid},
		{"MissingParameter", 400, cloud.Invalid},
	}
	for _, tt := range tests {
		err := resource.ClassifyError(fmt.Errorf("wrapped: %w",
			answer("StopInstances", tt.code, "the words", tt.status)))
		e, ok := errors.AsType[*cloud.Error](err)
		if !ok || e.Class != tt.want || e.Code != tt.code || e.Message != "the words" || e.Op != "ec2:StopInstances" {
			t.Errorf("%s (%d): %+v; want class %d with code, words and call", tt.code, tt.status, e, tt.want)
		}
	}
}

func TestAMissingGroupIsNotAValidationError(t *testing.T) {
	err := resource.ClassifyError(answer("UpdateAutoScalingGroup", "ValidationError",
		"AutoScalingGroup name not found - x",
		400))
	if cloud.ClassOf(err) != cloud.NotFound ||
		err.Error() != "ec2:UpdateAutoScalingGroup: ValidationError: AutoScalingGroup name not found - x" {
		t.Errorf("classified as %d: %v", cloud.ClassOf(err), err)
	}
}

// For any combination of bad ids in a batch, each bad id gets its error, and each good id is done exactly once and not
// tried again.
func TestIsolateFindsWhatIsBad(t *testing.T) {
	r := seed.Fixed(t, 1, 2)
	for round := range 300 {
		n := 1 + r.IntN(60)
		named, rate := round%2 == 0, r.Float64()
		ids, bad := make([]string, n), map[string]bool{}
		for i := range ids {
			ids[i] = fmt.Sprintf("i-%017x", i)
			bad[ids[i]] = r.Float64() < rate*rate
		}
		done := map[string]int{}
		errs := resource.IsolateBadIDs(ids, func(batch []string) error {
			for _, id := range batch {
				if bad[id] {
					return badID(id, named)
				}
			}
			for _, id := range batch {
				done[id]++
			}
			return nil
		})
		for i, id := range ids {
			if bad[id] != (errs[i] != nil) || (done[id] != 1) != bad[id] {
				t.Fatalf("round %d, %s: bad %v, error %v, done %d times", round, id, bad[id], errs[i], done[id])
			}
		}
	}
}

func badID(id string, named bool) error {
	if named {
		return answer("StopInstances", "IncorrectInstanceState",
			"The instance '"+id+"' is not in a state from which it can be stopped.", 400)
	}
	return answer("StartInstances", "InsufficientInstanceCapacity", "We do not have sufficient capacity.", 500)
}

func TestThrottlingIsNotBlamedOnAnID(t *testing.T) {
	calls := 0
	errs := resource.IsolateBadIDs([]string{"i-1", "i-2", "i-3"}, func([]string) error {
		calls++
		return answer("StopInstances", "RequestLimitExceeded", "Request limit exceeded.", 503)
	})
	if calls != 1 || slices.Contains(errs, nil) {
		t.Errorf("%d calls, errors %v; want one call whose error everybody gets", calls, errs)
	}
}

func TestAServiceIsNamedAsInPermissions(t *testing.T) {
	for id, want := range map[string]string{
		"EC2": "ec2", "Auto Scaling": "autoscaling",
		"Application Auto Scaling": "application-autoscaling", "STS": "sts",
	} {
		if got := resource.PermissionPrefix(id); got != want {
			t.Errorf("prefix(%s) = %s; want %s", id, got, want)
		}
	}
}

// A number that was changed since the stop stays, and the other numbers are adjusted to it.
func TestChangedTo_GivesBackWhatNobodyHasChanged(t *testing.T) {
	for _, c := range []struct {
		name           string
		was, live, get resource.Size
	}{
		{
			"nothing was changed",
			resource.Size{Min: 1, Max: 6, Desired: 2},
			resource.Size{},
			resource.Size{Min: 1, Max: 6, Desired: 2},
		},
		{
			"the maximum was raised",
			resource.Size{Min: 1, Max: 6, Desired: 2},
			resource.Size{Max: 9},
			resource.Size{Min: 1, Max: 9, Desired: 2},
		},
		{
			"the maximum was set below what ran",
			resource.Size{Min: 3, Max: 6, Desired: 5},
			resource.Size{Max: 2},
			resource.Size{Min: 2, Max: 2, Desired: 2},
		},
		{
			"the minimum was set above what ran",
			resource.Size{Min: 1, Max: 6, Desired: 2},
			resource.Size{Min: 8, Max: 0},
			resource.Size{Min: 8, Max: 8, Desired: 8},
		},
		{
			"it was started",
			resource.Size{Min: 1, Max: 6, Desired: 2},
			resource.Size{Min: 2, Max: 4, Desired: 3},
			resource.Size{Min: 2, Max: 4, Desired: 3},
		},
	} {
		if got := c.was.ChangedTo(c.live); got != c.get {
			t.Errorf("%s: %+v; want %+v", c.name, got, c.get)
		}
	}
	was, live := containers.Scaling{Min: 1, Max: 9, Out: true},
		containers.Scaling{Min: 2, Max: 5, In: true, Scheduled: false, Out: true}
	if got, want := was.ChangedTo(live), (containers.Scaling{Min: 2, Max: 5, Out: true}); got != want {
		t.Errorf("scaling: %+v; want %+v", got, want)
	}
}
