package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"lamplighter.dev/shared/api/client"
)

func (a *app) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout", Short: "End the session of the context", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.logOut(c.Context()) },
	}
}

// logOut ends the session at the service, and forgets it here even if the service does not answer.
func (a *app) logOut(ctx context.Context) error {
	c, err := a.readConfig()
	if err != nil {
		return err
	}
	name := a.contextName(c)
	f, err := a.credentialsFile()
	if err != nil {
		return err
	}
	own, err := f.Get(name)
	if err != nil {
		return &exitError{exitSignedOut, err}
	}
	var ended error
	if own.Refresh != "" {
		ended = a.endSession(ctx, own.Address, f.Of(name))
	}
	err = f.Change(ctx, name, func(client.Credential) (client.Credential, error) { return client.Credential{}, nil })
	if err = errors.Join(ended, err); err != nil {
		return err
	}
	a.say("Signed out of the context %s.", name)
	if own.Access != "" && own.Refresh == "" {
		a.say("The personal access token stays valid: revoke it with DELETE /personal-access-tokens/{tokenID}.")
	}
	return nil
}

func (a *app) endSession(ctx context.Context, api string, tokens client.TokenStore) error {
	c, err := a.newClient(api, "", tokens)
	if err != nil {
		return err
	}
	if err = c.LogOut(ctx); errors.Is(err, client.ErrSignedOut) { // it has ended already
		return nil
	}
	return err
}
