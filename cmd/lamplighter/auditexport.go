package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/seal"
)

// source names the store and the chain of the audit log to print.
type source struct {
	dir, table, endpoint string
	org                  string
	system               int
}

// auditExport prints a chain from the store. It is the only way to read the chains of the installation. Their rows
// belong to no organization, for example guesses at passwords, and no operation shows them.
func auditExport(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var s source
	f := newCommandFlags("lamplighter audit export")
	s.flags(f.FlagSet)
	f.StringVar(&s.org, "org", "", "the organization whose chain to print")
	f.IntVar(&s.system, "system", -1, "the number, from 0 to 15, of the chain of the installation to print")
	if err := f.parseArgs(args, stdout); err != nil {
		return ignoreHelp(err)
	}
	at, err := s.place()
	if err != nil {
		return err
	}
	store, closing, err := s.open() //nolint:contextcheck // it opens a file, and nothing waits for it
	if err != nil {
		return err
	}
	return errors.Join(s.link(ctx, store, at, stderr), printChain(ctx, store, at, stdout), closing())
}

// link links the pending entries of the chain, so that they are printed too. It needs the secret that seals pending
// entries. For a table in AWS the secret is not available here: the service links the entries within three minutes,
// and link prints how many are left out.
func (s *source) link(ctx context.Context, store table.Store, at audit.Place, stderr io.Writer) error {
	var secret []byte
	if s.table == "" {
		var err error
		if secret, err = seal.ReadPrivate(filepath.Join(s.dir, "keys", "pepper.key")); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	l := audit.NewLog(audit.Options{Store: store, Clock: clock.System{}, Secret: secret})
	got, err := l.Link(ctx, at, func() bool { return secret == nil })
	if err == nil && got.Waiting > 0 {
		_, err = fmt.Fprintf(stderr,
			"%d requests of the last minutes are left out: they have no place in the chain yet\n", got.Waiting)
	}
	return err
}

// flags defines the flags that name the store.
func (s *source) flags(f *flag.FlagSet) {
	f.StringVar(&s.dir, "dir", envOr("LAMPLIGHTER_DIR", ".lamplighter"),
		"folder of the embedded store, which nobody may be serving just now (LAMPLIGHTER_DIR)")
	f.StringVar(&s.table, "table", "",
		"name of a DynamoDB table to use instead, with the credentials of AWS's variables")
	f.StringVar(&s.endpoint, "endpoint", "", "of -table: an emulator's address; empty is AWS")
}

// place returns the chain's place in the store. Exactly one of -org and -system must be given.
func (s *source) place() (audit.Place, error) {
	systems := audit.SystemPlaces()
	switch {
	case s.org != "" && s.system < 0:
		return audit.PlaceOf(s.org), nil
	case s.org == "" && s.system >= 0 && s.system < len(systems):
		return systems[s.system], nil
	}
	return audit.Place{}, fmt.Errorf("audit export wants either -org ID or -system N, from 0 to %d", len(systems)-1)
}

// open opens an existing store, and returns it with the function that closes it. It does not create a store.
func (s *source) open() (table.Store, func() error, error) {
	if s.table != "" {
		return table.NewDynamoDB(table.Remote{Table: s.table, Endpoint: s.endpoint}), func() error { return nil }, nil
	}
	path := filepath.Join(s.dir, "store.db")
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("there is no store in %s: name the folder of `lamplighter serve` with -dir, or a "+
			"table with -table", s.dir)
	case err != nil:
		return nil, nil, fmt.Errorf("open store: %w", err)
	}
	e, err := table.Open(path, table.Options{SweepEvery: -1})
	if err != nil {
		return nil, nil, err
	}
	return e, e.Close, nil
}

// printChain prints the rows of a chain, oldest first.
func printChain(ctx context.Context, s table.Store, at audit.Place, stdout io.Writer) error {
	out := bufio.NewWriter(stdout)
	q := table.Query{PK: at.PK, Limit: 1000}
	q.From, q.To = audit.AllRowKeys()
	for {
		page, err := s.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("read audit rows of %s: %w", at.PK, err)
		}
		for _, it := range page.Items {
			row, err := audit.DecodeStored(it)
			if err != nil {
				return fmt.Errorf("read audit row %s %s: %w", it.PK, it.SK, err)
			}
			_, _ = out.Write(row.Line()) // Flush tells
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out.Flush()
		}
	}
}
