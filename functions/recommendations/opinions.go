package recommendations

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/foundation/money"
)

// RecommendationOpinion is a recommendation of the cloud provider itself, compared with ours.
type RecommendationOpinion struct {
	Source        cloud.OpinionSource  `json:"source" enum:"aws_cost_optimization_hub,azure_advisor,google_recommender,simulated_advisor"`
	Action        *cloud.OpinionAction `json:"action" enum:"stop,delete,schedule,resize,upgrade,scale,commit,other" doc:"null with only_we"`
	NativeAction  *string              `json:"nativeAction" doc:"In the provider's words"`
	Current       *string              `json:"current" doc:"The present configuration, in the provider's words"`
	Recommended   *string              `json:"recommended" doc:"The recommended one, or a sentence"`
	Target        *string              `json:"target" doc:"The class or type that it names" example:"m5.large"`
	SavingsUSD    *string              `json:"savingsUSD" doc:"What the provider expects a month; null if it does not say, or no exchange rate is known"`
	Savings       *OpinionAmount       `json:"savings" doc:"The same in the provider's currency"`
	Verdict       opinion.Verdict      `json:"verdict" enum:"agree,differs,only_they,only_we"`
	Difference    *OpinionDifference   `json:"difference" doc:"The first fact in which the two differ, with differs"`
	Restart       *bool                `json:"restartNeeded"`
	Rollback      *bool                `json:"rollbackPossible"`
	At            *time.Time           `json:"at" doc:"When the provider refreshed it"`
	ComparedAt    *time.Time           `json:"comparedAt"`
	OurSavingsUSD *string              `json:"ourSavingsUSD" doc:"Net a month, of the recommendation that it was compared with"`
}

// OpinionAmount is an amount in a currency.
type OpinionAmount struct {
	Amount   string `json:"amount" example:"41.25"`
	Currency string `json:"currency" example:"EUR"`
}

// OpinionDifference is the fact in which an opinion differs from our recommendation.
type OpinionDifference struct {
	Fact   string `json:"fact" enum:"action,target,savingsUSD"`
	Ours   string `json:"ours"`
	Theirs string `json:"theirs"`
}

// OpinionReason is why we have no recommendation where the provider has one.
type OpinionReason struct {
	Reason     string  `json:"reason" enum:"unknown,false,skipped,off,no_rule,no_resource" doc:"skipped: true, but the resource is younger than 7 days, a controller owns it, or it saves less than 1 USD"`
	RuleID     *string `json:"ruleID"`
	Fact       *string `json:"fact" doc:"The missing fact of an unknown rule"`
	Permission *string `json:"permission" doc:"That would give it"`
	Detail     *string `json:"detail" doc:"Why the fact is missing, or the values of a false rule"`
}

// ListedOpinion is an opinion with the resource that it is about.
type ListedOpinion struct {
	RecommendationOpinion
	RecommendationID *string        `json:"recommendationID" doc:"Ours; null with only_they, and while it is no open recommendation yet"`
	RuleID           *string        `json:"ruleID"`
	ResourceID       *string        `json:"resourceID" doc:"null if it is not in the inventory"`
	ResourceUID      *string        `json:"resourceUid" doc:"The native id; null of an opinion about the account"`
	ResourceName     *string        `json:"resourceName"`
	ResourceType     *string        `json:"resourceType" example:"aws-ec2"`
	Provider         string         `json:"provider"`
	CloudAccountID   string         `json:"cloudAccountID"`
	Reason           *OpinionReason `json:"reason" doc:"Why we have none, with only_they"`
}

// ListedOpinions is a page of opinions.
type ListedOpinions struct {
	Items []ListedOpinion `json:"items" nullable:"false"`
	Total int             `json:"total"`
	Page  int             `json:"page"`
	Size  int             `json:"size"`
}

type opinionsInput struct {
	Provider []string `query:"provider" maxItems:"10" doc:"Only of these providers"`
	Account  []string `query:"cloud_account_id" maxItems:"50" doc:"Only of these cloud accounts"`
	Verdict  []string `query:"verdict" maxItems:"4" enum:"agree,differs,only_they,only_we" doc:"Only with these verdicts"`
	Source   []string `query:"source" maxItems:"4" enum:"aws_cost_optimization_hub,azure_advisor,google_recommender,simulated_advisor" doc:"Only of these sources"`
	Page     int      `query:"page" minimum:"1" maximum:"999999" default:"1" doc:"Number of the page, from 1"`
	Size     int      `query:"size" minimum:"1" default:"10" doc:"Items per page; more than 100 counts as 100"`
}

func (s *service) listOpinions(ctx context.Context, in *opinionsInput) (ListedOpinions, error) {
	size := min(in.Size, maxSize)
	out := ListedOpinions{Items: []ListedOpinion{}, Page: in.Page, Size: size}
	r := opinionReading{service: s, caller: identity.CallerFrom(ctx)}
	if err := r.read(ctx); err != nil {
		return out, err
	}
	all := slices.DeleteFunc(r.positions(), func(p position) bool { return !in.meets(&p) })
	slices.SortStableFunc(all, func(a, b position) int { return b.usd.Cmp(a.usd) })
	out.Total = len(all)
	from := min((in.Page-1)*size, len(all))
	page := all[from:min(from+size, len(all))]
	rows, err := r.view.Rows(ctx, missingRows(page))
	if err != nil {
		return out, err
	}
	for i := range page {
		out.Items = append(out.Items, page[i].listed(rows))
	}
	return out, nil
}

func (in *opinionsInput) meets(p *position) bool {
	return rest.Among(in.Provider, p.provider) && rest.Among(in.Account, p.account) &&
		rest.Among(in.Verdict, string(p.verdict)) && rest.Among(in.Source, string(p.source))
}

// opinionReading is what lists and counts of opinions are made of.
type opinionReading struct {
	*service
	caller   identity.Caller
	view     *recommendation.View
	compared []opinion.Compared
	accounts map[string]opinion.Account // by id
}

// read reads the columns, with the inventory for a grant on teams or resources, and the comparison side by side.
func (r *opinionReading) read(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() (err error) {
		r.view, err = r.store.View(ctx, r.caller.Org, r.caller.Scopes(reading), false)
		return err
	})
	g.Go(func() error { return r.readComparison(ctx) })
	return g.Wait()
}

// readComparison reads the comparison: one round trip.
func (r *opinionReading) readComparison(ctx context.Context) error {
	c, err := r.opinions.ReadComparison(ctx, r.caller.Org)
	r.compared, r.accounts = c.All, make(map[string]opinion.Account, len(c.Accounts))
	for i := range c.Accounts {
		r.accounts[c.Accounts[i].AccountID] = c.Accounts[i]
	}
	return err
}

// position is an opinion, or a recommendation without one.
type position struct {
	provider, account string
	source            cloud.OpinionSource
	verdict           opinion.Verdict
	usd               money.Amount // the larger saving of the two, for the order
	theirs            *opinion.Compared
	shown             bool // the caller may see the recommendation
	ours              *recommendation.OpenRow
}

// positions returns the opinions in the caller's scopes, and the recommendations about which the provider has none.
func (r *opinionReading) positions() (out []position) {
	matched := map[string]bool{}
	for i := range r.compared {
		c := &r.compared[i]
		if _, connected := r.accounts[c.AccountID]; !connected || !r.view.ShowsResource(c.ResourceID) {
			continue
		}
		matched[c.RecommendationID] = true
		p := position{
			provider: c.Provider, account: c.AccountID, source: c.Source, verdict: c.Verdict, theirs: c,
			shown: r.view.Shows(c.RecommendationID),
		}
		for _, usd := range []*money.Amount{c.USD, c.OurUSD} {
			if usd != nil && usd.Cmp(p.usd) > 0 {
				p.usd = *usd
			}
		}
		out = append(out, p)
	}
	savers := r.view.Savers()
	for i := range savers {
		ours := &savers[i]
		if a := r.accounts[ours.Account]; a.WasRead() && !matched[ours.ID] {
			out = append(out, position{
				provider: ours.Provider, account: ours.Account, source: a.Source, verdict: opinion.OnlyWe,
				usd: ours.Saving, ours: ours,
			})
		}
	}
	return out
}

// missingRows returns the ids of the recommendations on a page about which the provider has no opinion.
func missingRows(page []position) (ids []string) {
	for i := range page {
		if page[i].ours != nil {
			ids = append(ids, page[i].ours.ID)
		}
	}
	return ids
}

func (p *position) listed(rows map[string]recommendation.Row) ListedOpinion {
	if p.ours != nil {
		row := rows[p.ours.ID]
		return ListedOpinion{
			RecommendationOpinion: RecommendationOpinion{
				Source: p.source, Verdict: p.verdict, OurSavingsUSD: new(p.ours.Saving.Fixed(2)),
			},
			RecommendationID: &p.ours.ID, RuleID: &p.ours.RuleID, ResourceID: rest.Optional(row.ResourceID),
			ResourceUID: rest.Optional(row.ResourceUID), ResourceName: rest.Optional(row.ResourceName),
			ResourceType: rest.Optional(p.ours.Type), Provider: p.provider, CloudAccountID: p.account,
		}
	}
	c := p.theirs
	out := ListedOpinion{
		RecommendationOpinion: newOpinion(c), RuleID: rest.Optional(c.RuleID),
		ResourceID: rest.Optional(c.ResourceID), ResourceUID: rest.Optional(c.ResourceUID),
		ResourceName: rest.Optional(c.ResourceName), ResourceType: rest.Optional(c.ResourceType),
		Provider: c.Provider, CloudAccountID: c.AccountID, Reason: newReason(c.Why),
	}
	if p.shown {
		out.RecommendationID = &c.RecommendationID
	}
	return out
}

func newOpinion(c *opinion.Compared) RecommendationOpinion {
	out := RecommendationOpinion{
		Source: c.Source, Action: &c.Action, NativeAction: rest.Optional(c.Native), Current: rest.Optional(c.Current),
		Recommended: rest.Optional(c.Recommended), Target: rest.Optional(c.Target), Verdict: c.Verdict,
		Restart: c.Restart, Rollback: c.Rollback, At: rest.Optional(c.RefreshedAt),
		ComparedAt: rest.Optional(c.ComparedAt.UTC()), SavingsUSD: fixedOrNone(c.USD),
		OurSavingsUSD: fixedOrNone(c.OurUSD),
	}
	if c.Saving != nil {
		out.Savings = &OpinionAmount{c.Saving.Fixed(2), c.Currency}
	}
	if d := c.Difference; d != nil {
		out.Difference = &OpinionDifference{d.Fact, d.Ours, d.Theirs}
	}
	return out
}

func newReason(w *opinion.Why) *OpinionReason {
	if w == nil {
		return nil
	}
	return &OpinionReason{
		w.Reason, rest.Optional(w.RuleID), rest.Optional(w.Fact), rest.Optional(w.Permission), rest.Optional(w.Detail),
	}
}

func fixedOrNone(a *money.Amount) *string {
	if a == nil {
		return nil
	}
	return new(a.Fixed(2))
}

// opinionShards returns the shards with the opinions that may be compared with a recommendation.
func opinionShards(recID string) []int {
	shard, ok := recommendation.ShardOfID(recID)
	if !ok {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values([]int{shard, opinion.AccountShard})))
}

// opinionsOn returns those of the opinions that were compared with a recommendation.
func opinionsOn(recID string, all []opinion.Compared) []RecommendationOpinion {
	out := []RecommendationOpinion{}
	for i := range all {
		if all[i].RecommendationID == recID {
			out = append(out, newOpinion(&all[i]))
		}
	}
	return out
}
