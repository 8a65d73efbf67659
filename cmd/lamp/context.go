package main

import (
	"maps"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"lamplighter.dev/shared/api/client"
)

func (a *app) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Show who is signed in, and where", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			var me client.User
			if err = c.Call(cmd.Context(), client.Request{Method: http.MethodGet, Path: "/users/me"}, &me); err != nil {
				return err
			}
			f, err := a.readConfig()
			if err != nil {
				return err
			}
			name := a.contextName(f)
			organisation := f.Contexts[name].Name
			if a.env("LAMPLIGHTER_TOKEN") != "" {
				name, organisation = "LAMPLIGHTER_TOKEN", ""
			}
			return a.show([]column{
				{"EMAIL", "email"},
				{"NAME", "name"},
				{"ORGANISATION", "organisation"},
				{"API", "api"},
				{"CONTEXT", "context"},
			}, []record{newRecord(map[string]any{
				"email": me.Email, "name": me.Name, "organisation": organisation, "api": c.Address(),
				"context": name,
			})})
		},
	}
}

func (a *app) contextCommand() *cobra.Command {
	c := &cobra.Command{Use: "context", Short: "List, choose and show contexts: a service and a user"}
	c.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the contexts", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return a.listContexts("") },
		},
		&cobra.Command{
			Use: "show", Short: "Show the context that is used", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				f, err := a.readConfig()
				if err != nil {
					return err
				}
				return a.listContexts(a.contextName(f))
			},
		},
		&cobra.Command{
			Use: "use NAME", Short: "Use a context from now on", Args: cobra.ExactArgs(1),
			ValidArgsFunction: a.completeContexts,
			RunE:              func(_ *cobra.Command, args []string) error { return a.useContext(args[0]) },
		})
	return c
}

// listContexts shows all contexts, or only one.
func (a *app) listContexts(only string) error {
	f, err := a.readConfig()
	if err != nil {
		return err
	}
	var rows []record
	for _, name := range slices.Sorted(maps.Keys(f.Contexts)) {
		if only != "" && name != only {
			continue
		}
		at := f.Contexts[name]
		rows = append(rows, newRecord(map[string]any{
			"name": name, "api": at.API, "organisation": at.Name, "used": name == a.contextName(f),
		}))
	}
	if len(rows) == 0 {
		return fail(exitNotFound, "there is no context %q: run lamp login", firstOf(only, a.contextName(f)))
	}
	return a.show([]column{{"NAME", "name"}, {"API", "api"}, {"ORGANISATION", "organisation"}, {"USED", "used"}}, rows)
}

func (a *app) useContext(name string) error {
	f, err := a.readConfig()
	if err != nil {
		return err
	}
	if _, known := f.Contexts[name]; !known {
		return fail(exitNotFound, "there is no context %q: lamp context list shows them, and lamp login --context %s "+
			"makes one", name, name)
	}
	f.Current = name
	if err = a.writeConfig(f); err != nil {
		return err
	}
	a.say("lamp uses the context %s now.", name)
	return nil
}
