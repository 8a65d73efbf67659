package aws

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
)

// identityTokenSeconds is how long a token of ours is good: it is traded for another cloud's at once.
const identityTokenSeconds = 300

// IdentityToken returns a JWT that AWS signs for this service's own identity, for other clouds to trust. An
// installation that has no identity, or may not make such tokens, is class Refused: no account that is opened so can
// be.
func (p *Provider) IdentityToken(ctx context.Context, audience string) (string, error) {
	cfg := p.sdkConfig(cloud.Account{ID: "self"})
	cfg.Credentials = p.self
	out, err := sts.NewFromConfig(cfg).GetWebIdentityToken(ctx, &sts.GetWebIdentityTokenInput{
		Audience: []string{audience}, SigningAlgorithm: sdk.String("RS256"),
		DurationSeconds: sdk.Int32(identityTokenSeconds),
	})
	if err == nil {
		return sdk.ToString(out.WebIdentityToken), nil
	}
	if err = resource.ClassifyError(err); cloud.ClassOf(err).Retryable() {
		return "", err
	}
	return "", &cloud.Error{
		Class: cloud.Refused, Code: "NoIdentity", Err: err,
		Message: "this installation cannot make identity tokens for other clouds: " + err.Error(),
	}
}
