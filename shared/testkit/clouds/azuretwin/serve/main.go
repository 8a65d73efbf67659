// Command serve plays an Azure on this machine, so that the walk of docs/operations/azure.md needs no subscription. It
// forgets everything when it ends.
package main

import (
	"context"
	"log"
	"net/http"
	"time"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
	"lamplighter.dev/shared/testkit/clouds/twin"
)

func main() {
	twin.Command{
		Port: "5001", Pace: 3 * time.Second, Usage: "how long a change takes at most", Start: start,
	}.Run()
}

func start(ctx context.Context, address string, pace time.Duration) http.Handler {
	c := &azuretwin.Cloud{}
	c.Fill("westeurope")
	c.FillOrganisation()
	go c.Move(ctx, clock.System{}, pace)
	log.Printf("subscription %s, tenant %s, client %s, secret %s: http://%s", azuretwin.Subscription, azuretwin.Tenant,
		azuretwin.Client, azuretwin.Secret, address)
	return c
}
