package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"lamplighter.dev/functions/mailer"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// mailsCommand lists and redrives given-up mails.
var mailsCommand = stuckCommand{
	name: "mails", list: "dead", retry: "redrive", retried: "is queued again",
	usage: `usage: lamplighter mails dead [-dir DIR | -table NAME]
       lamplighter mails redrive [-dir DIR | -table NAME] ID...

  dead       list the mails that were given up, with the reasons
  redrive    queue mails again that were given up, once what kept them back was mended
`,
	printAll: listDead,
	tryAgain: func(ctx context.Context, s table.Store, id string) error {
		return mailer.Redrive(ctx, s, id, (clock.System{}).Now())
	},
}

// listDead prints a line for each given-up mail.
func listDead(ctx context.Context, s table.Store, out io.Writer) error {
	list := func(cursor string) ([]mailer.Dead, string, error) { return mailer.ListDead(ctx, s, cursor) }
	err := printPages(out, list, func(d mailer.Dead) string {
		return fmt.Sprintf("%s  %s  %s  %d tries  %s", d.At.Format(time.RFC3339), d.ID, d.Template, d.Tries, d.Why)
	})
	if err != nil {
		return fmt.Errorf("list mails that were given up: %w", err)
	}
	return nil
}
