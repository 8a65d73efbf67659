package twin

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"
)

// Command is a command that plays a cloud on this machine until it is interrupted.
type Command struct {
	Port  string        // where it listens, on 127.0.0.1, without the flag -port
	Pace  time.Duration // without the flag -pace
	Usage string        // of -pace
	// Start prepares the double and starts its changes, which end with ctx. It logs how to connect to the address.
	Start func(ctx context.Context, address string, pace time.Duration) http.Handler
}

// Run parses the flags and serves the double.
func (c Command) Run() {
	port := flag.String("port", c.Port, "where it listens, on 127.0.0.1")
	pace := flag.Duration("pace", c.Pace, c.Usage)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	address := net.JoinHostPort("127.0.0.1", *port)
	s := &http.Server{Addr: address, Handler: c.Start(ctx, address, *pace), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = s.Close() // it is the end
	}()
	if err := s.ListenAndServe(); ctx.Err() == nil {
		log.Print(err)
	}
}
