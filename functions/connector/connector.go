// Package connector is the worker that asks a cloud about an account while a caller waits: whether credentials work,
// their permissions, the Kubernetes clusters, and the scaling of groups. API functions link no cloud SDK and cannot
// open sealed credentials, so they call it.
package connector

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Handler answers inventory.Question through providers.
func Handler(p *platform.Platform, providers cloud.Providers) lambdacall.Handler {
	c := connector{p, providers}
	return c.handle
}

type connector struct {
	p         *platform.Platform
	providers cloud.Providers
}

func (c connector) handle(ctx context.Context, input json.RawMessage) (any, error) {
	var q inventory.Question
	if err := json.Unmarshal(input, &q); err != nil {
		return nil, fault.NewWithCause(fault.Internal, err, "the connector was sent no question")
	}
	conn, err := inventory.Clouds{Sealer: c.p.Sealer, Providers: c.providers}.Connect(table.WithOrg(ctx, q.Org), q.Org,
		q.Account)
	if err != nil {
		return nil, clientFault(err)
	}
	switch q.Ask {
	case inventory.AskVerify:
		return verifyWithin(ctx, q.Account, func(ctx context.Context) (inventory.Verified, error) {
			return verifyIdentity(ctx, conn, q.Account.EndpointURL)
		})
	case inventory.AskPermissions:
		return c.listPermissions(ctx, conn, q)
	case inventory.AskClusters:
		return listClusters(ctx, conn, q)
	case inventory.AskClusterReview:
		return c.reviewCluster(ctx, conn, q)
	case inventory.AskOrganisation:
		return verifyWithin(ctx, q.Account, func(ctx context.Context) (inventory.Verified, error) {
			return findOrganisation(ctx, conn, q.Account)
		})
	case inventory.AskMetrics:
		return readMetrics(ctx, conn, q.Metrics)
	case inventory.AskAutoscaling:
		return c.readAutoscaling(ctx, conn, q)
	case inventory.AskSetAutoscaling:
		return c.setAutoscaling(ctx, conn, q)
	default:
		return nil, fault.New(fault.Internal, "the connector knows no question %q", q.Ask)
	}
}

// verifyIdentity asks the cloud for the identity of the credentials. It accepts credentials that may not list the
// regions: the permissions and the discovery show that.
func verifyIdentity(ctx context.Context, conn cloud.Conn, endpoint string) (inventory.Verified, error) {
	if err := cloud.CheckSettings(conn); err != nil {
		return inventory.Verified{}, clientFault(err)
	}
	native, err := conn.Identify(ctx)
	if err != nil {
		return inventory.Verified{}, cmp.Or(endpointFault(endpoint, err), clientFault(err))
	}
	regions, err := conn.Regions(ctx)
	if err != nil && cloud.ClassOf(err) != cloud.Denied {
		return inventory.Verified{}, clientFault(err)
	}
	if err == nil && regions == nil {
		regions = []string{}
	}
	return inventory.Verified{NativeID: native, Regions: regions}, nil
}

// findOrganisation asks which organization the credentials can list.
func findOrganisation(ctx context.Context, conn cloud.Conn, a inventory.Account) (inventory.Verified, error) {
	c, ok := conn.(cloud.Organisations)
	if !ok {
		return inventory.Verified{},
			fault.New(fault.Invalid, "provider: %s knows no organizations here: connect its accounts one by one",
				a.Provider)
	}
	if a.AuthMethod == "assume_role" { // an unsafe role is refused by the identity check
		if _, err := conn.Identify(ctx); err != nil {
			return inventory.Verified{}, clientFault(err)
		}
	}
	if err := cloud.CheckSettings(conn); err != nil {
		return inventory.Verified{}, clientFault(err)
	}
	native, err := c.Organisation(ctx)
	return inventory.Verified{NativeID: native}, clientFault(err)
}

// endpointFault returns the error for an endpoint of the account that does not answer, or that is no cloud, or nil.
func endpointFault(endpoint string, err error) error {
	switch {
	case endpoint == "":
		return nil
	case cloud.ClassOf(err) == cloud.Transient:
		return fault.NewWithCause(fault.Invalid, err, "endpointURL: no cloud answers at %s: %s", endpoint,
			networkReason(err))
	case cloud.CodeOf(err) == uncodedError:
		return fault.NewWithCause(fault.Invalid, err,
			"endpointURL: %s answers%s, but not as a cloud does: check that it is the right one", endpoint,
			statusOf(err))
	}
	return nil
}

// uncodedError is the code of an answer of AWS that has none.
const uncodedError = "UnknownError"

// networkReason returns the network's reason for err, without the names of calls around it and the resolver's address,
// or all of err.
func networkReason(err error) string {
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return "there is no host " + e.Name
		}
		return "the lookup of " + e.Name + " failed: " + e.Err
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// statusOf returns " HTTP 404" for an error that has this status, or "".
func statusOf(err error) string {
	if e, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err); ok {
		return fmt.Sprint(" HTTP ", e.HTTPStatusCode())
	}
	return ""
}

// clientFault converts a cloud error into an error for the client, with the cloud's text.
func clientFault(err error) error {
	e, ok := errors.AsType[*cloud.Error](err)
	if !ok {
		return err
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return fault.NewWithCause(fault.Invalid, err,
			"no cloud has an address %s: check the regions and the endpointURL of the account", dns.Name)
	}
	if strings.HasPrefix(e.Message, "credentials.") { // it names the field, its value and the rule
		return fault.NewWithCause(fault.Invalid, err, "%s", e.Message)
	}
	switch e.Class {
	case cloud.Refused, cloud.Denied:
		return fault.NewWithCause(fault.Invalid, err, "the cloud refused the credentials: %s", e)
	case cloud.Invalid, cloud.Unsupported, cloud.NotFound:
		return fault.NewWithCause(fault.Invalid, err, "the account cannot be opened: %s", e)
	default:
		return fault.NewWithCause(fault.Unavailable, err, "the cloud did not answer, try again: %s", e)
	}
}
