package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"lamplighter.dev/shared/api/client"
)

const (
	demoEmail        = "demo@lamplighter.example"
	demoPasswordFile = ".lamplighter/demo-password" //nolint:gosec // the name of a file
)

// login is a sign-in, from the flags.
type login struct {
	a                  *app
	api, email, code   string
	organisation       string
	tokenStdin, isDemo bool
}

func (a *app) loginCommand() *cobra.Command {
	l := &login{a: a}
	c := &cobra.Command{
		Use: "login", Short: "Sign in with a password, or keep a personal access token", Args: cobra.NoArgs,
		Long: "Sign in. The password, or with --token-stdin a personal access token, is asked for, or read from " +
			"standard input\nif there is no terminal. The credentials are kept in a file that only you may read.",
		Example: "  lamp login --demo                 # beside a service of make run\n" +
			"  lamp login --api https://lamplighter.example.com --email ada@example.com\n" +
			"  lamp login --api https://lamplighter.example.com --token-stdin < token",
		RunE: func(c *cobra.Command, _ []string) error { return l.run(c.Context()) },
	}
	c.Flags().StringVar(&l.api, "api", "", "address of the service; by default that of the context, else "+demoAddress)
	c.Flags().StringVar(&l.email, "email", "", "your address")
	c.Flags().StringVar(&l.code, "code", "", "a code of your second factor")
	c.Flags().StringVar(&l.organisation, "organisation", "", "the organization to work in: its name or id")
	c.Flags().BoolVar(&l.tokenStdin, "token-stdin", false, "use a personal access token, from standard input")
	c.Flags().BoolVar(&l.isDemo, "demo", false, "use the demo login of make run, in its folder")
	c.MarkFlagsMutuallyExclusive("email", "token-stdin", "demo")
	return c
}

func (l *login) run(ctx context.Context) error {
	c, err := l.a.readConfig()
	if err != nil {
		return err
	}
	name := l.a.contextName(c)
	if l.api == "" {
		l.api = firstOf(c.Contexts[name].API, demoAddress)
	}
	base, err := client.ParseAddress(l.api)
	if err != nil {
		return &exitError{exitMisused, err}
	}
	if l.api = base.String(); base.Scheme == "http" && !client.IsLoopback(base) {
		l.a.say("Warning: %s is not encrypted: others on the way can read your credentials.", l.api)
	}
	own, at, err := l.signIn(ctx)
	if err != nil {
		return err
	}
	f, err := l.a.credentialsFile()
	if err != nil {
		return err
	}
	err = f.Change(ctx, name, func(client.Credential) (client.Credential, error) { return own, nil })
	if err != nil {
		return err
	}
	c.Current, c.Contexts[name] = name, at
	if err = l.a.writeConfig(c); err != nil {
		return err
	}
	l.a.say("Signed in at %s as %s, in %s (context %s).", at.API, own.Email, firstOf(at.Name, "no organization"), name)
	return nil
}

// signIn returns the credential and the place of the context.
func (l *login) signIn(ctx context.Context) (client.Credential, place, error) {
	if l.tokenStdin {
		return l.byToken(ctx)
	}
	s, err := l.byPassword(ctx)
	if err != nil {
		return client.Credential{}, place{}, err
	}
	at := place{API: l.api}
	if len(s.Tenants) > 0 {
		at.Organisation, at.Name = s.Tenants[0].ID, s.Tenants[0].Name
	}
	if l.organisation != "" {
		if s, at, err = l.move(ctx, s); err != nil {
			return client.Credential{}, place{}, err
		}
	}
	return client.Credential{Tokens: s.Tokens(), Address: l.api, Email: s.User.Email}, at, nil
}

func (l *login) byPassword(ctx context.Context) (client.Session, error) {
	who, err := l.credentials()
	if err != nil {
		return client.Session{}, err
	}
	c, err := l.a.newClient(l.api, "", client.Static(""))
	if err != nil {
		return client.Session{}, err
	}
	s, err := c.LogIn(ctx, who)
	if client.NeedsCode(err) && l.a.asks && l.code == "" {
		if who.Code, err = l.a.ask("Code of your second factor: "); err != nil {
			return s, err
		}
		s, err = c.LogIn(ctx, who)
	}
	if client.NeedsCode(err) {
		return s, fmt.Errorf("%w: add --code", err)
	}
	return s, err
}

// credentials returns the address and the password, of the demo, the terminal or standard input.
func (l *login) credentials() (client.Credentials, error) {
	if l.isDemo {
		b, err := os.ReadFile(filepath.FromSlash(demoPasswordFile))
		if err != nil {
			return client.Credentials{}, misused("read the demo's password: %w: run lamp login --demo in the folder "+
				"in which make run runs", err)
		}
		return client.Credentials{Email: demoEmail, Password: strings.TrimSpace(string(b))}, nil
	}
	if l.email == "" && l.a.asks {
		var err error
		if l.email, err = l.a.ask("Your address: "); err != nil {
			return client.Credentials{}, err
		}
	}
	if l.email == "" {
		return client.Credentials{}, misused("there is nobody to sign in: add --email, --token-stdin or --demo")
	}
	password, err := l.a.secret("Password: ")
	return client.Credentials{Email: l.email, Password: password, Code: l.code}, err
}

// byToken checks a personal access token and returns it.
func (l *login) byToken(ctx context.Context) (client.Credential, place, error) {
	token, err := l.a.secret("Personal access token: ")
	if err != nil {
		return client.Credential{}, place{}, err
	}
	own := client.Credential{Tokens: client.Tokens{Access: token}, Address: l.api}
	c, err := l.a.newClient(l.api, "", client.Static(token))
	if err != nil {
		return own, place{}, err
	}
	var me client.User
	if err = c.Call(ctx, client.Request{Method: http.MethodGet, Path: "/users/me"}, &me); err != nil {
		return own, place{}, err
	}
	own.Email = me.Email
	var all []client.Organisation
	err = c.Call(ctx, client.Request{Method: http.MethodGet, Path: "/organisations"}, &all)
	if err != nil || len(all) == 0 {
		return own, place{API: l.api}, err
	}
	chosen := all[0]
	if l.organisation != "" {
		chosen, err = pickOrganisation(all, l.organisation)
	}
	return own, place{API: l.api, Organisation: chosen.ID, Name: chosen.Name}, err
}

// move moves a session to the requested organization.
func (l *login) move(ctx context.Context, s client.Session) (client.Session, place, error) {
	to, err := pickOrganisation(s.Tenants, l.organisation)
	if err != nil {
		return s, place{}, err
	}
	at := place{API: l.api, Organisation: to.ID, Name: to.Name}
	if to.ID == s.Tenants[0].ID {
		return s, at, nil
	}
	c, err := l.a.newClient(l.api, "", client.Static(""))
	if err != nil {
		return s, at, err
	}
	moved, err := c.Refresh(ctx, s.RefreshToken, to.ID)
	return moved, at, err
}

// pickOrganisation returns the organization with the id or name.
func pickOrganisation(all []client.Organisation, wanted string) (client.Organisation, error) {
	var found []client.Organisation
	for _, o := range all {
		if o.ID == wanted {
			return o, nil
		}
		if strings.EqualFold(o.Name, wanted) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return client.Organisation{}, fail(exitNotFound, "you have no organization %q", wanted)
	}
	return client.Organisation{}, misused("%d of your organizations are named %q: give the id", len(found), wanted)
}

// secret asks for a secret without showing it, or reads it from standard input.
func (a *app) secret(question string) (string, error) {
	if !a.asks {
		return a.line()
	}
	fmt.Fprint(a.err, question)
	s, err := a.readSecret(a.interrupted)
	fmt.Fprintln(a.err)
	return strings.TrimSpace(s), err
}

// ask asks the user for a line.
func (a *app) ask(question string) (string, error) {
	fmt.Fprint(a.err, question)
	return a.line()
}

func (a *app) line() (string, error) {
	if a.lines == nil {
		a.lines = bufio.NewReader(a.in)
	}
	s, err := await(a.interrupted, func() (string, error) { return a.lines.ReadString('\n') })
	if s = strings.TrimSpace(s); s != "" {
		return s, nil
	}
	if errors.Is(err, io.EOF) {
		return "", misused("standard input is empty")
	}
	return "", err
}

// await calls read, and gives it up at an interruption.
func await(interrupted <-chan struct{}, read func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := read()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-interrupted:
		return "", context.Canceled
	}
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}
