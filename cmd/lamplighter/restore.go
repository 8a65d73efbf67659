package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// restoreChoices are the settings of `lamplighter restore`.
type restoreChoices struct {
	remote table.Remote
	to     string
	at     time.Time
}

// runRestore restores a table from the backups of another one, and prints the parameters for the next deployment.
func runRestore(ctx context.Context, args []string, out io.Writer) error {
	c, err := parseRestore(args, out)
	if err != nil {
		return ignoreHelp(err)
	}
	made, err := table.RestoreTable(ctx, c.remote, c.to, c.at)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out,
		"the table %s is restored; deploy with these parameters:\nTableName=%[1]s\nTableStream=%s\nEpoch=%s\n",
		made.Table, made.Stream, clock.System{}.Now().Format(time.RFC3339))
	return err
}

func parseRestore(args []string, out io.Writer) (restoreChoices, error) {
	var c restoreChoices
	var at string
	f := newCommandFlags("lamplighter restore")
	f.StringVar(&c.remote.Table, "table", envOr("LAMPLIGHTER_TABLE", ""),
		"the table whose backups are read; it stays as it is (LAMPLIGHTER_TABLE)")
	f.StringVar(&c.to, "to", "", "the name of the table that is made")
	f.StringVar(&at, "at", "",
		"the moment to go back to, as 2026-03-10T09:30:00Z; without it the latest that the backups have")
	f.StringVar(&c.remote.Endpoint, "endpoint", envOr("LAMPLIGHTER_ENDPOINT", ""),
		"an emulator's address; empty is AWS (LAMPLIGHTER_ENDPOINT)")
	if err := f.parseArgs(args, out); err != nil {
		return c, err
	}
	if c.remote.Table == "" || c.to == "" {
		return c, errors.New("restore wants -table, whose backups are read, and -to, the name of the table that is " +
			"made: run lamplighter restore -help")
	}
	if at == "" {
		return c, nil
	}
	var err error
	if c.at, err = time.Parse(time.RFC3339, at); err != nil {
		return c, fmt.Errorf("-at is %q; it must be a time like 2026-03-10T09:30:00Z: %w", at, err)
	}
	return c, nil
}
