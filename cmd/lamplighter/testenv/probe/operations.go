package probe

import (
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// Operation is an operation of the interface description.
type Operation struct {
	*openapi3.Operation
	Method, Path string
}

// IsPublic reports whether the operation needs no credential.
func (op Operation) IsPublic() bool { return op.Security != nil && len(*op.Security) == 0 }

// Operations returns the operations of an interface description, by their ids, without those that only workers may
// call.
func Operations(t *testing.T, document []byte) []Operation {
	t.Helper()
	var ops []Operation
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range doc.Paths.InMatchingOrder() {
		for method, op := range doc.Paths.Value(path).Operations() {
			// operations of workers are not for clients
			if policy, _ := op.Extensions["x-policy"].(string); !strings.HasPrefix(policy, "worker:") {
				ops = append(ops, Operation{op, method, path})
			}
		}
	}
	slices.SortFunc(ops, func(a, b Operation) int { return strings.Compare(a.OperationID, b.OperationID) })
	return ops
}

// OneOfRequired lists optional members and parameters. An operation requires at least one of its own.
var OneOfRequired = map[string]bool{
	"addTeamResources resourceID": true, "calculateCapacity multiplier": true,
	"refresh refreshToken": true, // or the cookie of the web console
}

// BodySchema returns the schema of op's body, or nil.
func BodySchema(op Operation) *openapi3.Schema {
	if op.RequestBody == nil || op.RequestBody.Value.Content.Get("application/json") == nil {
		return nil
	}
	return op.RequestBody.Value.Content.Get("application/json").Schema.Value
}

// MemberNames returns the names of all members of s, at any depth.
func MemberNames(s *openapi3.Schema, depth int) []string {
	if s == nil || depth > 8 {
		return nil
	}
	var out []string
	for name, ref := range s.Properties {
		out = append(out, name)
		out = append(out, MemberNames(ref.Value, depth+1)...)
	}
	if s.Items != nil {
		out = append(out, MemberNames(s.Items.Value, depth+1)...)
	}
	for _, any := range s.AnyOf {
		out = append(out, MemberNames(any.Value, depth+1)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// jobs maps the beginning of a path to the name of the value of its jobID, where that is not jobID.
var jobs = map[string]string{
	"/resources/refresh/": "refresh", "/recommendations/refresh/": "recommendationRefresh",
	"/reports/exports/": "export", "/resources/export/": "resourceExport",
}

// ruleValues maps names in requests about rules of recommendations to the names of their values.
var ruleValues = map[string]string{
	"ruleID": "recommendationRule", "scope": "ruleScope", "scopeID": "accountID", "planID": "rulePlan",
}

// Value returns the value for a name in requests to op.
func (e Values) Value(op Operation, name string) string {
	if name == "jobID" {
		for prefix, value := range jobs {
			if strings.HasPrefix(op.Path, prefix) {
				return e[value]
			}
		}
	}
	if strings.HasPrefix(op.Path, "/recommendations/rules") && ruleValues[name] != "" {
		return e[ruleValues[name]]
	}
	if name == "policyID" && strings.HasPrefix(op.Path, "/autoscaler-policies/") {
		return e["autoscalerPolicyID"]
	}
	if name == "name" && op.OperationID == "pushUnitValues" {
		return e["metric"]
	}
	return e[name]
}
