package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"lamplighter.dev/shared/api/audit"
)

const auditUsage = `usage: lamplighter audit <command>

  verify FILE...   prove exports of the audit log: the files of one log in their order, ` +
	`NDJSON or CSV, - for the standard
                   input. Asks nobody and needs no store. With -head HASH, that hash has to be in them; with -row N
                   besides, the number of its row, a restore of the service is told from a log that was rewritten.
                   With -anchors FOLDER and -org ID, the rows are compared with the anchors of the organization; with
                   -keys FILE besides, their signature is verified.
  export           print a chain as NDJSON, straight from the store (export -help lists its flags)
`

// runAudit runs `lamplighter audit`.
func runAudit(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		args = []string{"help"}
	}
	if asked, err := printAsked(args, auditUsage, stdout); asked {
		return err
	}
	switch args[0] {
	case "verify":
		return auditVerify(ctx, args[1:], os.Stdin, stdout)
	case "export":
		return auditExport(ctx, args[1:], stdout, stderr)
	default:
		return errCommand("lamplighter audit", args)
	}
}

// proof is the state of a verification across the files of an export.
type proof struct {
	walk    audit.Walk
	head    string // the hash that a row must have, "" if none is required
	row     int64  // the number of the row that had it, 0 if unknown
	found   string // the place of the row with that hash
	anchors anchorProof
	stdin   io.Reader
	out     io.Writer
}

// auditVerify verifies exports of an audit log.
func auditVerify(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	p := &proof{walk: audit.Walk{Exported: true}, stdin: stdin, out: stdout}
	f := newCommandFlags("lamplighter audit verify")
	f.operands = "FILE..."
	f.StringVar(&p.head, "head", "",
		"a hash that was kept from an earlier look (hash of GET /audit-logs/verify); it has to occur")
	p.anchors.flags(f.FlagSet)
	f.Int64Var(&p.row, "row", 0, "of -head: the number of its row (lastSeq of the same look)")
	if err := f.parseArgs(args, stdout); err != nil {
		return ignoreHelp(err)
	}
	switch {
	case f.NArg() == 0:
		return errors.New("audit verify wants files: run lamplighter audit verify -help to see which")
	case p.row != 0 && p.head == "":
		return errors.New("-row is of -head: it is the number of the row that had the hash; name the hash with -head")
	}
	if err := p.anchors.read(ctx); err != nil {
		return err
	}
	for _, name := range f.Args() {
		if err := p.file(name); err != nil {
			return err
		}
	}
	return p.conclude()
}

// file verifies the rows of one file; "-" is the standard input.
func (p *proof) file(name string) error {
	in := p.stdin
	if name != "-" {
		f, err := os.Open(name) //nolint:gosec // the operator names it
		if err != nil {
			return fmt.Errorf("open export: %w", err)
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	r, err := audit.NewReader(in)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	before := p.walk.Rows
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, r.Line(), err)
		}
		if err = p.step(row); err != nil {
			return fmt.Errorf("%s:%d: %w", name, r.Line(), err)
		}
	}
	_, err = fmt.Fprintf(p.out, "%s: %s\n", name, counted(p.walk.Rows-before))
	return err
}

func counted(rows int64) string {
	if rows == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", rows)
}

// step verifies the next row. It returns an error at a break of the chain.
func (p *proof) step(row audit.Sealed) error {
	if b := p.walk.Step(row); b != nil {
		return fmt.Errorf("the chain breaks at row %d (%.64q): %s", b.Seq, b.ID, b.Why)
	}
	if err := p.anchors.compare(&p.walk); err != nil {
		return err
	}
	switch {
	case p.head == "" || p.found != "":
	case p.head == p.walk.Hash:
		p.found = fmt.Sprintf("row %d has it", p.walk.Last)
	case p.walk.Rows == 1 && p.head == p.walk.Previous:
		p.found = "the first row follows it"
	}
	return nil
}

// conclude prints the result of the proof, and returns an error when the chain has no rows or lacks the given hash.
func (p *proof) conclude() error {
	w := p.walk
	switch {
	case w.Rows == 0:
		return errors.New("there are no rows: nothing is proved")
	case p.head != "" && p.found == "":
		return p.unfound()
	}
	if err := p.anchors.conclude(&p.walk); err != nil {
		return err
	}
	for _, r := range w.Restores {
		if _, err := fmt.Fprintf(p.out,
			"restored       before row %d, of %s: what had its number or a higher one before is no more\n", r.Seq,
			r.At.Format(time.RFC3339)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(p.out, "rows           %d, numbered %d to %d\nfirst follows  %s%s\nlast hash      %s\n",
		w.Rows, w.First, w.Last, w.Previous, beginning(w), w.Hash)
	if err == nil && p.found != "" {
		_, err = fmt.Fprintf(p.out, "earlier head   %s\n", p.found)
	}
	if err == nil && w.Withheld > 0 {
		_, err = fmt.Fprintf(p.out,
			"withheld       something in %s: their place is proved, their content only by GET /audit-logs/verify\n",
			counted(w.Withheld))
	}
	if err == nil {
		_, err = fmt.Fprint(p.out, p.anchors.result(), "the chain holds\n")
	}
	return err
}

// unfound returns the error for a kept hash that no row has. Either a restore of the service removed the row, or the
// log was rewritten.
func (p *proof) unfound() error {
	undone := slices.IndexFunc(p.walk.Restores, func(r audit.Restore) bool { return p.row >= r.Seq })
	switch {
	case undone >= 0:
		r := p.walk.Restores[undone]
		return fmt.Errorf("no row has the hash %s, and the log says why: the service was restored before row %d, of "+
			"%s, to a point before row %d. "+
			"If you know of that restore, nothing was rewritten: keep the last hash from now on", p.head, r.Seq,
			r.At.Format(time.RFC3339), p.row)
	case p.row == 0 && len(p.walk.Restores) > 0:
		return fmt.Errorf("no row has the hash %s: the log was rewritten, or the hash is of a row that went when the "+
			"service was restored, before row %d: "+
			"give the number of the hash's row with -row, and this program can tell", p.head, p.walk.Restores[0].Seq)
	}
	return fmt.Errorf("no row has the hash %s: the files do not reach to it, or what came before it was rewritten",
		p.head)
}

func beginning(w audit.Walk) string {
	if w.First == 1 {
		return " (the beginning of the chain)"
	}
	return ""
}
