package table

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/smithy-go"

	"lamplighter.dev/shared/foundation/fault"
)

// classify returns the class of an error of the SDK.
func classify(err error) class {
	if busy, ok := errors.AsType[*busyError](err); ok {
		return busy.class
	}
	if ours(err) {
		return final
	}
	e, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return unclear
	}
	switch e.ErrorCode() {
	case "ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded",
		"LimitExceededException":
		return throttled
	case "TransactionConflictException", "TransactionInProgressException":
		return conflicted
	case "InternalServerError", "ServiceUnavailable", "ServiceUnavailableException", "InternalFailure":
		return unclear
	}
	if e.ErrorFault() == smithy.FaultServer {
		return unclear
	}
	return final
}

// ours reports whether err was already given its meaning here.
func ours(err error) bool {
	_, expired := errors.AsType[*expiredError](err)
	return expired || fault.KindOf(err) != fault.Internal
}

// callWithRetry makes a call of the service as often as that is safe and of use.
func (d *DynamoDB) callWithRetry(ctx context.Context, once bool, call func(context.Context) error) (murky bool,
	err error) {
	return callWithRetry(ctx, d.clock, once, call)
}

// itemFaults are DynamoDB's words for what an item's data, not our expression, made impossible.
var itemFaults = []string{"incorrect data type", "type mismatch", "Item size", "item size", "Number overflow",
	"verflow", "significant digits", "Nesting"}

// classifyError returns an error of the service its kind.
func classifyError(err error) error {
	e, ok := errors.AsType[smithy.APIError](err)
	if !ok || fault.KindOf(err) != fault.Internal {
		return err
	}
	switch code := e.ErrorCode(); {
	case code == "ResourceNotFoundException":
		return fault.NewWithCause(fault.Internal, err, "the table does not exist")
	case strings.HasPrefix(code, "Validation") && impossible(e.ErrorMessage()):
		return fault.NewWithCause(fault.Invalid, err, "the store refused the item: %s", e.ErrorMessage())
	default:
		return err
	}
}

// impossible reports whether a validation message is about the item's data.
func impossible(message string) bool {
	for _, s := range itemFaults {
		if strings.Contains(message, s) {
			return true
		}
	}
	return false
}
