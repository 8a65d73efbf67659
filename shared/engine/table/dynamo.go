package table

import (
	"context"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"lamplighter.dev/shared/foundation/clock"
)

// Remote tells where a DynamoDB table is. Empty fields are read from the environment by Dynamo.
type Remote struct {
	Table    string      // LAMPLIGHTER_TABLE
	Region   string      // AWS_REGION, else AWS_DEFAULT_REGION
	Endpoint string      // AWS_ENDPOINT_URL_DYNAMODB, else AWS_ENDPOINT_URL, else AWS's own
	KeyID    string      // AWS_ACCESS_KEY_ID
	Secret   string      // AWS_SECRET_ACCESS_KEY
	Session  string      // AWS_SESSION_TOKEN
	Clock    clock.Clock // decides what has expired; nil is the machine's
}

// DynamoDB is the engine in AWS, and on whatever speaks its protocol. Its table has the string keys pk and sk, the time to
// live on the attribute expires, and a stream of new and old images.
type DynamoDB struct {
	table string
	db    *dynamodb.Client
	feed  func(ctx context.Context, cursor string, limit int) (Feed, error) // nil in Lambda
	clock clock.Clock
}

// NewDynamoDB makes the engine for the table r, without any call. Credentials are those of the environment; without them the
// container's or the machine's role is asked at the first call. Profile files are not read, which keeps the
// start of a function short: `aws configure export-credentials --format env` makes a profile an environment.
func NewDynamoDB(r Remote) *DynamoDB {
	r = r.complete()
	creds := r.credentials()
	d := openDynamoDB(r, creds)
	d.feed = func(ctx context.Context, cursor string, limit int) (Feed, error) {
		o := dynamodbstreams.Options{Region: r.Region, Credentials: creds}
		if r.Endpoint != "" {
			o.BaseEndpoint = &r.Endpoint
		}
		return d.readStream(ctx, dynamodbstreams.New(o), cursor, limit)
	}
	return d
}

// NewLambdaDynamoDB makes the engine as NewDynamoDB does, for a function of Lambda: its credentials are in its environment, and the stream is
// its event source, so it has no Feed. It links neither the client of streams nor those of roles, which are 0.3 MB of each function.
func NewLambdaDynamoDB(r Remote) *DynamoDB {
	r = r.complete()
	return openDynamoDB(r, credentials.NewStaticCredentialsProvider(r.KeyID, r.Secret, r.Session))
}

// openDynamoDB expects a complete r.
func openDynamoDB(r Remote, creds aws.CredentialsProvider) *DynamoDB {
	o := dynamodb.Options{Region: r.Region, Credentials: creds, Retryer: aws.NopRetryer{}}
	if r.Endpoint != "" {
		o.BaseEndpoint = &r.Endpoint
	}
	return &DynamoDB{table: r.Table, db: dynamodb.New(o), clock: r.Clock}
}

// complete fills empty fields from the environment.
func (r Remote) complete() Remote {
	fill := func(field *string, names ...string) {
		for _, n := range names {
			if *field == "" {
				*field = os.Getenv(n)
			}
		}
	}
	fill(&r.Table, "LAMPLIGHTER_TABLE")
	fill(&r.Region, "AWS_REGION", "AWS_DEFAULT_REGION")
	fill(&r.Endpoint, "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL")
	if r.KeyID == "" {
		fill(&r.KeyID, "AWS_ACCESS_KEY_ID")
		fill(&r.Secret, "AWS_SECRET_ACCESS_KEY")
		fill(&r.Session, "AWS_SESSION_TOKEN")
	}
	if r.Clock == nil {
		r.Clock = clock.System{}
	}
	return r
}

// ecsHost serves the credentials of containers whose environment names only a path.
const ecsHost = "http://169.254.170.2"

// credentials returns the static ones, else the container's, else the machine's role.
func (r Remote) credentials() aws.CredentialsProvider {
	if r.KeyID != "" {
		return credentials.NewStaticCredentialsProvider(r.KeyID, r.Secret, r.Session)
	}
	uri := os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if path := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path != "" {
		uri = ecsHost + path
	}
	if uri == "" {
		return aws.NewCredentialsCache(ec2rolecreds.New(), early)
	}
	return aws.NewCredentialsCache(endpointcreds.New(uri, func(o *endpointcreds.Options) {
		o.AuthorizationToken = os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
		if file := os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
			o.AuthorizationTokenProvider = tokenFile(file)
		}
	}), early)
}

// early renews credentials before they end.
func early(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = 5 * time.Minute }

// tokenFile reads the token that a container shows for its credentials; it is rotated, so each time anew.
func tokenFile(path string) endpointcreds.TokenProviderFunc {
	return func() (string, error) {
		b, err := os.ReadFile(path) //nolint:gosec // named by the container's environment
		return string(b), err
	}
}

var _ Store = (*DynamoDB)(nil)
