// Command lamp is Lamplighter's command line: it shows resources and costs, and starts and stops resources, through the
// public interface of a service. It imports nothing of the service, so that it is small and starts at once: a shell
// calls it at every Tab.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lamplighter.dev/shared/foundation/clock"
)

// version is set by the linker in releases.
var version = ""

// softLimit is how much memory the collector of garbage leaves. What lamp keeps of a long list is far less; without a
// limit, a fast list grows to several times that between two collections.
const softLimit = 32 << 20

func main() {
	debug.SetMemoryLimit(softLimit)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv, clock: clock.System{},
		asks: isTerminal(os.Stdin) && isTerminal(os.Stderr), readSecret: readSecret, interrupted: ctx.Done(),
	}
	if isTerminal(os.Stdout) {
		a.width, _, _ = term.GetSize(int(os.Stdout.Fd()))
	}
	os.Exit(a.run(ctx, os.Args[1:]))
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// readSecret reads a line from the terminal without showing it. After an interruption the terminal shows input again.
func readSecret(interrupted <-chan struct{}) (string, error) {
	fd := int(os.Stdin.Fd())
	state, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("ask for a secret: %w", err)
	}
	text, err := await(interrupted, func() (string, error) {
		b, err := term.ReadPassword(fd)
		return string(b), err
	})
	return text, errors.Join(err, term.Restore(fd, state))
}

// app is one call of the program.
type app struct {
	in         io.Reader
	out        io.Writer // requested data
	err        io.Writer // everything else
	env        func(string) string
	clock      clock.Clock
	asks       bool // there is a terminal to ask
	width      int  // columns of the terminal that shows out; 0 is none
	readSecret func(interrupted <-chan struct{}) (string, error)
	transport  http.RoundTripper // nil is the default

	interrupted <-chan struct{} // is closed by Ctrl-C
	lines       *bufio.Reader   // of in

	output  string // flags
	context string
	fields  []string
	quiet   bool // while completing: nothing is said
	ran     bool // the command line was understood
}

// run runs the command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.root() //nolint:contextcheck // commands get the context of ExecuteContext
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	code := a.codeOf(ctx, err)
	switch {
	case err == nil || isClosedPipe(err):
	case code == exitInterrupted && errors.Is(err, context.Canceled):
		fmt.Fprintln(a.err, "lamp: interrupted")
	default:
		fmt.Fprintln(a.err, "lamp:", cleanText(err.Error()))
	}
	return code
}

// isClosedPipe reports whether the reader of the output has ended, as behind `lamp … | head`. Unix ends the process
// before.
func isClosedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "lamp", Short: "Lamplighter's command line: resources, costs, and starting and stopping them",
		Version: versionText(), SilenceUsage: true, SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.checkOutput() },
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return misused("%w: see %s -h", err, c.CommandPath())
	})
	f := root.PersistentFlags()
	f.StringVarP(&a.output, "output", "o", "table", "format: "+strings.Join(formats, ", "))
	f.StringVar(&a.context, "context", "", "the context: which service, and who; or LAMPLIGHTER_CONTEXT")
	f.StringSliceVar(&a.fields, "fields", nil, "members of the records to show as columns, such as name,tags.team")
	complete(root, "output", fixed(formats...))
	complete(root, "context", a.completeContexts)
	root.AddCommand(a.loginCommand(), a.logoutCommand(), a.whoamiCommand(), a.contextCommand(), a.getCommand(),
		a.describeCommand(), a.actCommand("start"), a.actCommand("stop"), a.holdCommand(), a.releaseCommand(),
		a.wakeLinkCommand(), a.schedulesCommand(), a.costsCommand(), a.budgetsCommand(), a.anomaliesCommand(),
		a.askCommand(), a.apiCommand(), a.versionCommand())
	a.noteRuns(root)
	return root
}

// noteRuns makes the commands below c note that they run: errors before are errors of the command line.
func (a *app) noteRuns(c *cobra.Command) {
	if run := c.RunE; run != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			a.ran = true
			return run(c, args)
		}
	}
	for _, below := range c.Commands() {
		a.noteRuns(below)
	}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.out, "lamp", versionText())
			return err
		},
	}
}

// versionText returns the version of a release, or else of the build.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// say tells the user something beside the requested data.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.err, cleanText(fmt.Sprintf(format, args...)))
	}
}
