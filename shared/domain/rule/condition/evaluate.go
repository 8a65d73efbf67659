package condition

import (
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// Truth is the result of a condition.
type Truth uint8

// The results. Unknown neither opens nor closes a recommendation.
const (
	Unknown Truth = iota
	False
	True
)

// String returns "true", "false" or "unknown".
func (t Truth) String() string { return [...]string{"unknown", "false", "true"}[t] }

// Result is the result of an evaluation. Missing names the values that the result needs: facts, metrics, settings. It
// is empty unless the result is unknown, and valid until the next evaluation.
type Result struct {
	Truth   Truth
	Missing []Missing
}

// Missing is a value that a condition needs and does not have.
type Missing struct {
	Name   string // "res.vcpu", "m.cpu_max_14d"; empty with reason Failed
	Reason Reason
	Detail string // the permission, or the error; may be empty
}

// Reason says why a value is missing.
type Reason string

// The reasons. Callers may give further ones.
const (
	NotCollected Reason = "not_collected"  // no collector reads it
	NotReported  Reason = "not_reported"   // the provider does not report it for this resource
	Denied       Reason = "denied"         // a permission is missing
	Unreadable   Reason = "unreadable"     // the call failed, or its value is of another kind
	Stale        Reason = "stale"          // the last value is too old
	TooYoung     Reason = "too_young"      // the resource is younger than the window
	TooFewPoints Reason = "too_few_points" // under 70 % of the points of the window exist
	NoPoints     Reason = "no_points"      // it was queried, and there are no points
	NeedsAgent   Reason = "needs_agent"    // only an agent in the machine measures it
	TooLong      Reason = "too_long"       // longer than MaxText or MaxItems
	Failed       Reason = "failed"         // the condition itself failed, such as on a malformed date
)

// Subject is what conditions are evaluated on: one resource at a time. One goroutine uses it, and fills it anew for
// each resource.
type Subject struct {
	Facts   *Facts
	Metrics *Metrics
	Org     *Facts // the settings of the organization
	Now     time.Time

	missing []Missing
}

// Evaluate evaluates a condition on the subject, with the parameters that the condition returned.
func (s *Subject) Evaluate(c *Condition, p *Params) Result {
	s.begin(false)
	value := s.run(c, p)
	switch value {
	case types.True:
		return Result{Truth: True}
	case types.False:
		return Result{Truth: False}
	}
	if c.absorbs && types.IsUnknown(value) && s.missed() > 1 {
		s.begin(true) // some of the missing values may not matter
		value = s.run(c, p)
	}
	return Result{Unknown, s.explain(value)}
}

// begin forgets which values were missing.
func (s *Subject) begin(naming bool) {
	s.Facts.begin(naming)
	s.Metrics.begin(naming)
	s.Org.begin(naming)
}

func (s *Subject) missed() int {
	return len(s.Facts.missed) + len(s.Metrics.missed) + len(s.Org.missed)
}

// run evaluates the program. A value is true, false, an unknown or an error.
func (s *Subject) run(c *Condition, p *Params) ref.Val {
	a := activation{s, p}
	value, _, err := c.program.Eval(&a)
	if value == nil {
		return types.WrapErr(err)
	}
	return value
}

// explain lists the missing values of an unknown result.
func (s *Subject) explain(value ref.Val) []Missing {
	s.missing = s.missing[:0]
	unknown, ok := value.(*types.Unknown)
	if !ok {
		return append(s.missing, Missing{Reason: Failed, Detail: failure(value)})
	}
	if s.Facts.naming {
		s.keepNamed(unknown)
	}
	for _, at := range s.Facts.missed {
		s.missing = append(s.missing, s.Facts.why(at))
	}
	for _, at := range s.Metrics.missed {
		s.missing = append(s.missing, s.Metrics.why(at))
	}
	for _, at := range s.Org.missed {
		s.missing = append(s.missing, s.Org.why(at))
	}
	return s.missing
}

// keepNamed removes the missing values that the unknown does not name.
func (s *Subject) keepNamed(u *types.Unknown) {
	ids := u.IDs()
	s.Facts.keep(ids)
	s.Metrics.keep(ids)
	s.Org.keep(ids)
}

// failure returns the message of a result that is neither true, false nor unknown.
func failure(value ref.Val) string {
	if err, ok := value.(*types.Err); ok {
		return err.Error()
	}
	return "the result is of type " + value.Type().TypeName()
}

// activation gives a program the values of a subject.
type activation struct {
	*Subject
	params *Params
}

// ResolveName returns the values of a name.
func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case "res":
		return a.Facts, true
	case "m":
		return a.Metrics, true
	case "p":
		return a.params, true
	case now:
		return types.Timestamp{Time: a.Now}, true
	case "org":
		return a.Org, true
	}
	return nil, false
}

// Parent returns nil: there is no enclosing activation.
func (*activation) Parent() interpreter.Activation { return nil }
