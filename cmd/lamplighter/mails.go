package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"lamplighter.dev/functions/mailer"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

const mailsUsage = `usage: lamplighter mails dead [-dir DIR | -table NAME]
       lamplighter mails redrive [-dir DIR | -table NAME] ID...

  dead       list the mails that were given up, with the reasons
  redrive    queue mails again that were given up, once what kept them back was mended
`

// runMails lists and redrives the mails that were given up.
func runMails(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 || args[0] != "dead" && args[0] != "redrive" {
		return fmt.Errorf("mails wants a command\n%s", mailsUsage)
	}
	var s source
	f := flag.NewFlagSet("lamplighter mails "+args[0], flag.ContinueOnError)
	f.SetOutput(stderr)
	s.flags(f)
	if err := f.Parse(args[1:]); err != nil {
		return ignoreHelp(err)
	}
	if redrives := args[0] == "redrive"; redrives != (f.NArg() > 0) {
		return fmt.Errorf("mails dead takes no ids, and mails redrive wants some\n%s", mailsUsage)
	}
	store, closing, err := s.open() //nolint:contextcheck // it opens a file, and nothing waits for it
	if err != nil {
		return err
	}
	if args[0] == "redrive" {
		return errors.Join(redriveMails(ctx, store, f.Args(), stdout), closing())
	}
	return errors.Join(listDead(ctx, store, stdout), closing())
}

func redriveMails(ctx context.Context, s table.Store, ids []string, out io.Writer) error {
	for _, id := range ids {
		if err := mailer.Redrive(ctx, s, id, (clock.System{}).Now()); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s is queued again\n", id); err != nil {
			return err
		}
	}
	return nil
}

// listDead prints a line for each mail that was given up.
func listDead(ctx context.Context, s table.Store, out io.Writer) error {
	for cursor, more := "", true; more; more = cursor != "" {
		dead, next, err := mailer.ListDead(ctx, s, cursor)
		if err != nil {
			return fmt.Errorf("list mails that were given up: %w", err)
		}
		for _, d := range dead {
			if _, err = fmt.Fprintf(out, "%s  %s  %s  %d tries  %s\n", d.At.Format(time.RFC3339), d.ID, d.Template, d.Tries, d.Why); err != nil {
				return err
			}
		}
		cursor = next
	}
	return nil
}
