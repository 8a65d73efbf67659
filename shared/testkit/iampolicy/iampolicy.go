// Package iampolicy decides requests by identity policies of IAM as AWS does (IAM user guide, "Policy evaluation logic"
// and "IAM JSON policy elements: Condition operators"). AWS's own simulator needs an account, and emulators do not
// evaluate conditions of identity policies. Elements and operators that the package does not know are errors, so that
// no policy is misjudged in silence.
package iampolicy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Statement is a statement of a policy document.
type Statement struct {
	Sid, Effect           string
	Action, NotAction     values
	Resource, NotResource values
	Condition             map[string]map[string]values // by operator, then by context key
}

// values is a text, or a list of texts.
type values []string

// UnmarshalJSON reads a text, a truth value or a list of texts.
func (v *values) UnmarshalJSON(b []byte) error {
	var one any
	if err := json.Unmarshal(b, &one); err != nil {
		return err
	}
	list, isList := one.([]any)
	if !isList {
		list = []any{one}
	}
	for _, item := range list {
		switch item := item.(type) {
		case string:
			*v = append(*v, item)
		case bool:
			*v = append(*v, strconv.FormatBool(item))
		default:
			return fmt.Errorf("%s is neither a text nor a list of texts", b)
		}
	}
	return nil
}

// Request is a request that AWS decides. Context are the values of its context keys; a key that is absent has no entry.
type Request struct {
	Action, Resource string
	Context          map[string][]string
}

// Decision is the outcome of a request.
type Decision string

// The outcomes. An explicit denial overrides every permission.
const (
	Allowed          Decision = "allowed"
	ImplicitlyDenied Decision = "implicitly denied"
	ExplicitlyDenied Decision = "explicitly denied"
)

// Parse reads the statements of a policy document, in JSON. It refuses unknown elements.
func Parse(document []byte) ([]Statement, error) {
	var out struct {
		Version, ID string
		Statement   []Statement
	}
	d := json.NewDecoder(strings.NewReader(string(document)))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("parse a policy: %w", err)
	}
	for _, s := range out.Statement {
		if s.Effect != "Allow" && s.Effect != "Deny" || len(s.Action)+len(s.NotAction) == 0 ||
			len(s.Resource)+len(s.NotResource) == 0 {
			return nil, fmt.Errorf("the statement %+v has no effect, no action or no resource", s)
		}
	}
	return out.Statement, nil
}

// Decide returns the decision of the statements of all policies of an identity.
func Decide(statements []Statement, r Request) (Decision, error) {
	out := ImplicitlyDenied
	for _, s := range statements {
		applies, err := s.appliesTo(r)
		switch {
		case err != nil:
			return "", err
		case applies && s.Effect == "Deny":
			return ExplicitlyDenied, nil
		case applies:
			out = Allowed
		}
	}
	return out, nil
}

// appliesTo reports whether the statement is about the request.
func (s Statement) appliesTo(r Request) (bool, error) {
	action, resource := matchesAction(s.Action, r.Action), matchesAny(s.Resource, r.Resource)
	if len(s.NotAction) > 0 {
		action = !matchesAction(s.NotAction, r.Action)
	}
	if len(s.NotResource) > 0 {
		resource = !matchesAny(s.NotResource, r.Resource)
	}
	holds := action && resource
	for operator, keys := range s.Condition {
		for key, want := range keys {
			ok, err := evaluate(operator, want, lookUp(r.Context, key))
			if err != nil {
				return false, err
			}
			holds = holds && ok
		}
	}
	return holds, nil
}

// lookUp returns the values of a context key. Names of keys are compared without case.
func lookUp(context map[string][]string, key string) []string {
	for name, v := range context {
		if strings.EqualFold(name, key) {
			return v
		}
	}
	return nil
}

// matchesAction reports whether a pattern matches the action. Actions are compared without case.
func matchesAction(patterns []string, action string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return matches(strings.ToLower(p), strings.ToLower(action))
	})
}

func matchesAny(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, text) })
}

// matches reports whether a pattern with * for any text and ? for one character matches a text.
func matches(pattern, text string) bool {
	for pattern != "" {
		switch {
		case pattern[0] == '*':
			for i := range len(text) + 1 {
				if matches(pattern[1:], text[i:]) {
					return true
				}
			}
			return false
		case text == "" || pattern[0] != '?' && pattern[0] != text[0]:
			return false
		}
		pattern, text = pattern[1:], text[1:]
	}
	return text == ""
}
