package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/clock"
)

// workCommand lists and unparks parked work. The sweeper parks work that it has given up.
var workCommand = stuckCommand{
	name: "work", list: "parked", retry: "unpark", retried: "is pending again: the sweeper starts it within a minute",
	usage: `usage: lamplighter work parked [-dir DIR | -table NAME]
       lamplighter work unpark [-dir DIR | -table NAME] ID...

  parked     list the work that the sweeper gave up, with the reasons
  unpark     have the sweeper start parked work anew, once what broke it was mended
`,
	printAll: listParked,
	tryAgain: func(ctx context.Context, s table.Store, id string) error {
		return workqueue.Unpark(ctx, s, id, (clock.System{}).Now())
	},
}

// listParked prints a line for each piece of parked work.
func listParked(ctx context.Context, s table.Store, out io.Writer) error {
	list := func(cursor string) ([]workqueue.Parked, string, error) { return workqueue.ListParked(ctx, s, cursor) }
	err := printPages(out, list, func(p workqueue.Parked) string {
		state := "its record waits: unpark it"
		if p.Ended {
			state = "its record was ended as failed"
		}
		return fmt.Sprintf("%s  %s  %s of %s  %s  %s", p.ParkedAt.Format(time.RFC3339), p.ID, p.Machine, p.Org, state,
			p.Why)
	})
	if err != nil {
		return fmt.Errorf("list parked work: %w", err)
	}
	return nil
}
