package aws

import (
	"context"
	"encoding/base64"
	"net/http"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/eks"
	"lamplighter.dev/shared/foundation/clock"
)

// An EKS cluster accepts a token for 15 minutes after its signature, regardless of the expiry in the signature. The
// authenticator of EKS signs for one minute. Tokens are renewed after a third of the 15 minutes, and shortly before
// the credentials end.
const (
	tokenPrefix   = "k8s-aws-v1." //nolint:gosec // every token begins so
	signatureLife = "60"          // seconds
	tokenLife     = 5 * time.Minute
)

// EnterCluster returns the address of an EKS cluster and a source of tokens for it. The account's identity needs an
// access entry of the cluster, which the customer must create.
func (c *conn) EnterCluster(ctx context.Context, region, name string) (cloud.ClusterEntry, error) {
	api, err := c.eks(region)
	if err != nil {
		return cloud.ClusterEntry{}, err
	}
	if !eksName.MatchString(name) {
		return cloud.ClusterEntry{}, cloud.ErrNotFound("EKS has no cluster %.100q in region %s", name, region)
	}
	out, err := api.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &name})
	if err != nil {
		return cloud.ClusterEntry{}, resource.ClassifyError(err)
	}
	if v := out.Cluster.ResourcesVpcConfig; v != nil && v.EndpointPrivateAccess && !v.EndpointPublicAccess {
		return cloud.ClusterEntry{}, cloud.ErrNoPublicEndpoint("the EKS cluster " + name)
	}
	server := sdk.ToString(out.Cluster.Endpoint)
	if server == "" || out.Cluster.CertificateAuthority == nil {
		return cloud.ClusterEntry{}, &cloud.Error{
			Class: cloud.Moving, Op: "eks:DescribeCluster", Code: "NoEndpoint",
			Message: "the cluster " + name + " is " + string(out.Cluster.Status) + " and has no endpoint yet",
		}
	}
	authority, err := base64.StdEncoding.DecodeString(sdk.ToString(out.Cluster.CertificateAuthority.Data))
	if err != nil {
		return cloud.ClusterEntry{},
			cloud.ErrInvalid("EKS gives the cluster %s a certificate authority that is not base64", name)
	}
	t := &tokens{config: c.regionConfig(region), cluster: name, clock: c.provider.options.Clock}
	t.config.APIOptions = nil // a signature is no call: there is nothing to limit
	return cloud.ClusterEntry{UID: sdk.ToString(out.Cluster.Arn), Server: server, Authority: authority, Token: t.token},
		nil
}

// tokens makes the tokens of one cluster, and keeps the last.
type tokens struct {
	config  sdk.Config
	cluster string
	clock   clock.Clock

	mu    sync.Mutex
	last  string
	until time.Time
}

// token returns a token that opens the cluster. It is a signed request for the caller's identity, which the cluster
// sends to STS. This call itself sends only the requests that the credentials need.
func (t *tokens) token(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock.Now()
	if t.last != "" && now.Before(t.until) {
		return t.last, nil
	}
	credentials, err := t.config.Credentials.Retrieve(ctx)
	if err != nil {
		return "", resource.ClassifyError(err)
	}
	signer := clusterSigner{v4.NewSigner(), t.cluster, now}
	signed, err := sts.NewPresignClient(sts.NewFromConfig(t.config)).PresignGetCallerIdentity(ctx,
		&sts.GetCallerIdentityInput{},
		func(o *sts.PresignOptions) { o.Presigner = signer })
	if err != nil {
		return "", resource.ClassifyError(err)
	}
	t.last, t.until = tokenPrefix+base64.RawURLEncoding.EncodeToString([]byte(signed.URL)), now.Add(tokenLife)
	if credentials.CanExpire && credentials.Expires.Add(-time.Minute).Before(t.until) {
		t.until = credentials.Expires.Add(-time.Minute)
	}
	return t.last, nil
}

// clusterSigner signs for one cluster only: other clusters refuse a token without their own name.
type clusterSigner struct {
	sts.HTTPPresignerV4
	cluster string
	now     time.Time
}

// PresignHTTP signs the name of the cluster with the rest.
//
//nolint:revive // the parameters are those of sts.HTTPPresignerV4
func (s clusterSigner) PresignHTTP(ctx context.Context, credentials sdk.Credentials, r *http.Request, payloadHash,
	service, region string, _ time.Time, o ...func(*v4.SignerOptions),
) (string, http.Header, error) {
	r.Header.Set("X-K8s-Aws-Id", s.cluster)
	query := r.URL.Query()
	query.Set("X-Amz-Expires", signatureLife)
	r.URL.RawQuery = query.Encode()
	return s.HTTPPresignerV4.PresignHTTP(ctx, credentials, r, payloadHash, service, region, s.now, o...)
}
