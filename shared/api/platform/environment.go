package platform

import (
	"errors"
	"fmt"
	"net"
	"os"
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

// OpenLambda returns the platform of the Lambda that is the function d, confined to what d declares, from the environment that
// infra/shared.yaml and infra/stacks/*.yaml give it, with the memory that it has as the limit of the runtime. It makes no call, so
// that it adds little to a cold start. An environment that lacks something ends the process with a line that names all of it: Lambda
// then reports a failed start.
func OpenLambda(d Declaration, parts ...Part) *Platform {
	limitMemory(os.Getenv)
	p, err := FromEnvironment(os.Getenv, parts...)
	if err != nil {
		JSONLog(os.Stderr).Error("the function cannot start", "error", err.Error())
		os.Exit(1)
	}
	p.Own(d)
	return p
}

// Part adds to a platform, from the variables that getenv reads, what only some functions use: the others do not link it.
type Part func(p *Platform, getenv func(string) string) error

// WithTokens lets a function sign and verify access tokens.
func WithTokens(p *Platform, getenv func(string) string) error {
	ring, err := token.NewKMSKeys(AWS(getenv), p.Clock, list(getenv("LAMPLIGHTER_SIGNING_KEYS"))...)
	if err != nil {
		return fmt.Errorf("the variable LAMPLIGHTER_SIGNING_KEYS: %w", err)
	}
	issuer := p.Settings.BaseURL
	if issuer == "" { // until a domain is known, tokens are those of the stage
		issuer = "lamplighter-" + p.Settings.Stage
	}
	p.Tokens = token.NewJWTs(ring, issuer, p.Clock)
	return nil
}

// FromEnvironment is the platform that the variables describe which getenv reads. What keeps secrets and tokens apart from
// everybody (pepper, keys) has to be there, like the table and the stage: nothing has a default that others know. What
// else is not there is refused where it is used.
//
//	LAMPLIGHTER_TABLE             name of the DynamoDB table
//	LAMPLIGHTER_STAGE             dev, staging, prod
//	LAMPLIGHTER_EPOCH             when the table was last restored, RFC 3339; empty: never
//	LAMPLIGHTER_PEPPER            keys the hashes of codes, refresh tokens and kept answers
//	LAMPLIGHTER_VERSION           what runs
//	LAMPLIGHTER_BASE_URL          where clients reach the API
//	LAMPLIGHTER_FUNCTION_PREFIX   begins the names of worker functions
//	LAMPLIGHTER_MACHINE_PREFIX    begins the ARNs of state machines
//	LAMPLIGHTER_MACHINES          their names, comma list
//	LAMPLIGHTER_SECRETS_KEY       ARN of the KMS key of sealed secrets; after a comma, others that opened them before
//	LAMPLIGHTER_SIGNING_KEYS      ARNs of the KMS keys of access tokens, comma list; <ARN>@<time> signs from then on
//	LAMPLIGHTER_CUSTOM_ENDPOINTS  "true": accounts may name an endpointURL
//	LAMPLIGHTER_PRIVATE_ADDRESSES "true": addresses that users give may be private, and http
//	LAMPLIGHTER_CHAT_HOSTS        where chats take messages besides their vendors: chat.example.com, or .example.com for all below; comma list
//	LAMPLIGHTER_SIMULATED         "true": accounts of provider simulated are accepted
//	LAMPLIGHTER_PRINCIPAL         who assumes customers' roles: our account number, or an ARN
//	LAMPLIGHTER_CLOUDS_ROLE       ARN of the role that assumes them; empty: the function's own
//	LAMPLIGHTER_TOKEN_ISSUER      the address of the issuer of its tokens, for other clouds
//	LAMPLIGHTER_ROLE_TEMPLATE_URL where the template of the role that customers make in AWS is published: an object in S3
//
// those of Clients, and AWS's own: AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_ENDPOINT_URL.
func FromEnvironment(getenv func(string) string, parts ...Part) (*Platform, error) {
	if err := complete(getenv); err != nil {
		return nil, err
	}
	google, github, err := ReadOAuthClients(getenv)
	if err != nil {
		return nil, err
	}
	cloud, err := ReadGoogleCloudClient(getenv)
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
		return nil, errors.New("the variable LAMPLIGHTER_BASE_URL is not set: it is where identity providers send " +
			"people back to")
	}
	p := &Platform{
		Table:    table.Fenced(table.NewLambdaDynamoDB(remote(getenv))),
		Clock:    clk,
		Workflow: workflow.InAWS(cfg, getenv("LAMPLIGHTER_MACHINE_PREFIX"), list(getenv("LAMPLIGHTER_MACHINES"))...),
		Workers:  lambdacall.NewLambda(cfg, getenv("LAMPLIGHTER_FUNCTION_PREFIX"), clk),
		Sealer:   seal.NewEnvelope(seal.NewKMS(cfg, list(getenv("LAMPLIGHTER_SECRETS_KEY"))...)),
		Resolver: net.DefaultResolver,
		Log:      JSONLog(os.Stdout),
		Settings: Settings{
			Version: getenv("LAMPLIGHTER_VERSION"), Stage: getenv("LAMPLIGHTER_STAGE"), BaseURL: base,
			Pepper: []byte(getenv("LAMPLIGHTER_PEPPER")), Epoch: epoch,
			Simulated:        getenv("LAMPLIGHTER_SIMULATED") == "true",
			CustomEndpoints:  getenv("LAMPLIGHTER_CUSTOM_ENDPOINTS") == "true",
			PrivateAddresses: getenv("LAMPLIGHTER_PRIVATE_ADDRESSES") == "true",
			ChatHosts:        list(strings.ToLower(getenv("LAMPLIGHTER_CHAT_HOSTS"))),
			Principal:        getenv("LAMPLIGHTER_PRINCIPAL"),
			CloudsRole:       getenv("LAMPLIGHTER_CLOUDS_ROLE"),
			TokenIssuer:      getenv("LAMPLIGHTER_TOKEN_ISSUER"),
			Google:           google, GitHub: github, GoogleCloud: cloud,
			RoleTemplateURL: getenv("LAMPLIGHTER_ROLE_TEMPLATE_URL"),
			GooglePricesKey: getenv("LAMPLIGHTER_GOOGLE_PRICES_KEY"),
		},
	}
	for _, add := range parts {
		if err = add(p, getenv); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// complete tells all that is missing, and a pepper that would keep nothing apart.
func complete(getenv func(string) string) error {
	return errors.Join(
		demand(getenv, "LAMPLIGHTER_TABLE", "LAMPLIGHTER_STAGE", "LAMPLIGHTER_PEPPER", "LAMPLIGHTER_SECRETS_KEY",
			"LAMPLIGHTER_SIGNING_KEYS", "AWS_REGION"),
		checkPepper(getenv("LAMPLIGHTER_PEPPER")))
}

// checkPepper refuses one that can be guessed, and a reference to a secret that nobody has resolved.
func checkPepper(pepper string) error {
	const shortest = 32
	switch {
	case strings.HasPrefix(pepper, "{{"):
		return errors.New("the variable LAMPLIGHTER_PEPPER holds the reference to a secret, not the secret: deploy " +
			"the template by CloudFormation, which resolves it")
	case pepper != "" && len(pepper) < shortest:
		return fmt.Errorf("the variable LAMPLIGHTER_PEPPER has %d bytes, where %d random ones belong at least",
			len(pepper), shortest)
	default:
		return nil
	}
}

// demand names all variables that are missing at once.
func demand(getenv func(string) string, names ...string) error {
	var errs []error
	for _, n := range names {
		if getenv(n) == "" {
			errs = append(errs, fmt.Errorf("the variable %s is not set", n))
		}
	}
	return errors.Join(errs...)
}

// AWS returns how to reach our own account, from AWS's variables. The SDK's own loader is not linked: a Lambda's credentials
// are always in its environment, and reading profiles, SSO and metadata would cost megabytes and milliseconds of every
// start.
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

func remote(getenv func(string) string) table.Remote {
	return table.Remote{
		Table: getenv("LAMPLIGHTER_TABLE"), Region: getenv("AWS_REGION"), Endpoint: getenv("AWS_ENDPOINT_URL"),
		KeyID: getenv("AWS_ACCESS_KEY_ID"), Secret: getenv("AWS_SECRET_ACCESS_KEY"),
		Session: getenv("AWS_SESSION_TOKEN"),
	}
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}
