package platform

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/secretsmanager"
	"lamplighter.dev/shared/foundation/clock"
)

// Secret is a secret of the installation, by the variable of `lamplighter serve` that holds it. In AWS no variable
// holds it: the variable <Secret>_FROM names it in Secrets Manager, and the functions that declare it read it at their
// start.
type Secret string

// The secrets of an installation.
//
//nolint:gosec // names of variables
const (
	PepperSecret       Secret = "LAMPLIGHTER_PEPPER" // required
	GoogleSecret       Secret = "LAMPLIGHTER_GOOGLE_CLIENT_SECRET"
	GitHubSecret       Secret = "LAMPLIGHTER_GITHUB_CLIENT_SECRET"
	GoogleCloudSecret  Secret = "LAMPLIGHTER_GCP_CLIENT_SECRET"
	GooglePricesSecret Secret = "LAMPLIGHTER_GOOGLE_PRICES_KEY"
	MailServerSecret   Secret = "LAMPLIGHTER_SMTP_URL"
)

// Secrets are all secrets.
var Secrets = []Secret{
	PepperSecret, GoogleSecret, GitHubSecret, GoogleCloudSecret, GooglePricesSecret, MailServerSecret,
}

// From returns the variable that names the secret in Secrets Manager, by name or ARN. It is empty where an optional
// secret is not used.
func (s Secret) From() string { return string(s) + "_FROM" }

// secretsTimeout limits the reading of all secrets of a function. Lambda gives a start ten seconds.
const secretsTimeout = 8 * time.Second

// localVariable is set to "true" in containers of `sam local`, which have no Secrets Manager. There, and only there,
// the variables <Secret>_FROM hold the secrets themselves: `sam local` sets only variables that the template has.
const localVariable = "AWS_SAM_LOCAL"

// readSecrets returns getenv with the declared secrets, read from Secrets Manager, as values of their variables. The
// other secrets are empty. It returns an error for a secret in the environment, because whoever may look at a
// function's configuration reads it there.
func readSecrets(declared []Secret, getenv func(string) string) (func(string) string, error) {
	if err := refuseSecretsInEnvironment(getenv); err != nil {
		return nil, err
	}
	read := secretsmanager.New(AWS(getenv), clock.System{}).Read
	if getenv(localVariable) == "true" {
		read = func(_ context.Context, text string) (string, error) { return text, nil }
	}
	ctx, cancel := context.WithTimeout(context.Background(), secretsTimeout)
	defer cancel()
	values := map[string]string{}
	for _, s := range declared {
		id := getenv(s.From())
		if id == "" {
			continue
		}
		text, err := read(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("the secret that %s names: %w", s.From(), err)
		}
		values[string(s)] = strings.TrimSpace(text)
	}
	return func(name string) string {
		if v, ok := values[name]; ok {
			return v
		}
		return getenv(name)
	}, nil
}

// refuseSecretsInEnvironment returns an error that names the variables that hold a secret.
func refuseSecretsInEnvironment(getenv func(string) string) error {
	var errs []error
	for _, s := range Secrets {
		if getenv(string(s)) != "" {
			errs = append(errs, fmt.Errorf("the variable %s holds a secret: store it in Secrets Manager and name it "+
				"in %s", s, s.From()))
		}
	}
	return errors.Join(errs...)
}
