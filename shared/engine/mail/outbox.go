package mail

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Outbox is the Sender for installations without a mail server. It writes each message to a file, and a line with the
// subject, which contains the code, to a writer.
type Outbox struct {
	dir string
	out io.Writer
}

// NewOutbox returns an Outbox that writes messages to the folder dir, and a line for each to out. It creates the
// folder.
func NewOutbox(dir string, out io.Writer) (*Outbox, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make mail outbox: %w", err)
	}
	return &Outbox{dir, out}, nil
}

// Send writes the message to <event>.eml. Sending it again writes the same file.
func (o *Outbox) Send(_ context.Context, m Message) error {
	path := filepath.Join(o.dir, m.ID+".eml")
	tmp := path + ".part"
	if err := os.WriteFile(tmp, m.FormatRFC5322("no-reply@lamplighter.invalid"), 0o600); err != nil {
		return fmt.Errorf("write mail %s: %w", m.ID, err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("write mail %s: %w", m.ID, err)
	}
	if _, err := fmt.Fprintf(o.out, "mail to %s: %s (%s)\n", m.To, m.Subject, path); err != nil {
		return fmt.Errorf("announce mail %s: %w", m.ID, err)
	}
	return nil
}

var _ Sender = (*Outbox)(nil)
