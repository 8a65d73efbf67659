package main

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const (
	// completionTime is how long a Tab waits for the service.
	completionTime = time.Second
	// maxCompletions is how many names a Tab shows.
	maxCompletions = 50
)

// completer completes the last word of a command line.
type completer = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// complete registers the completion of a flag.
func complete(c *cobra.Command, flag string, f completer) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic("lamp: " + err.Error()) // the flag does not exist: a mistake of lamp
	}
}

func fixed(values ...string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values, cobra.ShellCompDirectiveNoFileComp
	}
}

func (a *app) completeContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	f, err := a.readConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(f.Contexts)), cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeKinds(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, k := range kinds {
		names = append(names, k.singular())
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeNames completes one name of a kind, with a request to the service.
func (a *app) completeNames(k kind) completer {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.completeManyNames(k)(c, args, typed)
	}
}

// completeManyNames completes any number of names of a kind.
func (a *app) completeManyNames(k kind) completer {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		names := slices.DeleteFunc(a.names(c.Context(), k, typed), func(name string) bool {
			own, _, _ := strings.Cut(name, "\t")
			return slices.Contains(args, own)
		})
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeTargets completes "group NAME" and "resource NAME".
func (a *app) completeTargets(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return []string{"group", "resource"}, cobra.ShellCompDirectiveNoFileComp
	}
	k, err := kindNamed(args[0])
	if err != nil || len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeNames(k)(c, nil, typed)
}

// names returns the names that begin with the typed text, each with a description behind a tab. The shell cannot show
// errors: after one there are no names.
func (a *app) names(ctx context.Context, k kind, typed string) []string {
	a.quiet = true
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	to, err := a.client()
	if err != nil {
		return nil
	}
	query := url.Values{}
	if k.search && typed != "" {
		query.Set("search", typed)
	}
	var names []string
	for r, err := range records(ctx, to, k, query, maxCompletions) {
		if err != nil {
			break
		}
		name := cleanLine(r.text(k.nameMember()))
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(typed)) {
			names = append(names, name+"\t"+cleanLine(k.hint(r)))
		}
	}
	return names
}

// hint returns the second and third column of a record.
func (k kind) hint(r record) string {
	var parts []string
	for _, c := range k.columns[1:min(3, len(k.columns))] {
		if text := r.text(c.path); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}
