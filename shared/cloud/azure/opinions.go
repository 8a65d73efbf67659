package azure

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// opinionsNeed is the permission that lets the Resource Graph show Advisor's recommendations.
const opinionsNeed = "Microsoft.Advisor/recommendations/read"

// advisorQuery selects Advisor's recommendations about cost, in an order, which paging needs.
const advisorQuery = "advisorresources | where type =~ 'microsoft.advisor/recommendations' | " +
	"where properties.category =~ 'Cost' | project id, properties | order by id asc"

// maxAdvisorPages is the maximum number of pages of recommendations.
const maxAdvisorPages = 200

// advice is a recommendation of Advisor. Extended properties are texts or numbers, by the kind of recommendation.
type advice struct {
	ID         string `json:"id"`
	Properties struct {
		Impacted    string `json:"impactedField"`
		Kind        string `json:"recommendationTypeId"`
		Description struct {
			Problem  string `json:"problem"`
			Solution string `json:"solution"`
		} `json:"shortDescription"`
		Extended     map[string]json.RawMessage  `json:"extendedProperties"`
		Resource     struct{ ResourceID string } `json:"resourceMetadata"`
		Suppressions []json.RawMessage           `json:"suppressionIds"`
		LastUpdated  string                      `json:"lastUpdated"`
	} `json:"properties"`
}

var _ cloud.OpinionReader = (*conn)(nil)

// ReadOpinions reads Advisor's recommendations about cost from the Resource Graph, without those that were dismissed.
// Of the offers of one reservation, with several terms and periods, it passes the one that saves most.
func (c *conn) ReadOpinions(ctx context.Context, r cloud.OpinionRequest, take func(cloud.Opinion)) (
	cloud.OpinionAnswer, error,
) {
	out := cloud.OpinionAnswer{Source: cloud.AzureAdvisor, State: cloud.OpinionsRead}
	reading := adviceReading{taker: cloud.NewOpinionTaker(r.Limit, take), offers: map[string]cloud.Opinion{}}
	for skip := ""; out.Calls < maxAdvisorPages; {
		page, err := askGraph[advice](ctx, c, advisorQuery, skip)
		if out.Calls++; err != nil {
			return explainAdvisor(out, err)
		}
		if skip = page.Skip; !reading.takePage(page.Data) || skip == "" {
			reading.takeOffers()
			out.Cut = reading.taker.IsCut()
			return out, nil
		}
	}
	return out, cloud.ErrUnsupported("Advisor has more than %d pages", maxAdvisorPages)
}

func explainAdvisor(out cloud.OpinionAnswer, err error) (cloud.OpinionAnswer, error) {
	e, ok := errors.AsType[*cloud.Error](err)
	if !ok || e.Class != cloud.Denied {
		return out, err
	}
	out.State = cloud.OpinionsDenied
	out.Message = "grant " + opinionsNeed + " to the role of the application: " + e.Message
	return out, nil
}

// adviceReading is one reading of all recommendations.
type adviceReading struct {
	taker  *cloud.OpinionTaker
	offers map[string]cloud.Opinion // the best of each commitment
}

func (r *adviceReading) takePage(rows []advice) bool {
	for i := range rows {
		if len(rows[i].Properties.Suppressions) > 0 {
			continue
		}
		o := rows[i].opinion()
		if o.Action != cloud.OpinionCommit {
			if !r.taker.Take(o) {
				return false
			}
			continue
		}
		key := rows[i].offerKey()
		if best, known := r.offers[key]; !known || savesMore(&o, &best) {
			r.offers[key] = o
		}
	}
	return true
}

func (r *adviceReading) takeOffers() {
	for _, key := range slices.Sorted(maps.Keys(r.offers)) {
		if !r.taker.Take(r.offers[key]) {
			return
		}
	}
}

func savesMore(a, b *cloud.Opinion) bool {
	return a.Saving != nil && (b.Saving == nil || a.Saving.Cmp(*b.Saving) > 0)
}

// offerKey identifies what a reservation or savings plan is of. Terms and periods of one differ.
func (a *advice) offerKey() string {
	return strings.Join([]string{
		a.Properties.Kind, a.Properties.Resource.ResourceID, a.extended("displaySKU"), a.extended("region"),
	}, "\x00")
}

// extended returns an extended property as a text; empty if there is none.
func (a *advice) extended(name string) string {
	raw := a.Properties.Extended[name]
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var number json.Number
	if json.Unmarshal(raw, &number) == nil {
		return number.String()
	}
	return ""
}

func (a *advice) opinion() cloud.Opinion {
	p := &a.Properties
	out := cloud.Opinion{
		ID: uidOf(a.ID), ResourceUID: uidOf(p.Resource.ResourceID), Type: p.Impacted, Native: p.Description.Problem,
		Current: a.extended("currentSku"), Recommended: p.Description.Solution, Currency: a.extended("savingsCurrency"),
		Region: regionOf(a.extended("region")), Origin: p.Kind,
	}
	if out.ResourceUID == "" {
		out.ResourceUID, _, _ = strings.Cut(out.ID, "/providers/microsoft.advisor/")
	}
	if strings.Count(out.ResourceUID, "/") <= 2 { // a subscription
		out.ResourceUID = ""
	}
	target := a.extended("targetSku")
	if out.Action = a.action(target); out.Action == cloud.OpinionResize && !strings.EqualFold(target, "shutdown") {
		out.Target = target
	}
	if out.Action == cloud.OpinionCommit {
		out.ResourceUID = ""
	}
	if at, err := time.Parse(time.RFC3339, p.LastUpdated); err == nil {
		out.RefreshedAt = at.UTC()
	}
	if out.Saving = cloud.OpinedAmount(p.Extended["annualSavingsAmount"]); out.Saving != nil {
		month := out.Saving.DivInt(12).Round(6)
		out.Saving = &month
	} else {
		out.Saving = cloud.OpinedAmount(p.Extended["savingsAmount"])
	}
	return out
}

// adviceWords are words of a problem or solution, and the action that they mean, in the order of precedence. Advisor
// has no field for it.
var adviceWords = []struct {
	words  []string
	action cloud.OpinionAction
}{
	{[]string{
		"reserved instance", "reserved capacity", "reservation", "savings plan", "commitment",
	}, cloud.OpinionCommit},
	{[]string{"right-size", "rightsize", "right size", "resize", "smaller sku", "downsize"}, cloud.OpinionResize},
	{[]string{"shut down", "shutdown", "deallocate", "stop "}, cloud.OpinionStop},
	{[]string{"delete", "remove", "not attached", "unattached", "unused"}, cloud.OpinionDelete},
	{[]string{"instance count", "scale in", "autoscale", "node count"}, cloud.OpinionScale},
	{[]string{"upgrade", "migrate", "switch", "move to", "convert", "use standard"}, cloud.OpinionUpgrade},
}

func (a *advice) action(target string) cloud.OpinionAction {
	p := &a.Properties
	kind := a.extended("recommendationType")
	switch {
	case strings.EqualFold(target, "shutdown"), strings.EqualFold(kind, "shutdown"):
		return cloud.OpinionStop
	case target != "":
		return cloud.OpinionResize
	}
	text := strings.ToLower(p.Description.Problem + " " + p.Description.Solution)
	for _, w := range adviceWords {
		if slices.ContainsFunc(w.words, func(word string) bool { return strings.Contains(text, word) }) {
			return w.action
		}
	}
	return cloud.OpinionOther
}
