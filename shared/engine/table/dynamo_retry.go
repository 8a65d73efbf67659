package table

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/smithy-go"

	"lamplighter.dev/shared/foundation/fault"
)

// classOf returns the class of an error of the SDK.
func classOf(err error) class {
	if busy, ok := errors.AsType[*busyError](err); ok {
		return busy.class
	}
	if isClassified(err) {
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

// isClassified reports whether err already has a kind.
func isClassified(err error) bool {
	_, expired := errors.AsType[*expiredError](err)
	return expired || fault.KindOf(err) != fault.Internal
}

// callWithRetry makes a call of the service, and repeats it while that is safe and useful.
func (d *DynamoDB) callWithRetry(ctx context.Context, once bool, call func(context.Context) error) (murky bool,
	err error,
) {
	return callWithRetry(ctx, d.clock, once, call)
}

// itemFaults are parts of DynamoDB's messages for errors caused by an item's data, not by an expression.
var itemFaults = []string{
	"incorrect data type", "type mismatch", "Item size", "item size", "Number overflow",
	"verflow", "significant digits", "Nesting",
}

// classifyError adds the kind to an error of the service.
func classifyError(err error) error {
	e, ok := errors.AsType[smithy.APIError](err)
	if !ok || fault.KindOf(err) != fault.Internal {
		return err
	}
	switch code := e.ErrorCode(); {
	case code == "ResourceNotFoundException":
		return fault.NewWithCause(fault.Internal, err, "the table does not exist")
	case strings.HasPrefix(code, "Validation") && isItemFault(e.ErrorMessage()):
		return fault.NewWithCause(fault.Invalid, err, "the store refused the item: %s", e.ErrorMessage())
	default:
		return err
	}
}

// isItemFault reports whether a validation message is about an item's data.
func isItemFault(message string) bool {
	for _, s := range itemFaults {
		if strings.Contains(message, s) {
			return true
		}
	}
	return false
}
