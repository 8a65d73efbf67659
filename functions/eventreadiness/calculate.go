package eventreadiness

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// CalculatedCapacity is the scaled capacity of a policy.
type CalculatedCapacity struct {
	ScaledMin        int64       `json:"scaledMin"`
	ScaledMax        int64       `json:"scaledMax"`
	ScaledDesired    int64       `json:"scaledDesired"`
	Multiplier       rest.Number `json:"multiplier" doc:"As sent; by requests, scaled size divided by current size"`
	Method           string      `json:"method" enum:"multiplier,absolute"`
	IsEstimated      bool        `json:"isEstimated"`
	EstimationReason *string     `json:"estimationReason" doc:"null when it is not estimated"`
}

type calculateInput struct {
	PolicyID            string `query:"policy_id" required:"true" minLength:"1" maxLength:"64"`
	Multiplier          string `query:"multiplier" maxLength:"64" doc:"How many times the usual load: a decimal above 0, at most 100"`
	ExpectedRequests    int64  `query:"expected_requests" minimum:"1" maximum:"1000000000" doc:"The expected peak of requests a second, in multiplier's place"`
	RequestsPerInstance int64  `query:"requests_per_instance" minimum:"1" maximum:"1000000000" doc:"With expected_requests: how many requests a second one machine or pod takes"`
}

func (s *service) calculateCapacity(ctx context.Context, in *calculateInput) (CalculatedCapacity, error) {
	if (in.Multiplier == "") == (in.ExpectedRequests == 0) {
		return CalculatedCapacity{}, fault.New(fault.Invalid, "multiplier, expected_requests: send one of them")
	}
	g, err := s.groupOf(ctx, in.PolicyID)
	if err != nil {
		return CalculatedCapacity{}, err
	}
	if in.ExpectedRequests > 0 {
		return g.byRequests(in)
	}
	m, err := multiplierIn(in.Multiplier)
	if err != nil {
		return CalculatedCapacity{}, err
	}
	size, err := g.scaled(&readiness.Plan{ExpectedMultiplier: m})
	reason := estimationReason(g.target())
	return CalculatedCapacity{
		size.Min, size.Max, size.Desired, rest.NumberOf(m.Amount()), "multiplier", reason != nil,
		reason,
	}, err
}

// multiplierIn reads the multiplier of a query.
func multiplierIn(text string) (readiness.Multiplier, error) {
	a, err := money.Parse(text)
	if err != nil {
		return 0, fault.NewWithCause(fault.Invalid, err, "multiplier: %.32q is no number; send one such as 3.0", text)
	}
	return readiness.MultiplierOf("multiplier", a)
}

// visiblePolicy reads the policy of a query. A policy that the caller may not see is reported as missing.
func (s *service) visiblePolicy(ctx context.Context, sees policySight, policyID string) (readiness.Policy, error) {
	p, err := s.policies.Get(ctx, identity.CallerOrg(ctx), policyID)
	if err == nil && !sees.has(p.ID) {
		p, err = readiness.Policy{}, readiness.MissingPolicy(policyID)
	}
	return p, fault.Wrap("policy_id", err)
}

// groupOf returns the group that a policy scales.
func (s *service) groupOf(ctx context.Context, policyID string) (*group, error) {
	sees, err := s.policiesInSight(ctx, reading)
	if err != nil {
		return nil, err
	}
	if _, err = s.visiblePolicy(ctx, sees, policyID); err != nil {
		return nil, err
	}
	groups, err := s.policiesOf(ctx, sees, []EventTargetName{{policyID}})
	if err == nil {
		err = s.readGroups(ctx, groups)
	}
	if err != nil {
		return nil, err
	}
	return &groups[0], nil
}

// byRequests calculates the capacity for the expected number of requests a second. No cloud measures how many
// requests one member of a group can serve, so the caller must send that number.
func (g *group) byRequests(in *calculateInput) (CalculatedCapacity, error) {
	if in.RequestsPerInstance == 0 {
		return CalculatedCapacity{},
			fault.New(fault.Invalid,
				"expected_requests: the requests that one member of policy %s's target can serve are not measured: "+
					"send requests_per_instance too, or multiplier instead", in.PolicyID)
	}
	size, err := readiness.ScaleTo(g.size(), readiness.ByRequests(in.ExpectedRequests, in.RequestsPerInstance))
	reason := "requests_per_instance was sent, and not measured"
	times := money.FromInt(size.Desired).DivInt(max(g.now.Desired, 1)).Round(2)
	return CalculatedCapacity{size.Min, size.Max, size.Desired, rest.NumberOf(times), "absolute", true, &reason},
		fault.Wrap("expected_requests", err)
}
