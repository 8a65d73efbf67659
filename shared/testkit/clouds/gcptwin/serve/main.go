// Command serve plays a Google Cloud on this machine, so that the walk of docs/operations/gcp.md needs no project. It
// forgets everything when it ends.
package main

import (
	"context"
	"log"
	"net/http"
	"time"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
	"lamplighter.dev/shared/testkit/clouds/twin"
)

func main() {
	twin.Command{
		Port: "5002", Pace: 3 * time.Second, Usage: "how long a change takes at most", Start: start,
	}.Run()
}

func start(ctx context.Context, address string, pace time.Duration) http.Handler {
	c := &gcptwin.Cloud{}
	c.Fill()
	c.FillOrganisation()
	go c.Move(ctx, clock.System{}, pace)
	paths := http.NewServeMux()
	paths.HandleFunc("GET /key", gcptwin.ServeKey)
	paths.Handle("/", c)
	log.Printf("project %s, a key at /key: http://%s", gcptwin.Project, address)
	return paths
}
