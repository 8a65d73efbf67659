package recommendations

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// RecommendationDetail is a recommendation with what lists do not show.
type RecommendationDetail struct {
	Recommendation
	ResourceID    string                   `json:"resourceID"`
	Region        string                   `json:"region"`
	Counted       bool                     `json:"counted" doc:"It counts in the totals: it is open, saves something, and is no alternative"`
	AlternativeOf *string                  `json:"alternativeOf" doc:"The stronger recommendation that counts instead; null if there is none, or it is of a resource that the caller may not see"`
	Savings       RecommendationSavings    `json:"savings"`
	Dismissal     *RecommendationDismissal `json:"dismissal" doc:"While it is dismissed"`
	Reopened      int                      `json:"reopened" doc:"How often it opened again after it was applied"`
	History       []RecommendationEvent    `json:"history" doc:"The last 50 changes of its status, oldest first"`
	Plan          RecommendationPlan       `json:"plan"`
	// of a rule that recommends to buy a commitment
	Commitment  []RecommendationCommitment `json:"commitment" nullable:"true" doc:"What to commit to, by scope, the largest gain first; null of other rules. Nothing is ever bought"`
	Opinions    []RecommendationOpinion    `json:"opinions" nullable:"false" doc:"The cloud provider's own recommendations for the resource that were compared with this one"`
	ConfirmedAt *time.Time                 `json:"confirmedAt" doc:"When all resources of its part of the inventory were evaluated last; null before the first time"`
}

// RecommendationSavings is the expected saving in USD a month.
type RecommendationSavings struct {
	Gross       string  `json:"gross" doc:"Before commitments and other recommendations"`
	Net         string  `json:"net" doc:"After them; what counts"`
	Realistic   string  `json:"realistic" doc:"net × savingsRealism of the organization"`
	Basis       *string `json:"basis" enum:"billed,estimated" doc:"billed: of settled days of the bill; estimated: of prices; null without a saving"`
	RealizedUSD *string `json:"realizedUSD" doc:"A month, measured on 7 settled days; null before"`
	SnapshotUSD *string `json:"snapshotUSD" doc:"What the snapshot costs that the change keeps for 30 days, at public prices; gross and net are without it. null if it keeps none, or the price is unknown"`
	// of a change that keeps a snapshot
	SnapshotUnknown *string `json:"snapshotUnknown" doc:"Why the cost of the snapshot is unknown: it is then not subtracted; null if it is known, or there is no snapshot" example:"unpriced"`
	Unknown         *string `json:"unknown" doc:"Why nobody knows the saving, and the amounts are 0: unpriced, stale, nodes_unread, pool_unknown, unplaced and others; null if it is known" example:"unpriced"`
}

// RecommendationPlan says whether POST …/remediate can carry the recommendation out. A dry run returns the calls.
type RecommendationPlan struct {
	Executable bool       `json:"executable"`
	Verb       *rule.Verb `json:"verb" doc:"What carries it out; null of a rule that is not built in" example:"stop"`
	Why        *string    `json:"why" doc:"Why it cannot be carried out; null if it can"`
	Undo       *string    `json:"undo" doc:"How the change is given back; null if it cannot be carried out"`
	Parameters []string   `json:"parameters" nullable:"false" doc:"Parameters that the request must give"`
	// of a resource that is made from code
	Patch *remediation.CodePatch `json:"patch" doc:"The change to make in the code that the resource is made from, as its tags say; null if they name none. A dry run has it with values that are read now"`
}

// newPlan returns how a recommendation is carried out.
func newPlan(it *recommendation.Item) RecommendationPlan {
	m := remediation.MeansOf(rule.ByID(it.RuleID), it.Provider, it.ResourceType)
	return RecommendationPlan{
		Executable: m.Executable, Verb: rest.Optional(m.Verb), Why: rest.Optional(m.Why), Undo: rest.Optional(m.Undo),
		Parameters: append([]string{}, m.Needs...),
	}
}

// RecommendationDismissal is why and until when a recommendation is dismissed.
type RecommendationDismissal struct {
	Reason string     `json:"reason" enum:"intended,wrong,later,risk,owner_unknown"`
	Text   *string    `json:"text"`
	Until  *time.Time `json:"until" doc:"null: until the resource or the rule changes"`
	By     string     `json:"by"`
	At     time.Time  `json:"at"`
}

// RecommendationEvent is a change of the status of a recommendation.
type RecommendationEvent struct {
	At   time.Time              `json:"at"`
	From *recommendation.Status `json:"from" doc:"null of the first one"`
	To   recommendation.Status  `json:"to" enum:"open,applied,dismissed,optimised"`
	By   *string                `json:"by" doc:"The address of a person; null of an evaluation"`
	Why  string                 `json:"why"`
}

type recInput struct {
	RecID string `path:"recID" maxLength:"64"`
}

func (s *service) get(ctx context.Context, in *recInput) (RecommendationDetail, error) {
	d, err := s.detail(ctx, in.RecID, reading)
	return d, err
}

// detail reads a recommendation that the caller has a policy on, with the opinions on it.
func (s *service) detail(ctx context.Context, recID, policy string) (RecommendationDetail, error) {
	org := identity.CallerOrg(ctx)
	shards := opinionShards(recID)
	found, err := s.find(ctx, recID, policy, opinion.ComparedKeys(org, shards...)...)
	if err != nil {
		return RecommendationDetail{}, err
	}
	out := newDetail(&found.item, found.realism)
	out.Plan = planOf(&found.item, out.Plan)
	all, err := s.opinions.Compared(ctx, org, found.beside, shards...)
	out.Opinions = opinionsOn(recID, all)
	return out, err
}

// foundItem is a recommendation with items of its organization.
type foundItem struct {
	item    recommendation.Item
	realism money.Amount // savingsRealism
	beside  map[table.Key]table.Item
}

// find reads a recommendation that the caller has a policy on, with savingsRealism and other items: two round trips
// side by side, and a third one for a grant on teams or resources.
func (s *service) find(ctx context.Context, recID, policy string, beside ...table.Key) (out foundItem, err error) {
	c := identity.CallerFrom(ctx)
	key := identity.OrganisationKey(c.Org)
	out.item, out.beside, err = s.store.FindBeside(ctx, recommendation.Wanted{
		Org: c.Org, RecID: recID, Scopes: c.Scopes(policy), Beside: append(beside, key),
	})
	if err != nil {
		return out, err
	}
	out.realism, err = realismOf(c.Org, out.beside[key])
	return out, err
}

func newDetail(it *recommendation.Item, realism money.Amount) RecommendationDetail {
	out := RecommendationDetail{
		Recommendation: newRecommendation(it), ResourceID: it.ResourceID, Region: it.Region,
		Counted:       it.Status == recommendation.Open && it.Saving.Sign() > 0,
		AlternativeOf: rest.Optional(it.AlternativeOf), ConfirmedAt: rest.Optional(it.ConfirmedAt),
		Reopened: it.Reopened, Plan: newPlan(it), Commitment: newCommitments(it.Commitment),
		Savings: RecommendationSavings{
			Gross: recommendation.Counted(it.Savings.Gross).Fixed(2), Net: it.Saving.Fixed(2),
			Realistic: it.Saving.Mul(realism).Fixed(2), Basis: rest.Optional(it.Savings.Basis),
			Unknown: rest.Optional(it.Savings.Unknown),
		},
		History: make([]RecommendationEvent, len(it.History)), Opinions: []RecommendationOpinion{},
	}
	if it.Realized != nil {
		out.Savings.RealizedUSD = rest.Optional(recommendation.Counted(it.Realized.USD).Fixed(2))
	}
	out.Savings.addSnapshot(it.Savings.Copy)
	if d := it.Dismissal; d != nil && it.Status == recommendation.Dismissed {
		out.Dismissal = &RecommendationDismissal{
			d.Reason, rest.Optional(d.Text), rest.Optional(d.Until), d.By, d.At,
		}
	}
	for i, e := range it.History {
		out.History[i] = RecommendationEvent{e.At, rest.Optional(e.From), e.To, rest.Optional(e.By), e.Why}
	}
	return out
}

// addSnapshot adds the cost of a kept snapshot.
func (s *RecommendationSavings) addSnapshot(c *recommendation.CopyCost) {
	switch {
	case c == nil:
	case c.Unknown != "":
		s.SnapshotUnknown = rest.Optional(c.Unknown)
	default:
		s.SnapshotUSD = rest.Optional(c.USD.Fixed(2))
	}
}

// RecommendationDecision is the body of PATCH /recommendations/{recID}.
type RecommendationDecision struct {
	Status recommendation.Status `json:"status" enum:"open,applied,dismissed,optimised"`
	Reason string                `json:"reason,omitempty" enum:"intended,wrong,later,risk,owner_unknown" doc:"Needed with dismissed. wrong counts against the rule"`
	Text   string                `json:"text,omitempty" maxLength:"500" doc:"More about the reason"`
	Until  *rest.Time            `json:"until,omitempty" doc:"The end of the dismissal, at most 365 days away"`
}

type updateInput struct {
	RecID string `path:"recID" maxLength:"64"`
	Body  RecommendationDecision
}

func (s *service) update(ctx context.Context, in *updateInput) (RecommendationDetail, error) {
	c := identity.CallerFrom(ctx)
	before, err := s.writable(ctx, in.RecID)
	if err != nil {
		return RecommendationDetail{}, err
	}
	audit.NoteChange(ctx, audit.Change{
		Target: before.item.ID, Before: newDetail(&before.item, before.realism),
	})
	d := recommendation.Decision{
		Status: in.Body.Status, Reason: in.Body.Reason, Text: in.Body.Text, By: c.Email, At: s.p.Clock.Now(),
	}
	if in.Body.Until != nil {
		d.Until = in.Body.Until.Time
	}
	if _, _, err = s.store.Decide(ctx, c.Org, in.RecID, d); err != nil {
		return RecommendationDetail{}, err
	}
	out, err := s.detail(ctx, in.RecID, writing)
	if err != nil {
		return RecommendationDetail{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: out})
	return out, nil
}

// writable returns a recommendation that the caller may change. It returns fault.NotFound for one that the caller may
// not see, and fault.Denied for one that the caller only sees.
func (s *service) writable(ctx context.Context, recID string) (foundItem, error) {
	found, err := s.find(ctx, recID, writing)
	if !fault.Is(err, fault.NotFound) {
		return found, err
	}
	if _, unseen := s.find(ctx, recID, reading); unseen != nil {
		return found, err
	}
	return found, fault.New(fault.Denied, "permission denied: %s is needed on the resource of recommendation %s",
		writing, recID)
}
