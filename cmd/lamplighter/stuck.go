package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"lamplighter.dev/shared/engine/table"
)

// stuckCommand is a command for given-up work: one word lists the work, another takes ids and retries it.
type stuckCommand struct {
	name, usage string
	list, retry string
	printAll    func(context.Context, table.Store, io.Writer) error
	tryAgain    func(ctx context.Context, s table.Store, id string) error
	retried     string // printed after the id of retried work
}

// run runs the command with its arguments.
func (c stuckCommand) run(ctx context.Context, args []string, stdout io.Writer) error {
	if asked, err := printAsked(args, c.usage, stdout); asked {
		return err
	}
	if len(args) == 0 || args[0] != c.list && args[0] != c.retry {
		return errCommand("lamplighter "+c.name, args)
	}
	var s source
	f := newCommandFlags("lamplighter " + c.name + " " + args[0])
	s.flags(f.FlagSet)
	if args[0] == c.retry {
		f.operands = "ID..."
	}
	if err := f.parseArgs(args[1:], stdout); err != nil {
		return ignoreHelp(err)
	}
	if args[0] == c.retry && f.NArg() == 0 {
		return fmt.Errorf("%[1]s %[2]s wants ids, which lamplighter %[1]s %[3]s lists: run lamplighter %[1]s -help",
			c.name, c.retry, c.list)
	}
	store, closing, err := s.open() //nolint:contextcheck // it opens a file, and nothing waits for it
	if err != nil {
		return err
	}
	if args[0] == c.retry {
		return errors.Join(c.retryAll(ctx, store, f.Args(), stdout), closing())
	}
	return errors.Join(c.printAll(ctx, store, stdout), closing())
}

func (c stuckCommand) retryAll(ctx context.Context, s table.Store, ids []string, out io.Writer) error {
	for _, id := range ids {
		if err := c.tryAgain(ctx, s, id); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s %s\n", id, c.retried); err != nil {
			return err
		}
	}
	return nil
}

// printPages prints a line for each item of list, page by page.
func printPages[T any](out io.Writer, list func(cursor string) ([]T, string, error), line func(T) string) error {
	for cursor, more := "", true; more; more = cursor != "" {
		found, next, err := list(cursor)
		if err != nil {
			return err
		}
		for _, f := range found {
			if _, err = fmt.Fprintln(out, line(f)); err != nil {
				return err
			}
		}
		cursor = next
	}
	return nil
}
