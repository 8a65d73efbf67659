// Command serve plays a Google Cloud on this machine, so that the walk of docs/operations/gcp.md needs no project. It
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
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

func main() {
	port := flag.String("port", "5002", "where it listens, on 127.0.0.1")
	pace := flag.Duration("pace", 3*time.Second, "how long a change takes at most")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	c := &gcptwin.Cloud{}
	c.Fill()
	c.FillOrganisation()
	go c.Move(ctx, clock.System{}, *pace)
	paths := http.NewServeMux()
	paths.HandleFunc("GET /key", gcptwin.ServeKey)
	paths.Handle("/", c)
	s := &http.Server{Addr: net.JoinHostPort("127.0.0.1", *port), Handler: paths, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = s.Close() // it is the end
	}()
	log.Printf("project %s, a key at /key: http://%s", gcptwin.Project, s.Addr)
	if err := s.ListenAndServe(); ctx.Err() == nil {
		log.Print(err)
	}
}
