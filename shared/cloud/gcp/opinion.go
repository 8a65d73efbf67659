package gcp

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
	"lamplighter.dev/shared/foundation/money"
)

// opinionsOf returns the opinions of a page.
func (c *conn) opinionsOf(ctx context.Context, from recommender, page *googlerest.RecommendationList) (
	out []cloud.Opinion,
) {
	if page == nil {
		return nil
	}
	for _, r := range page.Recommendations {
		if r == nil || r.StateInfo.State != "" && r.StateInfo.State != "ACTIVE" {
			continue
		}
		o := newOpinion(from, r)
		o.ResourceUID = c.withProjectID(ctx, o.ResourceUID)
		out = append(out, o)
	}
	return out
}

// numbered matches the beginning of a name with the number of its project.
var numbered = regexp.MustCompile(`^(//[^/]+/projects/)([0-9]+)(/.+)$`)

// withProjectID returns the name with the id of the project in place of its number, as inventories write it.
func (c *conn) withProjectID(ctx context.Context, uid string) string {
	if m := numbered.FindStringSubmatch(uid); m != nil && m[2] == c.projectNumber(ctx) {
		return m[1] + c.project + m[3]
	}
	return uid
}

func newOpinion(from recommender, r *googlerest.Recommendation) cloud.Opinion {
	out := cloud.Opinion{
		ID: r.Name, Action: from.action, Native: r.RecommenderSubtype, Recommended: r.Description, Origin: from.id,
	}
	if at, err := time.Parse(time.RFC3339, r.LastRefreshTime); err == nil {
		out.RefreshedAt = at.UTC()
	}
	if cost := r.PrimaryImpact.CostProjection.Cost; cost != nil {
		if saved, ok := monthlySaving(cost, r.PrimaryImpact.CostProjection.Duration); ok {
			out.Saving, out.Currency = &saved, cost.CurrencyCode
		}
	}
	if from.action == cloud.OpinionCommit {
		return out
	}
	out.ResourceUID, out.Type = recommendedResource(r)
	out.Region = regionOfName(out.ResourceUID)
	if from.action == cloud.OpinionResize {
		out.Current, out.Target = operationValue(r, "test"), operationValue(r, "replace")
	}
	return out
}

// recommendedResource returns the uid and the type of the resource of a recommendation.
func recommendedResource(r *googlerest.Recommendation) (uid, kind string) {
	for _, g := range r.Content.OperationGroups {
		for _, o := range g.Operations {
			if strings.HasPrefix(o.Resource, "//") && o.Action != "add" { // a snapshot is added before a deletion
				return assetUID(o.Resource), o.ResourceType
			}
		}
	}
	if len(r.TargetResources) > 0 {
		return assetUID(r.TargetResources[0]), ""
	}
	return "", ""
}

// assetUID returns the name of a resource as Cloud Asset Inventory writes it.
func assetUID(name string) string {
	if rest, ok := strings.CutPrefix(name, "//sqladmin.googleapis.com/"); ok {
		return "//cloudsql.googleapis.com/" + rest
	}
	return name
}

// operationValue returns the machine type or tier that an operation of a kind names.
func operationValue(r *googlerest.Recommendation, action string) string {
	for _, g := range r.Content.OperationGroups {
		for _, o := range g.Operations {
			var text string
			isSize := strings.HasSuffix(o.Path, "/machineType") || strings.HasSuffix(o.Path, "/tier")
			if o.Action == action && isSize && json.Unmarshal(o.Value, &text) == nil {
				return lastPart(text)
			}
		}
	}
	return ""
}

// zoneName matches the name of a zone.
var zoneName = regexp.MustCompile(`^[a-z]+-[a-z]+\d+-[a-z]$`)

// regionOfName returns the region in the name of a resource; "" when there is none.
func regionOfName(uid string) string {
	parts := strings.Split(uid, "/")
	for i := range parts[:len(parts)-1] {
		if at := parts[i+1]; (parts[i] == "zones" || parts[i] == "regions") &&
			(zoneName.MatchString(at) || regionName.MatchString(at)) {
			return regionOf(at)
		}
	}
	return ""
}

// The lengths of months in seconds, and the length that longer projections are reduced to.
const (
	secondsPerDay = 24 * 60 * 60
	daysPerMonth  = 30
)

// monthlySaving returns what a projection saves in a month, exactly. It returns false for a projection that is none.
func monthlySaving(cost *googlerest.Money, duration string) (money.Amount, bool) {
	saved, ok := savingOf(cost)
	if !ok {
		return money.Amount{}, false
	}
	text, _ := strings.CutSuffix(duration, "s")
	seconds, err := money.Parse(text)
	days := seconds.DivInt(secondsPerDay)
	switch {
	case duration == "", err == nil && days.Cmp(money.FromInt(28)) >= 0 && days.Cmp(money.FromInt(31)) <= 0:
		return saved, true
	case err != nil || seconds.Sign() <= 0:
		return money.Amount{}, false
	}
	return saved.MulDiv(money.FromInt(daysPerMonth*secondsPerDay), seconds).Round(6), true
}

// savingOf returns the saving of a cost, exactly: a negative cost saves. It returns false for units and nanos that are
// no amount in Google's format, where both have the same sign.
func savingOf(cost *googlerest.Money) (money.Amount, bool) {
	whole, err := strconv.ParseInt(cmp.Or(strings.Trim(string(cost.Units), `"`), "0"), 10, 64)
	if err != nil || cost.Nanos <= -1e9 || cost.Nanos >= 1e9 || whole > 0 && cost.Nanos < 0 ||
		whole < 0 && cost.Nanos > 0 {
		return money.Amount{}, false
	}
	return money.FromInt(whole).Add(money.FromScaled(cost.Nanos, 9)).Neg(), true
}
