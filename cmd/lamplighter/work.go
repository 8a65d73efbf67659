package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/clock"
)

const workUsage = `usage: lamplighter work parked [-dir DIR | -table NAME]
       lamplighter work unpark [-dir DIR | -table NAME] ID...

  parked     list the work that the sweeper gave up, with the reasons
  unpark     have the sweeper start parked work anew, once what broke it was mended
`

// runWork lists and unparks the work that the sweeper parked.
func runWork(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 || args[0] != "parked" && args[0] != "unpark" {
		return fmt.Errorf("work wants a command\n%s", workUsage)
	}
	var s source
	f := flag.NewFlagSet("lamplighter work "+args[0], flag.ContinueOnError)
	f.SetOutput(stderr)
	s.flags(f)
	if err := f.Parse(args[1:]); err != nil {
		return ignoreHelp(err)
	}
	if unparks := args[0] == "unpark"; unparks != (f.NArg() > 0) {
		return fmt.Errorf("work parked takes no ids, and work unpark wants some\n%s", workUsage)
	}
	store, closing, err := s.open() //nolint:contextcheck // it opens a file, and nothing waits for it
	if err != nil {
		return err
	}
	if args[0] == "unpark" {
		return errors.Join(unparkWork(ctx, store, f.Args(), stdout), closing())
	}
	return errors.Join(listParked(ctx, store, stdout), closing())
}

func unparkWork(ctx context.Context, s table.Store, ids []string, out io.Writer) error {
	for _, id := range ids {
		if err := workqueue.Unpark(ctx, s, id, (clock.System{}).Now()); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s is pending again: the sweeper starts it within a minute\n", id); err != nil {
			return err
		}
	}
	return nil
}

// listParked prints a line for each piece of parked work.
func listParked(ctx context.Context, s table.Store, out io.Writer) error {
	for cursor, more := "", true; more; more = cursor != "" {
		parked, next, err := workqueue.ListParked(ctx, s, cursor)
		if err != nil {
			return fmt.Errorf("list parked work: %w", err)
		}
		for _, p := range parked {
			state := "its record waits: unpark it"
			if p.Ended {
				state = "its record was ended as failed"
			}
			if _, err = fmt.Fprintf(out, "%s  %s  %s of %s  %s  %s\n", p.ParkedAt.Format(time.RFC3339), p.ID, p.Machine, p.Org, state, p.Why); err != nil {
				return err
			}
		}
		cursor = next
	}
	return nil
}
