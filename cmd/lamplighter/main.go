// Command lamplighter is the whole service in one process, for a laptop, with the tools of an operator:
//
//	lamplighter serve      answer on http://127.0.0.1:8080
//	lamplighter openapi    print the interface description
//	lamplighter audit      prove exports of the audit log, and print it from the store
//	lamplighter work       list and unpark the work that the sweeper gave up
//	lamplighter mails      list and redrive the mails that were given up
//	lamplighter keys       replace the keys of a local service
//	lamplighter rules      test, plan, apply and prove rules of recommendations
//	lamplighter restore    make a table of the backups of another one
//	lamplighter version    print the version
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"lamplighter.dev/functions"
	confinedbill "lamplighter.dev/functions/billingsync/confined"
	"lamplighter.dev/shared/api/platform"
)

// version is set by the linker.
var version = "dev"

// readBill is the command that reads a bill for a service on this machine (package confined). Users do not call it.
const readBill = "read-bill"

const usage = `usage: lamplighter <command>

  serve      run the whole service on this machine (serve -help lists its flags)
  openapi    print the interface description as YAML
  audit      prove exports of the audit log, or print it from the store (audit -help)
  work       list and unpark the work that the sweeper gave up (work parked, work unpark)
  mails      list and redrive the mails that were given up (mails dead, mails redrive)
  keys       list or replace the keys of a local service (keys rotate -help)
  rules      test, plan and apply own rules of recommendations, or prove a recommendation (rules -help)
  restore    make a table of the backups of another one (restore -help)
  version    print the version

The client of a running service, here or elsewhere, is lamp: go run ./cmd/lamp help.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "lamplighter:", err)
		os.Exit(1) //nolint:gocritic // nothing is deferred that the system does not do
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		args = []string{"help"}
	}
	args = helpLast(args)
	if asked, err := printAsked(args, usage, stdout); asked {
		return err
	}
	switch args[0] {
	case "serve":
		return runServe(ctx, args[1:], stdout, stderr)
	case "audit":
		return runAudit(ctx, args[1:], stdout, stderr)
	case "work":
		return workCommand.run(ctx, args[1:], stdout)
	case "mails":
		return mailsCommand.run(ctx, args[1:], stdout)
	case "keys":
		return runKeys(args[1:], stdout)
	case "rules":
		return runRules(ctx, args[1:], stdout)
	case "restore":
		return runRestore(ctx, args[1:], stdout)
	case readBill: // for this program itself, which starts it
		return serveBills(ctx, args[1:], stdout)
	default:
		return printText(args, stdout)
	}
}

// serveBills runs the command readBill.
func serveBills(ctx context.Context, args []string, stdout io.Writer) error {
	if err := newCommandFlags("lamplighter "+readBill).parseArgs(args, stdout); err != nil {
		return ignoreHelp(err)
	}
	return confinedbill.Serve(ctx, os.Stdin, stdout)
}

// printText runs a command that only prints a text.
func printText(args []string, stdout io.Writer) error {
	texts := map[string]func() []byte{
		"openapi": func() []byte { return functions.Describe(&platform.Platform{}).YAML() },
		"version": func() []byte { return []byte(version + "\n") },
	}
	text, known := texts[args[0]]
	if !known {
		return errCommand("lamplighter", args)
	}
	f := newCommandFlags("lamplighter " + args[0])
	if err := f.parseArgs(args[1:], stdout); err != nil {
		return ignoreHelp(err)
	}
	_, err := stdout.Write(text())
	return err
}
