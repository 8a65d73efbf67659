package platform

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// Client is this service's registration at an identity provider for log-ins. Without an ID, the provider is not used.
type Client struct {
	ID, Secret string
	Issuer     string // address of the provider, without a trailing slash
}

// The default addresses of the providers.
const (
	GoogleIssuer = "https://accounts.google.com"
	GitHubIssuer = "https://github.com"
)

// ReadOAuthClients returns the registrations at Google and GitHub:
//
//	LAMPLIGHTER_GOOGLE_CLIENT_ID, LAMPLIGHTER_GOOGLE_CLIENT_SECRET   as registered there; empty means off
//	LAMPLIGHTER_GOOGLE_ISSUER                                        another issuer of OpenID Connect
//	LAMPLIGHTER_GITHUB_CLIENT_ID, LAMPLIGHTER_GITHUB_CLIENT_SECRET   as registered there; empty means off
//	LAMPLIGHTER_GITHUB_URL                                           a GitHub Enterprise Server
//
// It returns an error if only one variable of a pair is set.
func ReadOAuthClients(getenv func(string) string) (google, github Client, err error) {
	google, err = readClient(getenv, "LAMPLIGHTER_GOOGLE_CLIENT",
		cmp.Or(getenv("LAMPLIGHTER_GOOGLE_ISSUER"), GoogleIssuer))
	if err != nil {
		return google, github, err
	}
	github, err = readClient(getenv, "LAMPLIGHTER_GITHUB_CLIENT",
		cmp.Or(getenv("LAMPLIGHTER_GITHUB_URL"), GitHubIssuer))
	return google, github, err
}

// ReadGoogleCloudClient returns the registration at Google for connecting projects by OAuth:
//
//	LAMPLIGHTER_GCP_CLIENT_ID, LAMPLIGHTER_GCP_CLIENT_SECRET   as registered there; empty means off
//	LAMPLIGHTER_GCP_ISSUER                                     another issuer, which also lists projects
//
// It returns an error if only one variable of the pair is set.
func ReadGoogleCloudClient(getenv func(string) string) (Client, error) {
	return readClient(getenv, "LAMPLIGHTER_GCP_CLIENT", cmp.Or(getenv("LAMPLIGHTER_GCP_ISSUER"), GoogleIssuer))
}

func readClient(getenv func(string) string, prefix, issuer string) (Client, error) {
	c := Client{getenv(prefix + "_ID"), getenv(prefix + "_SECRET"), strings.TrimSuffix(issuer, "/")}
	u, err := url.Parse(c.Issuer)
	switch {
	case c.ID == "" && c.Secret == "":
		return c, nil
	case c.ID == "" || c.Secret == "":
		return c, fmt.Errorf("only one of the variables %s_ID and %s_SECRET is set: set both, or neither to switch "+
			"the provider off", prefix, prefix)
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" ||
		u.Fragment != "" || u.User != nil:
		return c, fmt.Errorf("the provider of %s_ID has the address %q, which is not an http or https address", prefix,
			issuer)
	}
	return c, nil
}
