// Command serve plays an Azure on this machine, so that the walk of docs/operations/azure.md needs no subscription. It
// forgets everything when it ends.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

func main() {
	port := flag.String("port", "5001", "where it listens, on 127.0.0.1")
	pace := flag.Duration("pace", 3*time.Second, "how long a change takes at most")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	c := &azuretwin.Cloud{}
	c.Fill("westeurope")
	c.FillOrganisation()
	go c.Move(ctx, clock.System{}, *pace)
	s := &http.Server{Addr: net.JoinHostPort("127.0.0.1", *port), Handler: c, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = s.Close() // it is the end
	}()
	log.Printf("subscription %s, tenant %s, client %s, secret %s: http://%s", azuretwin.Subscription, azuretwin.Tenant,
		azuretwin.Client, azuretwin.Secret, s.Addr)
	if err := s.ListenAndServe(); ctx.Err() == nil {
		log.Print(err)
	}
}
