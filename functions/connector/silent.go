package connector

import (
	"context"
	"errors"
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// addressPatience is how long an address that an account names may take to verify the account. The client waits for
// it, and is refused within 5 seconds.
const addressPatience = 4 * time.Second

// errSilent is the cause of a context that ended because an account's address did not answer.
var errSilent = errors.New("there was no answer in time")

// verifyWithin calls verify, for at most addressPatience if the account names an address: an endpoint, or a cluster. If
// the address does not answer in that time, it returns fault.Invalid. A cloud's own address has more time.
func verifyWithin(ctx context.Context, a inventory.Account,
	verify func(context.Context) (inventory.Verified, error),
) (inventory.Verified, error) {
	field := addressField(a)
	if field == "" {
		return verify(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, addressPatience, errSilent)
	defer cancel()
	out, err := verify(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return inventory.Verified{}, fault.NewWithCause(fault.Invalid, err,
			"%s did not answer within %s: check that it is the right one and can be reached from here", field,
			addressPatience)
	}
	return out, err
}

// addressField returns the address that an account names, as its owner knows it, or "" if the account uses the
// addresses of its cloud.
func addressField(a inventory.Account) string {
	switch {
	case a.EndpointURL != "":
		return "endpointURL: " + a.EndpointURL
	case a.Provider == "kubernetes":
		return "credentials.kubeconfig: the server of the cluster"
	}
	return ""
}
