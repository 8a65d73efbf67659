package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lamplighter.dev/shared/api/client"
)

// act is a start or stop, from the flags.
type act struct {
	a                   *app
	verb                string
	dryRun, wait, force bool
	yes                 bool
	timeout             time.Duration
}

func (a *app) actCommand(verb string) *cobra.Command {
	x := &act{a: a, verb: verb}
	c := &cobra.Command{
		Use: verb, Short: title(verb) + " a group, or resources by name or filter",
		Long: title(verb) + " a group, or resources by name or filter. lamp prints what the service would do, and " +
			"asks. Above " + strconv.Itoa(manyResources) + "\nresources, and for production, you type the number of " +
			"resources. Without a terminal, --yes is needed.",
	}
	f := c.PersistentFlags()
	f.BoolVar(&x.dryRun, "dry-run", false, "only print what would be done")
	f.BoolVar(&x.wait, "wait", false, "wait for the end; exit code 3 if a part fails")
	f.BoolVar(&x.force, "force", false, "act despite overrides and active event plans; it is audited")
	f.BoolVarP(&x.yes, "yes", "y", false, "do not ask")
	f.DurationVar(&x.timeout, "timeout", 15*time.Minute, "the longest --wait; exit code 6 after it")
	c.AddCommand(x.groupCommand(), x.resourcesCommand())
	return c
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (x *act) groupCommand() *cobra.Command {
	groups := mustKind("groups")
	return &cobra.Command{
		Use: "group NAME", Short: title(x.verb) + " a group, tier by tier", Args: cobra.ExactArgs(1),
		ValidArgsFunction: x.a.completeNames(groups),
		RunE: func(c *cobra.Command, args []string) error {
			to, err := x.a.client()
			if err != nil {
				return err
			}
			g, err := resolve(c.Context(), to, groups, args[0])
			if err != nil {
				return err
			}
			return x.run(c.Context(), to, bulkOrder{GroupID: g.text("id")})
		},
	}
}

func (x *act) resourcesCommand() *cobra.Command {
	resources := mustKind("resources")
	resources.filters = resourceFilters // only schedulable ones can be started and stopped
	c := &cobra.Command{
		Use: "resources [NAME…]", Aliases: []string{"resource"},
		Short:             title(x.verb) + " resources by name, or all that a filter finds",
		Example:           "  lamp " + x.verb + " resources --tag env=test --region eu-west-1 --wait",
		ValidArgsFunction: x.a.completeManyNames(resources),
	}
	query := filterFlags(c, resources)
	c.RunE = func(c *cobra.Command, args []string) error {
		order, q := bulkOrder{}, query()
		switch {
		case len(args) > 0 && len(q) > 0:
			return misused("give names or a filter, not both")
		case len(args) == 0 && len(q) == 0:
			return misused("give names or a filter, such as --tag env=test: without one, all resources would %s",
				x.verb)
		}
		to, err := x.a.client()
		if err != nil {
			return err
		}
		if order.Filter = bulkFilter(q); len(args) > 0 {
			order.Filter = nil
			if order.ResourceIDs, err = resolveAll(c.Context(), to, resources, args); err != nil {
				return err
			}
		}
		return x.run(c.Context(), to, order)
	}
	return c
}

// bulkFilter returns the filter of a bulk action. Several values of a filter are separated by commas, and of tags a
// list.
func bulkFilter(q url.Values) map[string]any {
	f := map[string]any{"schedulable": true}
	for name, values := range q {
		f[name] = values[0]
		if name == "tag" {
			f[name] = values
		}
	}
	return f
}

func resolveAll(ctx context.Context, to *client.Client, k kind, names []string) ([]string, error) {
	ids := make([]string, len(names))
	for i, name := range names {
		r, err := resolve(ctx, to, k, name)
		if err != nil {
			return nil, err
		}
		ids[i] = r.text("id")
	}
	return ids, nil
}

// run prints the plan, asks, submits the order and waits for its end.
func (x *act) run(ctx context.Context, to *client.Client, order bulkOrder) error {
	order.Type, order.Force = x.verb, x.force
	p, err := makePlan(ctx, to, order)
	if err != nil {
		return err
	}
	p.print(x.a)
	n := len(p.resources())
	if x.dryRun || n == 0 {
		x.a.say("Nothing was done.")
		return nil
	}
	question := fmt.Sprintf("%s %s?", title(x.verb), countResources(n))
	if err = x.a.agree(p, question, x.yes); err != nil {
		return err
	}
	id, err := p.submit(ctx, to)
	if err != nil {
		return err
	}
	if err = x.a.printID(id); err != nil {
		return err
	}
	if !x.wait {
		x.a.say("Queued. lamp get bulk %s shows the progress.", id)
		return nil
	}
	return x.a.waitFor(ctx, to, id, x.timeout)
}

// submit submits the order of the plan: of resources exactly those of the plan, of a group the group, since only that
// proceeds by tiers.
func (p *plan) submit(ctx context.Context, to *client.Client) (string, error) {
	order := p.order
	if order.GroupID == "" {
		order.Filter, order.ResourceIDs = nil, nil
		for _, r := range p.resources() {
			order.ResourceIDs = append(order.ResourceIDs, r.ResourceID)
		}
	}
	var answer bulkAnswer
	err := to.Call(ctx, client.Request{Method: http.MethodPost, Path: "/actions/bulk", Body: order}, &answer)
	if ctx.Err() != nil {
		return "", fail(exitInterrupted, "interrupted while the order was sent: lamp get bulk shows whether it was "+
			"accepted")
	}
	return answer.BulkActionID, err
}

func (a *app) printID(id string) error {
	_, err := fmt.Fprintln(a.out, id)
	return err
}

// bulkStatus is the state of a bulk action.
type bulkStatus struct {
	Status    string `json:"status"`
	Total     int    `json:"total"`
	Completed int    `json:"completed"`
	Failed    int    `json:"failed"`
}

// waitFor waits until a bulk action ends, and reports its progress.
func (a *app) waitFor(ctx context.Context, to *client.Client, id string, timeout time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var b bulkStatus
	said := ""
	err := to.Poll(limited, func(ctx context.Context) (bool, error) {
		path := client.Path("/actions/bulk/{bulkActionID}", id)
		err := to.Call(ctx, client.Request{Method: http.MethodGet, Path: path}, &b)
		if err != nil {
			return false, err
		}
		now := fmt.Sprintf("%s: %d of %d done, %d failed", b.Status, b.Completed, b.Total, b.Failed)
		if now != said {
			a.say("%s", now)
		}
		said = now
		return b.Status == "completed" || b.Status == "cancelled", nil
	})
	switch {
	case ctx.Err() != nil:
		return fail(exitInterrupted, "interrupted; %s continues: lamp get bulk %s shows the progress, and "+
			"lamp api POST /actions/bulk/%s/cancel ends the rest", id, id, id)
	case errors.Is(limited.Err(), context.DeadlineExceeded) && err != nil:
		return fail(exitTimedOut, "%s is not done after %s, and continues: lamp get bulk %s shows the progress", id,
			timeout, id)
	case err != nil:
		return fmt.Errorf("wait for %s, which continues: %w", id, err)
	}
	return outcome(id, b)
}

// outcome returns the error of an ended bulk action, or nil if all of it succeeded.
func outcome(id string, b bulkStatus) error {
	switch {
	case b.Failed > 0 && b.Completed == 0:
		return fail(exitFailed, "all %d failed: lamp get actions --status failed -o wide shows why (bulk action %s)",
			b.Failed, id)
	case b.Failed > 0:
		return fail(exitPartly, "%d of %d failed: lamp get actions --status failed -o wide shows why (bulk action %s)",
			b.Failed, b.Total, id)
	case b.Status == "cancelled":
		return fail(exitPartly, "%s was cancelled after %d of %d", id, b.Completed, b.Total)
	}
	return nil
}

func decode(raw json.RawMessage, out any) error {
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("read a record: %w", err)
	}
	return nil
}
