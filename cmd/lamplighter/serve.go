package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"lamplighter.dev/cmd/lamplighter/edge"
	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail/smtp"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// runServe runs the service until ctx ends, or until the complete program takes over.
func runServe(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c, err := parseFlags(args, stdout)
	if err != nil {
		return ignoreHelp(err)
	}
	at, err := openSite(ctx, c, stderr)
	if err != nil {
		return err
	}
	defer at.close()
	err = serveAt(ctx, at, c, stdout, stderr)
	if errors.Is(err, errReplaced) {
		return at.exec(args)
	}
	return err
}

// serveAt runs the service until ctx ends. It returns errReplaced if a successor is to take over.
func serveAt(ctx context.Context, at *site, c choices, stdout, stderr io.Writer) error {
	began := clock.System{}.Now()
	o, err := options(c, at, stdout, stderr)
	if err != nil {
		return err
	}
	if c.store == "dynamodb" && c.endpoint != "" { // an emulator has no CloudFormation
		if err = table.CreateTable(ctx, o.Remote); err != nil {
			return err
		}
	}
	life := &life{dir: c.dir}
	o.Begin = life.begin
	s, err := local.Open(o) //nolint:contextcheck // what it opens outlives the start
	if err != nil {
		return errors.Join(err, life.end())
	}
	at.hosts = c.hosts
	err = answer(ctx, s, at, func(ctx context.Context) error {
		if at.inherited != nil {
			return announceTakeover(stdout, at.inherited.Left)
		}
		made, err := demo(ctx, s, c, o.BaseURL)
		if err != nil {
			return err
		}
		return errors.Join(welcome(stdout, c, o.BaseURL, made, clock.System{}.Now().Sub(began)), at.announce(stdout))
	})
	if ended := errors.Join(s.Close(), life.end()); !errors.Is(err, errReplaced) || ctx.Err() != nil {
		return errors.Join(ignoreReplaced(err), ended)
	} else if ended != nil {
		o.Log.Error("the first stage ended with a failure, from which the complete program recovers", "error",
			ended.Error())
	}
	return errReplaced
}

// listen listens on addr. If another program uses the address, the error says how to choose another one.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("another program answers on %s: stop it, or choose another address with -addr", addr)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return ln, nil
}

func options(c choices, at *site, stdout, stderr io.Writer) (local.Options, error) {
	level := slog.LevelWarn
	if c.verbose {
		level = slog.LevelInfo
	}
	o := local.Options{
		Root: c.root, Dir: c.dir, Anchors: c.anchors, BaseURL: "http://" + at.Addr().String(), Version: version,
		Mails:  stdout,
		Google: c.google, GitHub: c.github, GoogleCloud: c.googleCloud, Epoch: c.epoch,
		Log: platform.TextLog(stderr, level), AwaitDemo: c.demo && at.inherited == nil,
	}
	if at.next != nil {
		o.Compilation = at.next
	}
	self, err := os.Executable()
	if err != nil {
		return o, fmt.Errorf("find this program, which reads bills in processes of its own: %w", err)
	}
	o.BillReader = []string{self, readBill}
	if c.store == "dynamodb" {
		o.Remote = table.Remote{Table: c.table, Endpoint: c.endpoint}
	}
	if c.smtp == "" {
		return o, nil
	}
	sender, err := smtp.New(c.smtp, c.mailFrom)
	if err != nil {
		return o, fmt.Errorf("send mails as -smtp and -mail-from say: %w", err)
	}
	o.Sender = sender
	return o, nil
}

// grace is how long running requests may take after the service is told to stop.
const grace = 10 * time.Second

// answer serves until ctx ends, or until a successor is to take over. In that case it returns errReplaced. It calls
// ready when requests are answered.
func answer(ctx context.Context, s *local.Service, at *site, ready func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := s.Resume(ctx); err != nil {
		return err
	}
	guard := edge.Edge{Hosts: at.hosts, Clock: clock.System{}}
	server := &http.Server{
		Handler: guard.Guard(s), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 20 * time.Second,
		WriteTimeout: 40 * time.Second,
		IdleTimeout:  2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	if at.kept != nil {
		at.kept.Attach(server)
	}
	ln := guard.Attach(server, at)
	failed, done := make(chan error, 1), make(chan struct{})
	go func() { failed <- server.Serve(ln) }()
	go func() { s.Run(ctx); close(done) }()
	err := ready(ctx)
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
		case <-at.successor(ctx):
			err = at.leave(ctx, s, server)
		}
	}
	stop()
	<-done
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return errors.Join(ignoreCancel(err), server.Shutdown(last))
}

// ignoreCancel returns nil for the error of work that was in progress when the service was told to stop.
func ignoreCancel(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// demo makes the demo, unless it is switched off.
func demo(ctx context.Context, s *local.Service, c choices, base string) (local.Demo, error) {
	if !c.demo {
		return local.Demo{}, nil
	}
	return s.Demo(ctx, base)
}

// welcome prints the address and the first commands.
func welcome(out io.Writer, c choices, base string, made local.Demo, took time.Duration) error {
	p := &printer{out: out}
	p.line("Lamplighter %s is ready (%s).", version, took.Round(10*time.Millisecond))
	p.line("")
	p.line("  Console %s", base)
	p.line("  API     %s", base)
	p.line("  Docs    %s/docs", base)
	p.line("  Mails   %s", mails(c))
	if c.demo {
		p.line("  Login   %s / %s", local.DemoEmail, made.Password)
		p.line("          the password is also in %s", filepath.Join(c.dir, local.DemoPasswordFile))
		p.line("")
		p.demo(base, made)
	}
	p.line("")
	return p.err
}

// mails describes where mails go. It omits the server's address, which contains a password.
func mails(c choices) string {
	if c.smtp != "" {
		return "by SMTP, from " + c.mailFrom
	}
	return filepath.Join(c.dir, "mails") + ", and their codes here"
}

// quoteLogin returns the body of a log-in of the demo user as one word of a shell. Users may choose the password.
func quoteLogin(password string) string {
	body := fmt.Sprintf(`{"email":%s,"password":%s}`, quoteJSON(local.DemoEmail), quoteJSON(password))
	return "'" + strings.ReplaceAll(body, "'", `'\''`) + "'"
}

func quoteJSON(text string) string {
	b, err := json.Marshal(text)
	if err != nil { // strings can always be encoded
		panic(err)
	}
	return string(b)
}

// printer writes lines and keeps the first error.
type printer struct {
	out io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

// demo prints commands that work when a user pastes them one after the other.
func (p *printer) demo(base string, made local.Demo) {
	p.line(`  TOKEN=$(curl -s %s/auth/login -H 'Content-Type: application/json' \`, base)
	p.line(`    -d %s | sed 's/.*"accessToken":"\([^"]*\)".*/\1/')`, quoteLogin(made.Password))
	p.line(`  curl -s '%s/resources?status=running&limit=3' -H "Authorization: Bearer $TOKEN"`, base)
	if made.UID == "" {
		p.line(`  curl -s %s/resources/summary -H "Authorization: Bearer $TOKEN"`, base)
		return
	}
	p.line(`  curl -s %s/actions -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \`, base)
	p.line(`    -d '{"type":"stop","provider":"%s","cloudAccountID":"%s","resourceType":"%s","region":"%s",`+
		`"resourceUID":"%s"}'`,
		made.Provider, made.CloudAccountID, made.Type, made.Region, made.UID)
}
