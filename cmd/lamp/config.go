package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"lamplighter.dev/shared/api/client"
)

// demoAddress is where `make run` serves.
const demoAddress = "http://127.0.0.1:8080"

// config is the file config.json: the contexts of the user. It holds no secret.
type config struct {
	Current  string           `json:"current"`
	Contexts map[string]place `json:"contexts"`
}

// place is where a context works.
type place struct {
	API          string `json:"api"`
	Organisation string `json:"organisation"` // id
	Name         string `json:"name"`         // of the organization
}

// folder returns the folder of lamp's files.
func (a *app) folder() (string, error) {
	if dir := a.env("LAMPLIGHTER_CONFIG_DIR"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the folder of your settings: %w: name one in LAMPLIGHTER_CONFIG_DIR", err)
	}
	return filepath.Join(dir, "lamplighter"), nil
}

func (a *app) configFile() (client.PrivateFile, error) {
	dir, err := a.folder()
	return client.PrivateFile{Path: filepath.Join(dir, "config.json"), WayOut: "sign in again with lamp login"}, err
}

func (a *app) credentialsFile() (client.CredentialsFile, error) {
	dir, err := a.folder()
	return client.CredentialsFile{PrivateFile: client.PrivateFile{
		Path: filepath.Join(dir, "credentials.json"), WayOut: "sign in again with lamp login",
	}, Clock: a.clock}, err
}

// readConfig returns the contexts; there are none before the first login.
func (a *app) readConfig() (config, error) {
	var c config
	f, err := a.configFile()
	if err != nil {
		return c, err
	}
	if err = f.Read(&c); err != nil && !client.IsMissing(err) {
		return c, &exitError{exitSignedOut, err}
	}
	if c.Contexts == nil {
		c.Contexts = map[string]place{}
	}
	return c, nil
}

func (a *app) writeConfig(c config) error {
	f, err := a.configFile()
	if err != nil {
		return err
	}
	return f.Write(c)
}

// contextName returns the context to use: of the flag, the environment or the file.
func (a *app) contextName(c config) string {
	for _, name := range []string{a.context, a.env("LAMPLIGHTER_CONTEXT"), c.Current} {
		if name != "" {
			return name
		}
	}
	return "default"
}

// client returns a client of the context's service, with the context's credential or the environment's.
func (a *app) client() (*client.Client, error) {
	c, err := a.readConfig()
	if err != nil {
		return nil, err
	}
	name := a.contextName(c)
	at, known := c.Contexts[name]
	api := a.env("LAMPLIGHTER_API")
	if token := a.env("LAMPLIGHTER_TOKEN"); token != "" {
		if api == "" || api == at.API {
			return a.newClient(at.API, at.Organisation, client.Static(token))
		}
		return a.newClient(api, "", client.Static(token)) // the organization of the context belongs to another service
	}
	if !known {
		return nil, fail(exitSignedOut, "you are not signed in: the context is %q: run lamp login", name)
	}
	f, err := a.credentialsFile()
	if err != nil {
		return nil, err
	}
	own, err := f.Get(name)
	if err != nil {
		return nil, &exitError{exitSignedOut, err}
	}
	if api == "" {
		api = own.Address
	}
	switch {
	case own.Access == "":
		return nil, fail(exitSignedOut, "you are not signed in: the context is %q: run lamp login", name)
	case api != own.Address:
		return nil, fail(exitSignedOut, "LAMPLIGHTER_API is %s, and the context %q is signed in at %s: set "+
			"LAMPLIGHTER_TOKEN too, or run lamp login --api %s", api, name, own.Address, api)
	}
	return a.newClient(api, at.Organisation, f.Of(name))
}

func (a *app) newClient(api, organisation string, tokens client.TokenStore) (*client.Client, error) {
	if api == "" {
		return nil, misused("there is no address of a service: set LAMPLIGHTER_API, or run lamp login --api URL")
	}
	c, err := client.New(client.Options{
		Address: api, Tokens: tokens, Organisation: organisation, UserAgent: "lamp/" + versionText(),
		Notice: func(s string) { a.say("%s", s) }, Clock: a.clock, Transport: a.transport,
	})
	if err != nil {
		return nil, &exitError{exitMisused, err}
	}
	return c, nil
}

// maxSkew is how far the machine's clock may be off before lamp says so.
const maxSkew = time.Minute

// warnOfClock says that the machine's clock is wrong, if the service's differs: times such as 20:00 are computed by the
// service's clock.
func (a *app) warnOfClock(c *client.Client) {
	if off := c.Skew(); off.Abs() > maxSkew {
		a.say("The clock of this machine is off by %s; lamp goes by the service's clock.", off.Abs())
	}
}

// errNothingDone completes the errors of acts that were not begun.
var errNothingDone = errors.New("nothing was done")
