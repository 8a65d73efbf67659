package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/cmd/lamplighter/takeover"
	"lamplighter.dev/shared/foundation/clock"
)

// errReplaced is the error of a service that ended because the complete program takes over.
var errReplaced = errors.New("the complete program takes over")

func ignoreReplaced(err error) error {
	if errors.Is(err, errReplaced) {
		return nil
	}
	return err
}

// site is the listener of the service. A first stage also has the running compilation of the complete program. A
// complete program also has the connections that it took over from the first stage.
type site struct {
	net.Listener

	inherited *takeover.Inherited   // nil: no program was before this one
	kept      *takeover.Listener    // nil: no program follows
	next      *takeover.Compilation // nil: no program follows
	stop      context.CancelFunc    // ends the compilation
	path      string                // of the complete program
	hosts     []string              // further names that requests may be for
	stderr    io.Writer
	left      time.Time // when the last connection was accepted
}

// openSite listens on the address, or takes over the sockets of the previous program. It starts to compile the complete
// program if -compile has a command.
func openSite(ctx context.Context, c choices, stderr io.Writer) (*site, error) {
	at := &site{path: c.successor, stderr: stderr, stop: func() {}}
	var err error
	if at.inherited, err = takeover.InheritListener(); err != nil {
		return nil, err
	}
	if at.inherited != nil {
		at.Listener = at.inherited
		return at, nil
	}
	if at.Listener, err = listen(ctx, c.addr); err != nil || c.compile == "" {
		return at, err
	}
	at.kept = takeover.NewListener(at.Listener.(*net.TCPListener)) //nolint:forcetypeassert // listen asks for tcp
	at.Listener = at.kept
	ctx, at.stop = context.WithCancel(ctx)
	at.next, err = takeover.StartCompilation(ctx, c.compile, clock.System{})
	return at, err
}

func (at *site) close() {
	at.stop()
	_ = at.Close() // the server has closed it, or the error is another one
}

// announce prints a message about the running compilation.
func (at *site) announce(out io.Writer) error {
	if at.next == nil {
		return nil
	}
	_, err := fmt.Fprintln(out,
		"  Support for AWS, Azure, Google Cloud and Kubernetes is being compiled beside this, which takes "+
			"some minutes.\n  An account of theirs that you connect now is connected as soon as that is done.")
	return err
}

// announceTakeover prints that the complete program runs, and how long no connection was accepted.
func announceTakeover(out io.Writer, left time.Time) error {
	_, err := fmt.Fprintf(out,
		"AWS, Azure, Google Cloud and Kubernetes are supported now. The complete program took over in %s.\n",
		clock.System{}.Now().Sub(left).Round(time.Millisecond))
	return err
}

// successor returns a channel that is closed when the complete program is compiled and starts. A failure is printed
// on the terminal, and the service continues.
func (at *site) successor(ctx context.Context) <-chan struct{} {
	if at.next == nil {
		return nil
	}
	ready := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
		case <-at.next.Failed():
			_, err := at.next.Left()
			at.complain("%s\nSupport for AWS, Azure, Google Cloud and Kubernetes could not be compiled, and is "+
				"missing: %v\n",
				at.next.Output(), err)
		case <-at.next.Done():
			cmd := exec.CommandContext(ctx, at.path, "version") //nolint:gosec // the command line names it
			if out, err := cmd.CombinedOutput(); err != nil {
				at.complain("The complete program %s does not start, and does not take over: %v\n%s\n", at.path, err,
					out)
				return
			}
			close(ready)
		}
	}()
	return ready
}

func (at *site) complain(format string, args ...any) {
	_, _ = fmt.Fprintf(at.stderr, format, args...) // the error has no other reader
}

// The time limits for running loops and tasks before the takeover, and for requests during it. Longer work continues
// from the store. A request cannot take longer than the server's timeouts.
const (
	drainTime   = 15 * time.Second
	requestTime = time.Minute
)

// leave ends the server for the successor. First the work behind the requests ends, while requests are still
// answered. Then the running requests end, while new connections wait. leave returns errReplaced, or nil if ctx has
// ended.
func (at *site) leave(ctx context.Context, s *local.Service, server *http.Server) error {
	drain, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	_ = s.Drain(drain) // unfinished work continues from the store
	if ctx.Err() != nil {
		return nil
	}
	at.left = clock.System{}.Now()
	requests, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime)
	defer cancel()
	return errors.Join(at.kept.Leave(requests, server), errReplaced)
}

// exec replaces this program by the complete program.
func (at *site) exec(args []string) error {
	at.stop()
	return at.kept.Exec(at.path, append([]string{at.path, "serve"}, withoutSuccessor(args)...), at.left)
}

// withoutSuccessor returns the arguments of serve without the flags of a first stage.
func withoutSuccessor(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if !strings.HasPrefix(args[i], "-") || !slices.Contains([]string{"compile", "successor"}, name) {
			out = append(out, args[i])
		} else if !joined {
			i++
		}
	}
	return out
}
