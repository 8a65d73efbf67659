package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lamplighter.dev/shared/api/client"
)

// defaultLimit is how many records `lamp get` shows at most, unless --limit says otherwise.
const defaultLimit = 100

func (a *app) getCommand() *cobra.Command {
	c := &cobra.Command{Use: "get", Short: "List records: resources, groups, schedules, …"}
	for _, k := range kinds {
		c.AddCommand(a.getKindCommand(k))
	}
	return c
}

func (a *app) getKindCommand(k kind) *cobra.Command {
	limit := defaultLimit
	c := &cobra.Command{
		Use: k.name + " [NAME]", Aliases: k.aliases, Short: "List " + k.name, Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeNames(k),
	}
	if !k.unpaged {
		c.Flags().IntVar(&limit, "limit", defaultLimit, "how many at most; 0 is all")
	}
	query := filterFlags(c, k)
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case limit < 0:
			return misused("--limit is %d: it must be 0 or more", limit)
		case len(args) > 0 && len(query()) > 0:
			return misused("give a name or filters, not both")
		}
		to, err := a.client()
		if err != nil {
			return err
		}
		if len(args) == 1 {
			found, err := findNamed(c.Context(), to, k, args[0])
			if err != nil {
				return err
			}
			return a.show(k.columns, found)
		}
		return a.getAll(c.Context(), to, k, query(), limit)
	}
	return c
}

// getAll lists records, and says when there may be more. It does not look whether there are: that would be a request.
func (a *app) getAll(ctx context.Context, to *client.Client, k kind, query url.Values, limit int) error {
	shown := 0
	err := a.stream(k.columns, func(yield func(record, error) bool) {
		for r, err := range records(ctx, to, k, query, limit) {
			if !yield(r, err) {
				return
			}
			shown++
		}
	})
	switch {
	case err != nil && shown > 0:
		return fmt.Errorf("after %d %s: %w", shown, k.name, err)
	case err == nil && shown == limit && !k.unpaged:
		a.say("%d are shown, and there may be more: --limit 0 shows all.", shown)
	}
	return err
}

// records reads a list. It keeps one page in memory.
func records(ctx context.Context, to *client.Client, k kind, query url.Values, limit int) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		r := client.Request{Method: http.MethodGet, Path: k.list, Query: query}
		if k.single {
			one, err := fetch(ctx, to, k.list)
			yield(one, err)
			return
		}
		for raw, err := range to.Records(ctx, r, limit, !k.unpaged) {
			var one record
			if err == nil {
				one, err = parseRecord(raw)
			}
			if !yield(one, err) || err != nil {
				return
			}
		}
	}
}

// fetch reads one record.
func fetch(ctx context.Context, to *client.Client, path string) (record, error) {
	var raw json.RawMessage
	if err := to.Call(ctx, client.Request{Method: http.MethodGet, Path: path}, &raw); err != nil {
		return record{}, err
	}
	return parseRecord(raw)
}

// filterFlags adds the filters of the kind as flags, and returns the query that they make.
func filterFlags(c *cobra.Command, k kind) func() url.Values {
	values := map[string]*[]string{}
	filters := k.filters
	if k.search && !slices.Contains(filters, "search") {
		filters = append([]string{"search"}, filters...)
	}
	for _, f := range filters {
		values[f] = c.Flags().StringSlice(flagOf(f), nil, "only with this "+strings.ReplaceAll(f, "_", " "))
	}
	if _, has := values["status"]; has && k.name == "resources" {
		complete(c, "status", fixed("running", "stopped", "starting", "stopping", "pending"))
	}
	if _, has := values["provider"]; has {
		complete(c, "provider", fixed("aws", "azure", "gcp", "kubernetes", "simulated"))
	}
	return func() url.Values {
		q := url.Values{}
		for f, v := range values {
			if len(*v) > 0 {
				q.Set(f, strings.Join(*v, ","))
			}
		}
		if tags := values["tag"]; tags != nil && len(*tags) > 0 {
			q["tag"] = *tags // every one must match
		}
		return q
	}
}

func (a *app) describeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "describe KIND NAME", Short: "Show all members of one record", Args: cobra.ExactArgs(2),
		ValidArgsFunction: func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return a.completeKinds(c, args, typed)
			}
			k, err := kindNamed(args[0])
			if err != nil || len(args) > 1 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.completeNames(k)(c, nil, typed)
		},
		RunE: func(c *cobra.Command, args []string) error {
			k, err := kindNamed(args[0])
			if err != nil {
				return err
			}
			to, err := a.client()
			if err != nil {
				return err
			}
			r, err := resolve(c.Context(), to, k, args[1])
			if err != nil {
				return err
			}
			if k.one != "" { // lists may leave out members
				if r, err = fetch(c.Context(), to, client.Path(k.one, r.text("id"))); err != nil {
					return err
				}
			}
			return a.describe(k, r)
		},
	}
}

// describe prints one record with all members: as YAML unless another format is requested.
func (a *app) describe(k kind, r record) error {
	switch a.output {
	case "json":
		return a.printJSON(r.raw)
	case "table", "wide", "yaml":
		text, err := yamlOf(r.raw)
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(a.out, cleanText(text))
		return err
	}
	return a.show(k.columns, []record{r})
}
