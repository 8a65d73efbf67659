package platform

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/seal"
)

// OpenLambda returns the platform of the Lambda function d, restricted to its declaration. It reads the environment set
// by template.yaml and the secrets that d declares, and limits the Go runtime to the function's memory. It makes no
// other call, so that a cold start stays fast. If variables or secrets are missing, it logs all missing variables, or
// the secret, on one line and exits, which Lambda reports as a failed start.
func OpenLambda(d Declaration, parts ...Part) *Platform {
	limitMemory(os.Getenv)
	p, err := FromEnvironment(d.Secrets, os.Getenv, parts...)
	if err != nil {
		JSONLog(os.Stderr).Error("the function cannot start", "error", strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
	p.Own(d)
	return p
}

// Part adds a component that only some functions use to a platform, from variables that getenv reads. Other functions
// do not link it.
type Part func(p *Platform, getenv func(string) string) error

// WithTokens adds signing and verifying of access tokens.
func WithTokens(p *Platform, getenv func(string) string) error {
	ring, err := token.NewKMSKeys(AWS(getenv), p.Clock, splitList(getenv("LAMPLIGHTER_SIGNING_KEYS"))...)
	if err != nil {
		return fmt.Errorf("the variable LAMPLIGHTER_SIGNING_KEYS: %w", err)
	}
	issuer := p.Settings.BaseURL
	if issuer == "" { // until a domain is known, tokens have the stage as issuer
		issuer = "lamplighter-" + p.Settings.Stage
	}
	p.Tokens = token.NewJWTs(ring, issuer, p.Clock)
	return nil
}

// WithAnchorKeys adds the keys that sign the anchors of the audit log: those of LAMPLIGHTER_ANCHOR_KEYS, written as
// LAMPLIGHTER_SIGNING_KEYS.
func WithAnchorKeys(p *Platform, getenv func(string) string) error {
	if err := requireVariables(getenv, "LAMPLIGHTER_ANCHOR_KEYS"); err != nil {
		return err
	}
	ring, err := token.NewKMSKeys(AWS(getenv), p.Clock, splitList(getenv("LAMPLIGHTER_ANCHOR_KEYS"))...)
	if err != nil {
		return fmt.Errorf("the variable LAMPLIGHTER_ANCHOR_KEYS: %w", err)
	}
	p.AnchorKeys = token.NewDocuments(ring)
	return nil
}

// FromEnvironment returns the platform configured by the variables that getenv reads, with the given secrets, which it
// reads from Secrets Manager. The table, the stage, and what separates installations (pepper, keys) are required and
// have no default; the pepper only if it is among the secrets. Other missing settings are refused where they are used.
//
//	LAMPLIGHTER_TABLE             name of the DynamoDB table
//	LAMPLIGHTER_STAGE             dev, staging, prod
//	LAMPLIGHTER_EPOCH             time of the table's last restore, RFC 3339; empty: never
//	LAMPLIGHTER_PEPPER_FROM       secret in Secrets Manager: key of the hashes of codes, refresh tokens, kept answers
//	LAMPLIGHTER_…_FROM            the other secrets, by name or ARN (Secret); empty: not used
//	LAMPLIGHTER_VERSION           running version
//	LAMPLIGHTER_BASE_URL          address of the API for clients
//	LAMPLIGHTER_FUNCTION_PREFIX   prefix of the names of worker functions
//	LAMPLIGHTER_MACHINE_PREFIX    prefix of the ARNs of state machines
//	LAMPLIGHTER_MACHINES          names of state machines, comma-separated
//	LAMPLIGHTER_SECRETS_KEY       ARN of the KMS key of sealed secrets; after a comma, older keys that still open them
//	LAMPLIGHTER_SIGNING_KEYS      ARNs of the KMS keys of access tokens, comma list; <ARN>@<time> signs from then on
//	LAMPLIGHTER_CUSTOM_ENDPOINTS  "true": accounts may have an endpointURL
//	LAMPLIGHTER_PRIVATE_ADDRESSES "true": addresses given by users may be private, and http
//	LAMPLIGHTER_CHAT_HOSTS        more hosts of chats, comma list: chat.example.com, or .example.com for all below
//	LAMPLIGHTER_SIMULATED         "true": accounts of the provider simulated are accepted
//	LAMPLIGHTER_PRINCIPAL         principal that assumes customers' roles: an account number, or an ARN
//	LAMPLIGHTER_CLOUDS_ROLE       ARN of the role that opens accounts of customers; empty: the function's own role
//	LAMPLIGHTER_TOKEN_ISSUER      address of the issuer of that role's tokens for other clouds
//	LAMPLIGHTER_ROLE_TEMPLATE_URL address of the template of the role that customers create in AWS: an object in S3
//
// It also reads the variables of ReadOAuthClients and ReadGoogleCloudClient, and those of AWS: AWS_REGION,
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_ENDPOINT_URL.
func FromEnvironment(secrets []Secret, getenv func(string) string, parts ...Part) (*Platform, error) {
	if err := checkComplete(secrets, getenv); err != nil {
		return nil, err
	}
	getenv, err := readSecrets(secrets, getenv)
	if err != nil {
		return nil, err
	}
	if err = checkPepper(getenv(string(PepperSecret))); err != nil {
		return nil, err
	}
	google, github, cloud, err := readClients(secrets, getenv)
	if err != nil {
		return nil, err
	}
	cfg, clk := AWS(getenv), clock.System{}
	epoch, err := ParseEpoch(getenv("LAMPLIGHTER_EPOCH"), clk.Now())
	if err != nil {
		return nil, fmt.Errorf("the variable LAMPLIGHTER_EPOCH: %w", err)
	}
	base := getenv("LAMPLIGHTER_BASE_URL")
	if base == "" && google.ID+github.ID+cloud.ID != "" {
		return nil, errors.New("the variable LAMPLIGHTER_BASE_URL is not set: identity providers need it to " +
			"send users back")
	}
	p := &Platform{
		Table: table.Fenced(table.NewLambdaDynamoDB(readRemote(getenv))),
		Clock: clk,
		Workflow: workflow.InAWS(cfg, getenv("LAMPLIGHTER_MACHINE_PREFIX"),
			splitList(getenv("LAMPLIGHTER_MACHINES"))...),
		Workers:  lambdacall.NewLambda(cfg, getenv("LAMPLIGHTER_FUNCTION_PREFIX"), clk),
		Sealer:   seal.NewEnvelope(seal.NewKMS(cfg, splitList(getenv("LAMPLIGHTER_SECRETS_KEY"))...)),
		Resolver: net.DefaultResolver,
		Log:      JSONLog(os.Stdout),
		Settings: Settings{
			Version: getenv("LAMPLIGHTER_VERSION"), Stage: getenv("LAMPLIGHTER_STAGE"), BaseURL: base,
			Pepper: pepperOf(secrets, getenv), Epoch: epoch,
			Simulated:        getenv("LAMPLIGHTER_SIMULATED") == "true",
			CustomEndpoints:  getenv("LAMPLIGHTER_CUSTOM_ENDPOINTS") == "true",
			PrivateAddresses: getenv("LAMPLIGHTER_PRIVATE_ADDRESSES") == "true",
			ChatHosts:        splitList(strings.ToLower(getenv("LAMPLIGHTER_CHAT_HOSTS"))),
			Principal:        getenv("LAMPLIGHTER_PRINCIPAL"),
			CloudsRole:       getenv("LAMPLIGHTER_CLOUDS_ROLE"),
			TokenIssuer:      getenv("LAMPLIGHTER_TOKEN_ISSUER"),
			Google:           google, GitHub: github, GoogleCloud: cloud,
			RoleTemplateURL: getenv("LAMPLIGHTER_ROLE_TEMPLATE_URL"),
			GooglePricesKey: getenv(string(GooglePricesSecret)),
			MailServer:      getenv(string(MailServerSecret)),
		},
	}
	for _, add := range parts {
		if err = add(p, getenv); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// checkComplete returns an error that names all missing variables.
func checkComplete(secrets []Secret, getenv func(string) string) error {
	required := []string{
		"LAMPLIGHTER_TABLE", "LAMPLIGHTER_STAGE", "LAMPLIGHTER_SECRETS_KEY", "LAMPLIGHTER_SIGNING_KEYS", "AWS_REGION",
	}
	if slices.Contains(secrets, PepperSecret) {
		required = append(required, PepperSecret.From())
	}
	return requireVariables(getenv, required...)
}

// checkPepper returns an error for a pepper that is too short, and for an unresolved reference to a secret. A function
// that does not declare the pepper has none.
func checkPepper(pepper string) error {
	const shortest = 32
	switch {
	case strings.HasPrefix(pepper, "{{"):
		return errors.New("the pepper is a reference to a secret, not the secret")
	case pepper != "" && len(pepper) < shortest:
		return fmt.Errorf("the pepper has %d bytes; it must have at least %d random bytes", len(pepper), shortest)
	default:
		return nil
	}
}

// pepperOf returns the pepper. A function that does not declare it gets random bytes: a hash that it makes by mistake
// matches no stored one, and cannot be forged.
func pepperOf(secrets []Secret, getenv func(string) string) []byte {
	if slices.Contains(secrets, PepperSecret) {
		return []byte(getenv(string(PepperSecret)))
	}
	random := make([]byte, sha256.Size)
	rand.Read(random) //nolint:errcheck // crypto/rand never fails
	return random
}

// readClients returns the registrations whose secrets are among the given ones.
func readClients(secrets []Secret, getenv func(string) string) (google, github, cloud Client, err error) {
	if slices.Contains(secrets, GoogleSecret) || slices.Contains(secrets, GitHubSecret) {
		if google, github, err = ReadOAuthClients(getenv); err != nil {
			return google, github, cloud, err
		}
	}
	if slices.Contains(secrets, GoogleCloudSecret) {
		cloud, err = ReadGoogleCloudClient(getenv)
	}
	return google, github, cloud, err
}

// requireVariables returns an error that names all missing variables.
func requireVariables(getenv func(string) string, names ...string) error {
	var errs []error
	for _, n := range names {
		if getenv(n) == "" {
			errs = append(errs, fmt.Errorf("the variable %s is not set", n))
		}
	}
	return errors.Join(errs...)
}

// AWS returns the configuration for this service's own account, from AWS's variables. It does not link the SDK's own
// loader: a Lambda's credentials are always in its environment, and reading profiles, SSO and metadata would add
// megabytes to the function and milliseconds to every start.
func AWS(getenv func(string) string) aws.Config {
	cfg := aws.Config{
		Region: getenv("AWS_REGION"),
		Credentials: credentials.NewStaticCredentialsProvider(getenv("AWS_ACCESS_KEY_ID"),
			getenv("AWS_SECRET_ACCESS_KEY"), getenv("AWS_SESSION_TOKEN")),
	}
	if url := getenv("AWS_ENDPOINT_URL"); url != "" {
		cfg.BaseEndpoint = &url
	}
	return cfg
}

func readRemote(getenv func(string) string) table.Remote {
	return table.Remote{
		Table: getenv("LAMPLIGHTER_TABLE"), Region: getenv("AWS_REGION"), Endpoint: getenv("AWS_ENDPOINT_URL"),
		KeyID: getenv("AWS_ACCESS_KEY_ID"), Secret: getenv("AWS_SECRET_ACCESS_KEY"),
		Session: getenv("AWS_SESSION_TOKEN"),
	}
}

func splitList(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}
