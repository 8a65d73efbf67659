package aws

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
	"lamplighter.dev/shared/foundation/fault"
)

// sessionDuration is the maximum session of a role without further configuration.
const sessionDuration = time.Hour

var (
	regionName      = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$`)
	notInSession    = regexp.MustCompile(`[^\w+=,.@-]`)
	roleArn         = regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+$`)
	enabledStatuses = []string{"opt-in-not-required", "opted-in"}
)

// sdkConfig returns the configuration of an account, without credentials.
func (p *Provider) sdkConfig(a cloud.Account) sdk.Config {
	cfg := sdk.Config{
		Region:     p.homeRegion(a),
		HTTPClient: p.http,
		Retryer:    p.retryer,
		AppID:      "lamplighter",
		APIOptions: []func(*middleware.Stack) error{p.paceOf(a).addLimiter(accountOf(a))},
	}
	if a.EndpointURL != "" {
		cfg.BaseEndpoint, cfg.HTTPClient = &a.EndpointURL, p.guarded
	}
	return cfg
}

func (p *Provider) homeRegion(a cloud.Account) string {
	if len(a.Regions) > 0 {
		return a.Regions[0]
	}
	return p.options.HomeRegion
}

// retryer retries the errors that AWS marks as retryable. The SDK's own budget is switched off, because the limiter
// paces the calls. A lack of capacity comes as HTTP 500 but does not pass in seconds; an address that the guard
// refuses comes as a failed dial.
func (p *Provider) retryer() sdk.Retryer {
	final := retry.IsErrorRetryableFunc(func(err error) sdk.Ternary {
		if strings.HasPrefix(resource.CodeOf(err), "Insufficient") || fault.Is(err, fault.Invalid) {
			return sdk.FalseTernary
		}
		return sdk.UnknownTernary
	})
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = p.options.Attempts
		o.MaxBackoff = p.options.MaxBackoff
		o.Backoff = retry.NewExponentialJitterBackoff(p.options.MaxBackoff)
		o.RateLimiter = ratelimit.None
		o.Retryables = slices.Insert(slices.Clone(o.Retryables), 0, retry.IsErrorRetryable(final))
	})
}

// addCredentials adds the credentials of the account's authMethod.
func (p *Provider) addCredentials(cfg *sdk.Config, a cloud.Account) error {
	c := a.Credentials
	switch a.AuthMethod {
	case "static_keys":
		cfg.Credentials = credentials.NewStaticCredentialsProvider(c["accessKeyID"], c["secretAccessKey"], "")
		return given(c, "accessKeyID", "secretAccessKey")
	case "temporary_credentials":
		cfg.Credentials = credentials.NewStaticCredentialsProvider(c["accessKeyID"], c["secretAccessKey"],
			c["sessionToken"])
		return given(c, "accessKeyID", "secretAccessKey", "sessionToken")
	case "assume_role":
		cfg.Credentials = p.role(*cfg, a)
		return roleGiven(c)
	default:
		return cloud.ErrInvalid("authMethod %q is not one of static_keys, temporary_credentials, assume_role",
			a.AuthMethod)
	}
}

func given(c map[string]string, names ...string) error {
	for _, n := range names {
		if c[n] == "" {
			return cloud.ErrInvalid("credentials.%s is missing", n)
		}
	}
	return nil
}

func roleGiven(c map[string]string) error {
	if err := given(c, "roleArn", "externalID"); err != nil {
		return err
	}
	if !roleArn.MatchString(c["roleArn"]) {
		return cloud.ErrInvalid("credentials.roleArn %q is not the ARN of a role", c["roleArn"])
	}
	return nil
}

// role returns credentials of the customer's role, assumed with the external id that this service has issued.
func (p *Provider) role(cfg sdk.Config, a cloud.Account) sdk.CredentialsProvider {
	cfg.Credentials = p.base(a)
	return sdk.NewCredentialsCache(stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), a.Credentials["roleArn"],
		func(o *stscreds.AssumeRoleOptions) {
			o.RoleSessionName = sessionName(a)
			o.ExternalID = sdk.String(a.Credentials["externalID"])
			o.Duration = sessionDuration
		}))
}

// ownRole assumes the role that all functions of this service use with accounts. Other clouds know this service by
// that role's ARN.
func (p *Provider) ownRole(arn string) sdk.CredentialsProvider {
	cfg := p.sdkConfig(cloud.Account{ID: "self"})
	cfg.Credentials = p.options.Base
	return sdk.NewCredentialsCache(stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), arn,
		func(o *stscreds.AssumeRoleOptions) { o.RoleSessionName, o.Duration = "lamplighter", sessionDuration }))
}

// sessionName returns the name of a role session. It shows in the customer's CloudTrail the organization and the
// account that the role was assumed for.
func sessionName(a cloud.Account) string {
	s := notInSession.ReplaceAllString("lamplighter-"+a.Org+"-"+a.ID, "-")
	return s[:min(len(s), 64)]
}

// base returns this service's own identity. A custom endpoint gets a placeholder: our identity is only for AWS.
func (p *Provider) base(a cloud.Account) sdk.CredentialsProvider {
	if a.EndpointURL != "" {
		return credentials.NewStaticCredentialsProvider("lamplighter", "lamplighter", "")
	}
	return p.self
}

// environment is the identity that the process was started with. It is looked up at its first use.
type environment struct {
	once sync.Once
	from sdk.CredentialsProvider
	err  error
}

// Retrieve returns the environment's credentials. Without credentials the error is class Refused, because the account
// cannot be opened.
func (e *environment) Retrieve(ctx context.Context) (sdk.Credentials, error) {
	e.once.Do(func() {
		var cfg sdk.Config
		if cfg, e.err = config.LoadDefaultConfig(context.WithoutCancel(ctx)); e.err == nil {
			e.from = cfg.Credentials
		}
	})
	if e.err != nil {
		return sdk.Credentials{}, noIdentity(e.err)
	}
	c, err := e.from.Retrieve(ctx)
	if err != nil {
		return sdk.Credentials{}, noIdentity(err)
	}
	return c, nil
}

func noIdentity(err error) error {
	return &cloud.Error{
		Class: cloud.Refused, Code: "NoIdentity", Err: err,
		Message: "this installation has no AWS identity of its own to assume a role with: " + err.Error(),
	}
}

// Identify returns the account number. A role that can be assumed without its external id is class Refused: anybody
// who guesses its name could use it (the confused deputy). Emulators do not check external ids, so the check is
// skipped for them.
func (c *conn) Identify(ctx context.Context) (string, error) {
	if c.account.AuthMethod == "assume_role" && c.account.EndpointURL == "" {
		if err := c.demandExternalID(ctx); err != nil {
			return "", err
		}
	}
	out, err := sts.NewFromConfig(c.config).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{},
		c.limitIdentifyAttempts)
	if err != nil {
		return "", resource.ClassifyError(err)
	}
	return sdk.ToString(out.Account), nil
}

// limitIdentifyAttempts keeps the pauses between attempts below the 15 seconds that a client waits for AWS, and the 4
// seconds that it waits for an endpoint of its own. The answer then contains the last error, not a timeout.
func (c *conn) limitIdentifyAttempts(o *sts.Options) {
	if o.RetryMaxAttempts = 4; c.account.EndpointURL != "" {
		o.RetryMaxAttempts = 2
	}
}

func (c *conn) demandExternalID(ctx context.Context) error {
	cfg := c.config.Copy()
	cfg.Credentials = c.provider.base(c.account)
	_, err := sts.NewFromConfig(cfg).AssumeRole(ctx, &sts.AssumeRoleInput{
		RoleArn:         sdk.String(c.account.Credentials["roleArn"]),
		RoleSessionName: sdk.String(sessionName(c.account)),
	})
	if err == nil {
		return &cloud.Error{Class: cloud.Refused, Op: "sts:AssumeRole", Code: "UnsafeTrustPolicy", Message: fmt.Sprintf(
			"the role %s can be assumed without its external id, so anybody who knows its name could use it through "+
				"this service; add the condition StringEquals sts:ExternalId to its trust policy",
			c.account.Credentials["roleArn"])}
	}
	if resource.CodeOf(err) == "AccessDenied" {
		return nil
	}
	return resource.ClassifyError(err)
}

// Regions lists the enabled regions: of the account's named regions, or of all.
func (c *conn) Regions(ctx context.Context) ([]string, error) {
	out, err := ec2.NewFromConfig(c.config).DescribeRegions(ctx, &ec2.DescribeRegionsInput{})
	if err != nil {
		return nil, resource.ClassifyError(err)
	}
	var names []string
	for _, r := range out.Regions {
		name := sdk.ToString(r.RegionName)
		named := len(c.account.Regions) == 0 || slices.Contains(c.account.Regions, name)
		if named && slices.Contains(enabledStatuses, sdk.ToString(r.OptInStatus)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
