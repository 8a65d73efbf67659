package cloud

import (
	"context"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// OpinionSource is the provider's own recommender of an account.
type OpinionSource string

// The sources.
const (
	CostOptimizationHub OpinionSource = "aws_cost_optimization_hub"
	AzureAdvisor        OpinionSource = "azure_advisor"
	GoogleRecommender   OpinionSource = "google_recommender"
	SimulatedAdvisor    OpinionSource = "simulated_advisor"
)

// HasOpinions reports whether accounts of a provider may have opinions.
func HasOpinions(provider string) bool {
	switch provider {
	case "aws", "azure", "gcp", simulated:
		return true
	}
	return false
}

// OpinionAction is what a provider recommends to do, the same words for all providers.
type OpinionAction string

// The actions.
const (
	OpinionStop     OpinionAction = "stop"
	OpinionDelete   OpinionAction = "delete"
	OpinionSchedule OpinionAction = "schedule"
	OpinionResize   OpinionAction = "resize"  // another size, or other limits
	OpinionUpgrade  OpinionAction = "upgrade" // another generation, architecture or storage type
	OpinionScale    OpinionAction = "scale"   // fewer members
	OpinionCommit   OpinionAction = "commit"  // buy a savings plan, reservation or committed use discount
	OpinionOther    OpinionAction = "other"
)

// Opinion is a cost recommendation of the provider itself. Fields that the provider does not tell are empty.
type Opinion struct {
	ID string `json:"id"` // the provider's
	// ResourceUID is the native id, as List returns it; empty for a recommendation about the account
	ResourceUID string        `json:"uid,omitempty"`
	Type        string        `json:"type,omitempty"` // the provider's word for the kind of the resource
	Region      string        `json:"region,omitempty"`
	Action      OpinionAction `json:"action"`
	Native      string        `json:"native,omitempty"`      // the provider's word for the action
	Current     string        `json:"current,omitempty"`     // the present configuration, in the provider's words
	Recommended string        `json:"recommended,omitempty"` // the recommended one, or a sentence
	Target      string        `json:"target,omitempty"`      // the class or type to change to; empty if none is named
	// Saving is what the provider expects a month; nil if it does not say. It is negative for a cost.
	Saving      *money.Amount `json:"saving,omitempty"`
	Currency    string        `json:"currency,omitempty"`
	Restart     *bool         `json:"restart,omitempty"`
	Rollback    *bool         `json:"rollback,omitempty"`
	Origin      string        `json:"origin,omitempty"` // the part of the source that made it: ComputeOptimizer
	RefreshedAt time.Time     `json:"refreshedAt,omitzero"`
}

// OpinionState tells how far the opinions of an account could be read.
type OpinionState string

// The states. All but OpinionsRead come with a message that names the way out.
const (
	OpinionsRead        OpinionState = "read"
	OpinionsPartial     OpinionState = "partial"      // some recommenders were refused
	OpinionsNotEnrolled OpinionState = "not_enrolled" // the service, or its API, is not switched on
	OpinionsDenied      OpinionState = "denied"       // a permission is missing
)

// OpinionRequest asks for the opinions of an account. Locations are the regions and zones with resources, for providers
// that have to be asked for each of them. At most Limit opinions are passed on.
type OpinionRequest struct {
	Locations []string
	Limit     int
}

// OpinionAnswer is the outcome of a request. Cut says that there were more than the limit.
type OpinionAnswer struct {
	Source  OpinionSource
	State   OpinionState
	Message string
	Cut     bool
	Calls   int
}

// OpinionReader is a Conn that reads the provider's own cost recommendations.
type OpinionReader interface {
	Conn
	// ReadOpinions passes the opinions to take, page by page, never more than the limit; take is not called
	// concurrently. A service that is not switched on, and a missing permission, are states of the answer and no
	// errors. After an error, the opinions that were passed on are incomplete.
	ReadOpinions(ctx context.Context, r OpinionRequest, take func(Opinion)) (OpinionAnswer, error)
}

// OpinionTaker passes opinions on up to a limit, and cleans them: texts of a provider go into answers and stores. One
// goroutine uses it at a time.
type OpinionTaker struct {
	take func(Opinion)
	left int
	cut  bool
	seen map[string]bool
}

// NewOpinionTaker returns a taker that passes at most limit opinions to take.
func NewOpinionTaker(limit int, take func(Opinion)) *OpinionTaker {
	return &OpinionTaker{take: take, left: limit, seen: map[string]bool{}}
}

// Take passes an opinion on, unless one with the same id was. It returns false when no more are wanted.
func (t *OpinionTaker) Take(o Opinion) bool {
	o.clean()
	switch {
	case o.ID != "" && t.seen[o.ID]:
		return true
	case t.left <= 0:
		t.cut = true
		return false
	}
	t.seen[o.ID] = true
	t.left--
	t.take(o)
	return true
}

// IsCut reports whether there were more opinions than the limit.
func (t *OpinionTaker) IsCut() bool { return t.cut }
