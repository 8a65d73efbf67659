package main

import (
	"context"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"lamplighter.dev/shared/api/client"
)

// overrideOrder is the body of an override.
type overrideOrder struct {
	Action      string `json:"action"`
	ExpiresAt   string `json:"expiresAt"`
	Reason      string `json:"reason,omitempty"`
	GroupID     string `json:"groupID,omitempty"`
	ResourceUID string `json:"resourceUID,omitempty"`
}

// hold is an override, from the flags.
type hold struct {
	a             *app
	on, off       bool
	until, reason string
	dryRun, yes   bool
}

func (a *app) holdCommand() *cobra.Command {
	h := &hold{a: a}
	c := &cobra.Command{
		Use: "hold group|resource NAME", Short: "Hold a group or resource on or off, despite its schedules",
		Args: cobra.ExactArgs(2), ValidArgsFunction: a.completeTargets,
		Example: "  lamp hold group staging --on --until 20:00 --reason \"load test\"",
		RunE:    func(c *cobra.Command, args []string) error { return h.run(c.Context(), args[0], args[1]) },
	}
	c.Flags().BoolVar(&h.on, "on", false, "start it, and refuse stops")
	c.Flags().BoolVar(&h.off, "off", false, "stop it, and refuse starts")
	c.Flags().StringVar(&h.until, "until", "", "its end: 20:00, 4h, 2026-12-24, or 2026-12-24T18:00:00+01:00")
	c.Flags().StringVar(&h.reason, "reason", "", "why, for those who come across it")
	c.Flags().BoolVar(&h.dryRun, "dry-run", false, "only print what would be done")
	c.Flags().BoolVarP(&h.yes, "yes", "y", false, "do not ask")
	c.MarkFlagsMutuallyExclusive("on", "off")
	c.MarkFlagsOneRequired("on", "off")
	_ = c.MarkFlagRequired("until") //nolint:errcheck // the flag exists
	return c
}

// target is a group or a resource.
type target struct {
	isGroup       bool
	id, uid, name string
}

// order returns the bulk action on the target.
func (t target) order(verb string) bulkOrder {
	if t.isGroup {
		return bulkOrder{Type: verb, GroupID: t.id}
	}
	return bulkOrder{Type: verb, ResourceIDs: []string{t.id}}
}

// target returns the group or resource with the name.
func (a *app) target(ctx context.Context, to *client.Client, what, name string) (target, error) {
	if what != "group" && what != "resource" {
		return target{}, misused("%q cannot be named here: it must be group or resource", what)
	}
	k, err := kindNamed(what)
	if err != nil {
		return target{}, err
	}
	r, err := resolve(ctx, to, k, name)
	return target{what == "group", r.text("id"), r.text("uid"), r.text("name")}, err
}

func (h *hold) run(ctx context.Context, what, name string) error {
	to, err := h.a.client()
	if err != nil {
		return err
	}
	t, err := h.a.target(ctx, to, what, name)
	if err != nil {
		return err
	}
	h.a.warnOfClock(to)
	until, err := parseUntil(h.until, to.Now().Local())
	if err != nil {
		return err
	}
	action, verb := "force_on", "start"
	if h.off {
		action, verb = "force_off", "stop"
	}
	p := h.a.planOf(ctx, to, t.order(verb))
	h.a.say("Would hold %s %s until %s.", t.name, map[bool]string{true: "on", false: "off"}[h.on],
		until.Format("Mon 2 Jan 2006 15:04 MST"))
	if h.dryRun {
		h.a.say("Nothing was done.")
		return nil
	}
	if err = h.a.agree(p, "Hold "+t.name+"?", h.yes); err != nil {
		return err
	}
	return h.submit(ctx, to, t, overrideOrder{
		Action: action, ExpiresAt: until.UTC().Format(time.RFC3339), Reason: h.reason,
	})
}

// planOf prints the resources that the order would start or stop now. An override may be made even if the service has
// no plan, such as
// for resources that all have the state already.
func (a *app) planOf(ctx context.Context, to *client.Client, order bulkOrder) *plan {
	p, err := makePlan(ctx, to, order)
	if err != nil {
		a.say("The resources that it would %s now are not known: %v", order.Type, err)
		return &plan{verb: order.Type}
	}
	p.print(a)
	return p
}

func (h *hold) submit(ctx context.Context, to *client.Client, t target, order overrideOrder) error {
	path := "/overrides"
	if t.isGroup {
		path = client.Path("/resource-groups/{groupID}/overrides", t.id)
	} else {
		order.ResourceUID = t.uid
	}
	var made identified
	if err := to.Call(ctx, client.Request{Method: http.MethodPost, Path: path, Body: order}, &made); err != nil {
		return err
	}
	h.a.say("Held. lamp release %s ends it.", made.ID)
	return h.a.printID(made.ID)
}

// identified is the id of a record.
type identified struct {
	ID string `json:"id"`
}

func (a *app) releaseCommand() *cobra.Command {
	yes := false
	overrides := mustKind("overrides")
	c := &cobra.Command{
		Use: "release OVERRIDE", Short: "End an override", Args: cobra.ExactArgs(1),
		ValidArgsFunction: a.completeNames(overrides),
		RunE: func(c *cobra.Command, args []string) error {
			to, err := a.client()
			if err != nil {
				return err
			}
			r, err := resolve(c.Context(), to, overrides, args[0])
			if err != nil {
				return err
			}
			a.say("Would end %s (%s of %s until %s). Its resources then get the state that other overrides or their "+
				"schedules want.", r.text("id"), r.text("action"), firstOf(r.text("groupID"), r.text("resourceUID")),
				r.text("expiresAt"))
			if err = a.confirm(consent{question: "End it?", yes: yes}); err != nil {
				return err
			}
			path := client.Path("/overrides/{overrideID}", r.text("id"))
			if err = to.Call(c.Context(), client.Request{Method: http.MethodDelete, Path: path}, nil); err != nil {
				return err
			}
			return a.printID(r.text("id"))
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}
