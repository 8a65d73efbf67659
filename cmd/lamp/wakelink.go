package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"lamplighter.dev/shared/api/client"
)

// wakeLinkOrder is the body of a wake link.
type wakeLinkOrder struct {
	Name         string `json:"name,omitempty"`
	ExpiresAt    string `json:"expiresAt,omitempty"`
	MaxHours     int    `json:"maxHours,omitempty"`
	StartsPerDay int    `json:"startsPerDay,omitempty"`
}

// wakeLinkAnswer is the answer: the service shows the address only once.
type wakeLinkAnswer struct {
	URL string `json:"url"`
}

// wakeLink is a wake link, from the flags.
type wakeLink struct {
	a       *app
	order   wakeLinkOrder
	expires string
	yes     bool
}

func (a *app) wakeLinkCommand() *cobra.Command {
	w := &wakeLink{a: a}
	c := &cobra.Command{
		Use: "wake-link group|resource NAME", Short: "Make an address at which anybody can start a group or resource",
		Args: cobra.ExactArgs(2), ValidArgsFunction: a.completeTargets,
		RunE: func(c *cobra.Command, args []string) error { return w.run(c.Context(), args[0], args[1]) },
	}
	c.Flags().StringVar(&w.order.Name, "title", "", "title of the page")
	c.Flags().IntVar(&w.order.MaxHours, "max-hours", 0, "hours from a start to its stop; 12 unless given")
	c.Flags().IntVar(&w.order.StartsPerDay, "starts-per-day", 0, "starts in a day; 3 unless given")
	c.Flags().StringVar(&w.expires, "expires", "", "its end, as hold --until; in 30 days unless given")
	c.Flags().BoolVarP(&w.yes, "yes", "y", false, "do not ask")
	return c
}

func (w *wakeLink) run(ctx context.Context, what, name string) error {
	to, err := w.a.client()
	if err != nil {
		return err
	}
	t, err := w.a.target(ctx, to, what, name)
	if err != nil {
		return err
	}
	if w.expires != "" {
		w.a.warnOfClock(to)
		until, err := parseUntil(w.expires, to.Now().Local())
		if err != nil {
			return err
		}
		w.order.ExpiresAt = until.UTC().Format(time.RFC3339)
	}
	p := w.a.planOf(ctx, to, t.order("start"))
	w.a.say("Everybody who has the address could start them.")
	if err = w.a.agree(p, "Make a wake link for "+t.name+"?", w.yes); err != nil {
		return err
	}
	path := client.Path("/resources/{resourceID}/wake-links", t.id)
	if t.isGroup {
		path = client.Path("/resource-groups/{groupID}/wake-links", t.id)
	}
	var made wakeLinkAnswer
	if err = to.Call(ctx, client.Request{Method: http.MethodPost, Path: path, Body: w.order}, &made); err != nil {
		return err
	}
	w.a.say("The address is shown only now.")
	_, err = fmt.Fprintln(w.a.out, made.URL)
	return err
}
