package aws

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
)

// identityTokenSeconds is the lifetime of our tokens. A token is exchanged for another cloud's token at once.
const identityTokenSeconds = 300

// IdentityToken returns a JWT that AWS signs for this service's own identity and other clouds trust. If the
// installation has no identity, or may not create tokens, the error is class Refused: accounts that need such a token
// cannot be opened.
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
