package client

import (
	"context"
	"maps"

	"lamplighter.dev/shared/foundation/clock"
)

// Credential is a session at one service.
type Credential struct {
	Tokens

	Address string `json:"api"`   // of the service that issued the tokens: they are sent nowhere else
	Email   string `json:"email"` // of the user
}

// CredentialsFile keeps the credentials of several contexts in one private file.
type CredentialsFile struct {
	PrivateFile

	Clock clock.Clock // nil is the machine's
}

// Get returns the credential of a context, or the zero value if there is none.
func (f CredentialsFile) Get(name string) (Credential, error) {
	all, err := f.read()
	return all[name], err
}

func (f CredentialsFile) read() (map[string]Credential, error) {
	all := map[string]Credential{}
	err := f.Read(&all)
	if IsMissing(err) {
		return all, nil
	}
	return all, err
}

// Change replaces the credential of a context by the one that change returns. The zero value removes it. Other
// processes that change the file wait.
func (f CredentialsFile) Change(
	ctx context.Context, name string, change func(Credential) (Credential, error),
) error {
	sleep := clock.System{}.Sleep
	if f.Clock != nil {
		sleep = f.Clock.Sleep
	}
	release, err := f.lock(ctx, sleep)
	if err != nil {
		return err
	}
	defer release()
	all, err := f.read()
	if err != nil {
		return err
	}
	before := maps.Clone(all)
	changed, err := change(all[name])
	if err != nil {
		return err
	}
	if all[name] = changed; changed == (Credential{}) {
		delete(all, name)
	}
	if maps.Equal(before, all) {
		return nil
	}
	return f.Write(all)
}

// Of returns the token store of a context.
func (f CredentialsFile) Of(name string) TokenStore { return contextTokens{f, name} }

// contextTokens is the token store of one context of a file.
type contextTokens struct {
	file CredentialsFile
	name string
}

// Load reads the tokens of the context.
func (s contextTokens) Load() (Tokens, error) {
	c, err := s.file.Get(s.name)
	return c.Tokens, err
}

// Update replaces the tokens of the context, under the lock of the file.
func (s contextTokens) Update(ctx context.Context, change func(Tokens) (Tokens, error)) error {
	return s.file.Change(ctx, s.name, func(c Credential) (Credential, error) {
		t, err := change(c.Tokens)
		c.Tokens = t
		return c, err
	})
}
