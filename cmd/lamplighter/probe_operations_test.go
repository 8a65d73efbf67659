package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// swept is an operation of the interface description.
type swept struct {
	*openapi3.Operation
	method, path string
}

// public reports whether anybody may ask.
func (op swept) public() bool { return op.Security != nil && len(*op.Security) == 0 }

func operations(t *testing.T, document []byte) []swept {
	t.Helper()
	var ops []swept
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range doc.Paths.InMatchingOrder() {
		for method, op := range doc.Paths.Value(path).Operations() {
			// which nobody from outside may call
			if policy, _ := op.Extensions["x-policy"].(string); !strings.HasPrefix(policy, "worker:") {
				ops = append(ops, swept{op, method, path})
			}
		}
	}
	slices.SortFunc(ops, func(a, b swept) int { return strings.Compare(a.OperationID, b.OperationID) })
	return ops
}

// either are members and parameters that are not required by themselves, but one of them is.
var either = map[string]bool{"addTeamResources resourceID": true, "calculateCapacity multiplier": true}

// schema is that of the body of op, nil without one.
func schema(op swept) *openapi3.Schema {
	if op.RequestBody == nil || op.RequestBody.Value.Content.Get("application/json") == nil {
		return nil
	}
	return op.RequestBody.Value.Content.Get("application/json").Schema.Value
}

// members returns the names of all members of s, at any depth.
func members(s *openapi3.Schema, depth int) []string {
	if s == nil || depth > 8 {
		return nil
	}
	var out []string
	for name, ref := range s.Properties {
		out = append(out, name)
		out = append(out, members(ref.Value, depth+1)...)
	}
	if s.Items != nil {
		out = append(out, members(s.Items.Value, depth+1)...)
	}
	for _, any := range s.AnyOf {
		out = append(out, members(any.Value, depth+1)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// value returns what of orgValues is sent under a name.
func (e sampleValues) value(op swept, name string) string {
	if name == "jobID" && strings.HasPrefix(op.path, "/resources/refresh/") {
		return e["refresh"]
	}
	if name == "jobID" && strings.HasPrefix(op.path, "/billing/imports/") {
		return e["upload"]
	}
	if name == "jobID" && strings.HasPrefix(op.path, "/reports/exports/") {
		return e["export"]
	}
	if name == "policyID" && strings.HasPrefix(op.path, "/autoscaler-policies/") {
		return e["autoscalerPolicyID"]
	}
	if name == "name" && op.OperationID == "pushUnitValues" {
		return e["metric"]
	}
	return e[name]
}
