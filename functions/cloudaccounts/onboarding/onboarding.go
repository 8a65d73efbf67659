// Package onboarding is what a customer has to do in his cloud before this service can be let in: the exact policies, the
// template and the commands. It links no cloud SDK, so that API functions can show it.
package onboarding

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"lamplighter.dev/shared/foundation/fault"
)

// Steps are the ways in, one for each authMethod, and the permissions in three levels, each holding the ones before it.
type Steps struct {
	Provider   string        `json:"provider"`
	ExternalID *string       `json:"externalID" doc:"Null where none is needed. Given out by this service for the organization; goes into the role's trust policy"`
	Principal  *string       `json:"principal" doc:"Null where nobody is. Who assumes the role: this service's own identity"`
	Policies   []CloudPolicy `json:"policies"`
	Methods    []Method      `json:"methods"`
}

// CloudPolicy is what the credentials have to be allowed, up to a level.
type CloudPolicy struct {
	Level    string          `json:"level" enum:"read_only,start_stop,scale"`
	Actions  []string        `json:"actions"`
	Document json.RawMessage `json:"document" doc:"The policy as the cloud takes it"`
}

// Method is how an account is connected with one authMethod. Template is nil where there is none.
type Method struct {
	AuthMethod  string   `json:"authMethod"`
	Title       string   `json:"title"`
	Recommended bool     `json:"recommended"`
	Template    *string  `json:"template" doc:"A CloudFormation template; null where there is none"`
	Commands    []string `json:"commands" doc:"Shell commands, in order"`
	Credentials []string `json:"credentials" doc:"Names of the credentials to send when connecting the account"`
}

var (
	externalIDForm = regexp.MustCompile(`^[\w+=,.@:/-]{2,256}$`)
	principalForm  = regexp.MustCompile(`^(arn:aws[a-z-]*:(iam|sts)::\d{12}:[\w+=,.@:/-]+|\d{12})$`)
	builders       = map[string]func(externalID, principal string) (Steps, error){"aws": amazon, "simulated": simulated}
)

// StepsFor returns the steps for a provider. The external id and the principal end up in policies and in commands that are
// pasted into a shell, so they are held to AWS's own alphabets: anything else is fault.Invalid, as is a provider that
// has no steps.
func StepsFor(provider, externalID, principal string) (Steps, error) {
	build := builders[provider]
	if build == nil {
		return Steps{}, fault.New(fault.Invalid, "there are no onboarding steps for provider %q", provider)
	}
	return build(externalID, principal)
}

// simulated needs nothing: its cloud is this service's own.
func simulated(string, string) (Steps, error) {
	return Steps{Provider: "simulated", Policies: []CloudPolicy{}, Methods: []Method{{
		AuthMethod: "simulated", Title: "A cloud that is simulated: there is nothing to prepare", Recommended: true,
		Commands: []string{}, Credentials: []string{},
	}}}, nil
}

func amazon(externalID, principal string) (Steps, error) {
	switch {
	case !externalIDForm.MatchString(externalID):
		return Steps{}, fault.New(fault.Invalid, "%q cannot be an external id: 2 to 256 letters, digits and +=,.@:/-_", externalID)
	case !principalForm.MatchString(principal):
		return Steps{}, fault.New(fault.Invalid, "%q cannot assume a role: it is neither an account number nor an ARN of IAM", principal)
	}
	policies, err := awsPolicies()
	if err != nil {
		return Steps{}, err
	}
	methods, err := awsMethods(externalID, principal, policies)
	if err != nil {
		return Steps{}, err
	}
	return Steps{Provider: "aws", ExternalID: &externalID, Principal: &principal, Policies: policies, Methods: methods}, nil
}

// awsPolicies builds the levels, each from the statements of its own and of those below.
func awsPolicies() ([]CloudPolicy, error) {
	var out []CloudPolicy
	var statements []statement
	var actions []string
	for _, l := range awsLevels {
		statements = append(statements, l.statements...)
		for _, s := range l.statements {
			actions = append(actions, s.Action...)
		}
		doc, err := encodeIndented(document{Version: "2012-10-17", Statement: statements})
		if err != nil {
			return nil, fmt.Errorf("write policy %s: %w", l.name, err)
		}
		sorted := slices.Sorted(slices.Values(actions))
		out = append(out, CloudPolicy{Level: l.name, Actions: slices.Compact(sorted), Document: doc})
	}
	return out, nil
}
