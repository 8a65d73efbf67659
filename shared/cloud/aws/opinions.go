package aws

import (
	"context"
	"errors"
	"regexp"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/costoptimizationhub"
	"lamplighter.dev/shared/foundation/money"
)

// opinionsNeed is the permission of opinions.
const opinionsNeed = "cost-optimization-hub:ListRecommendations"

const (
	// hubRegion is the only region of Cost Optimization Hub. It has the recommendations of all regions.
	hubRegion = "us-east-1"
	// perHubPage is the largest page, and maxHubPages the maximum number of pages.
	perHubPage  = 1000
	maxHubPages = 200
)

var _ cloud.OpinionReader = (*conn)(nil)

// ReadOpinions reads the recommendations of Cost Optimization Hub for this account: of recommendations that exclude
// each other, the best one.
func (c *conn) ReadOpinions(ctx context.Context, r cloud.OpinionRequest, take func(cloud.Opinion)) (
	cloud.OpinionAnswer, error,
) {
	out := cloud.OpinionAnswer{Source: cloud.CostOptimizationHub, State: cloud.OpinionsRead}
	self, err := c.ownNumber(ctx)
	if err != nil {
		return out, err
	}
	api, taker := costoptimizationhub.NewFromConfig(c.regionConfig(hubRegion)), cloud.NewOpinionTaker(r.Limit, take)
	in := &costoptimizationhub.ListRecommendationsInput{
		Filter: &costoptimizationhub.Filter{AccountIds: []string{self}}, MaxResults: sdk.Int32(perHubPage),
	}
	for out.Calls < maxHubPages {
		page, err := api.ListRecommendations(ctx, in)
		if out.Calls++; err != nil {
			return explainHub(out, resource.ClassifyError(err))
		}
		if !takeHubPage(taker, page.Items) || sdk.ToString(page.NextToken) == "" {
			out.Cut = taker.IsCut()
			return out, nil
		}
		in.NextToken = page.NextToken
	}
	return out, cloud.ErrUnsupported("Cost Optimization Hub has more than %d pages", maxHubPages)
}

// ownNumber returns the number of the account. A management account would be told of all members without it.
func (c *conn) ownNumber(ctx context.Context) (string, error) {
	if c.account.NativeID != "" {
		return c.account.NativeID, nil
	}
	return c.Identify(ctx)
}

func takeHubPage(taker *cloud.OpinionTaker, items []costoptimizationhub.Recommendation) bool {
	for i := range items {
		if !taker.Take(hubOpinion(&items[i])) {
			return false
		}
	}
	return true
}

// explainHub returns the state that an error of Cost Optimization Hub means. AWS has no code for an account that is not
// enrolled: only the words of the error say so.
func explainHub(out cloud.OpinionAnswer, err error) (cloud.OpinionAnswer, error) {
	e, ok := errors.AsType[*cloud.Error](err)
	switch {
	case ok && !e.Class.Retryable() && e.Class != cloud.Refused &&
		strings.Contains(strings.ToLower(e.Message), "not enrolled"):
		out.State = cloud.OpinionsNotEnrolled
		out.Message = "Cost Optimization Hub is not enabled in this account: enable it in the AWS console under " +
			"Billing and Cost Management, Cost Optimization Hub; recommendations appear within a day"
	case ok && e.Class == cloud.Denied:
		out.State = cloud.OpinionsDenied
		out.Message = "grant " + opinionsNeed + " to the credentials of this account: " + e.Message
	default:
		return out, err
	}
	return out, nil
}

// hubActions are the actions of Cost Optimization Hub.
var hubActions = map[string]cloud.OpinionAction{
	"Rightsize": cloud.OpinionResize, "Stop": cloud.OpinionStop, "Upgrade": cloud.OpinionUpgrade,
	"MigrateToGraviton": cloud.OpinionUpgrade, "Delete": cloud.OpinionDelete, "ScaleIn": cloud.OpinionScale,
	"PurchaseSavingsPlans": cloud.OpinionCommit, "PurchaseReservedInstances": cloud.OpinionCommit,
}

func hubOpinion(r *costoptimizationhub.Recommendation) cloud.Opinion {
	out := cloud.Opinion{
		ID: sdk.ToString(r.RecommendationId), Type: sdk.ToString(r.CurrentResourceType), Region: sdk.ToString(r.Region),
		Native: sdk.ToString(r.ActionType), Action: hubActions[sdk.ToString(r.ActionType)],
		Current:     sdk.ToString(r.CurrentResourceSummary),
		Recommended: sdk.ToString(r.RecommendedResourceSummary), Currency: sdk.ToString(r.CurrencyCode),
		Restart: r.RestartNeeded, Rollback: r.RollbackPossible, Origin: string(r.Source),
		RefreshedAt: r.LastRefreshTimestamp.Value().UTC(),
	}
	if out.Action == "" {
		out.Action = cloud.OpinionOther
	}
	if out.Action != cloud.OpinionCommit {
		out.ResourceUID = hubUID(r)
	}
	if r.EstimatedMonthlySavings != nil {
		if usd, err := money.FromFloat(*r.EstimatedMonthlySavings); err == nil {
			out.Saving = &usd
		}
	}
	if out.Action == cloud.OpinionResize || out.Action == cloud.OpinionUpgrade {
		out.Target = hubTarget(out.Recommended)
	}
	return out
}

// hubUID returns the native id of the resource: an instance's own id, of others the ARN.
func hubUID(r *costoptimizationhub.Recommendation) string {
	id, arn := sdk.ToString(r.ResourceId), sdk.ToString(r.ResourceArn)
	switch parts := strings.SplitN(arn, ":", 8); {
	case strings.HasPrefix(id, "i-"):
		return id
	case arn == "":
		return id
	case strings.Contains(arn, ":instance/i-"):
		return resource.LastPart(arn)
	case len(parts) == 8 && parts[2] == "lambda": // the last part is a version
		return strings.Join(parts[:7], ":")
	}
	return arn
}

// The forms of the first word of a configuration that names a class or a type of storage.
var (
	hubClass  = regexp.MustCompile(`^(?:[a-z]+\.)?[a-z][a-z0-9-]*\.[a-z0-9-]+$`)
	hubVolume = regexp.MustCompile(`^(?:gp[23]|io[12]|st1|sc1|standard)$`)
)

// hubTarget returns the class or type of storage that a configuration names: m5.large, or gp3 of "gp3/100.0 GB/…".
func hubTarget(summary string) string {
	word, _, _ := strings.Cut(strings.ReplaceAll(summary, " ", "/"), "/")
	if hubClass.MatchString(word) || hubVolume.MatchString(word) {
		return word
	}
	return ""
}
