package platform

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// Client is how an identity provider at which people sign in knows us. Without an ID, the provider is off.
type Client struct {
	ID, Secret string
	Issuer     string // where the provider is, without a slash at the end
}

// Where the providers are, when nothing else is said.
const (
	GoogleIssuer = "https://accounts.google.com"
	GitHubIssuer = "https://github.com"
)

// ReadOAuthClients reads how Google and GitHub know us:
//
//	LAMPLIGHTER_GOOGLE_CLIENT_ID, LAMPLIGHTER_GOOGLE_CLIENT_SECRET   as registered there; empty is off
//	LAMPLIGHTER_GOOGLE_ISSUER                                        another issuer of OpenID Connect
//	LAMPLIGHTER_GITHUB_CLIENT_ID, LAMPLIGHTER_GITHUB_CLIENT_SECRET   as registered there; empty is off
//	LAMPLIGHTER_GITHUB_URL                                           a GitHub Enterprise Server
//
// What is half configured is an error.
func ReadOAuthClients(getenv func(string) string) (google, github Client, err error) {
	google, err = client(getenv, "LAMPLIGHTER_GOOGLE_CLIENT", cmp.Or(getenv("LAMPLIGHTER_GOOGLE_ISSUER"), GoogleIssuer))
	if err != nil {
		return google, github, err
	}
	github, err = client(getenv, "LAMPLIGHTER_GITHUB_CLIENT", cmp.Or(getenv("LAMPLIGHTER_GITHUB_URL"), GitHubIssuer))
	return google, github, err
}

// ReadGoogleCloudClient reads how Google knows us where people connect their projects by OAuth:
//
//	LAMPLIGHTER_GCP_CLIENT_ID, LAMPLIGHTER_GCP_CLIENT_SECRET   as registered there; empty is off
//	LAMPLIGHTER_GCP_ISSUER                                     another issuer, which lists projects too
//
// What is half configured is an error.
func ReadGoogleCloudClient(getenv func(string) string) (Client, error) {
	return client(getenv, "LAMPLIGHTER_GCP_CLIENT", cmp.Or(getenv("LAMPLIGHTER_GCP_ISSUER"), GoogleIssuer))
}

func client(getenv func(string) string, prefix, issuer string) (Client, error) {
	c := Client{getenv(prefix + "_ID"), getenv(prefix + "_SECRET"), strings.TrimSuffix(issuer, "/")}
	u, err := url.Parse(c.Issuer)
	switch {
	case c.ID == "" && c.Secret == "":
		return c, nil
	case c.ID == "" || c.Secret == "":
		return c, fmt.Errorf("of the variables %s_ID and %s_SECRET only one is set: set both, or none to switch the "+
			"provider off", prefix, prefix)
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" ||
		u.Fragment != "" || u.User != nil:
		return c, fmt.Errorf("the provider of %s_ID is at %q, which is no address", prefix, issuer)
	}
	return c, nil
}
