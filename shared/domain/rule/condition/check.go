package condition

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/fault"
)

// checkSize refuses a rule without an id, without a condition, or with a long one.
func checkSize(r *rule.Rule) error {
	switch size := len(r.Condition); {
	case r.ID == "":
		return fault.New(fault.Invalid, "a rule has no id; give it one that begins with \"custom-\"")
	case strings.TrimSpace(r.Condition) == "":
		return invalid(r, "its condition is empty; write one such as res.status == 'stopped'")
	case size > MaxBytes:
		return invalid(r, "its condition has %d bytes; at most %d are allowed: split it into several rules", size,
			MaxBytes)
	}
	return nil
}

// explainIssue returns the first error of cel with its place and without cel's drawing of the line.
func (c *Condition) explainIssue(issues *cel.Issues) error {
	first := issues.Errors()[0]
	message, _, _ := strings.Cut(first.Message, " expecting ") // and a list of all tokens
	if args, ok := strings.CutPrefix(message, "found no matching overload for "); ok {
		message = "the operands do not fit: " + plainTypes(args)
	}
	if strings.Contains(message, "token recognition error at: '= '") {
		message += "; write == to compare"
	}
	message = fault.CleanText(message, maxMessage)
	if first.Location.Line() < 1 {
		return invalid(c.Rule, "%s; write it with fewer parentheses, or split it into several rules", message)
	}
	return invalid(c.Rule, "%s: %s", place(first.Location.Line(), first.Location.Column()), message)
}

// maxShown is the number of characters of a foreign text that an error shows.
const maxShown = 60

// show returns a foreign text for an error, cut to a readable length.
func show(text string) string { return fault.CleanText(text, maxShown) }

// maxMessage is the number of characters of a message of cel that an error shows.
const maxMessage = 200

// isFunction reports whether a condition may call a function or use an operator.
func isFunction(name string) bool {
	return name == overloads.Size || name == operators.Divide ||
		slices.ContainsFunc(functions, func(f function) bool { return f.name == name })
}

// unknownFunction says that a function or an operator cannot be used.
func unknownFunction(name string) string {
	if symbol, isOperator := operators.FindReverse(name); isOperator {
		return fmt.Sprintf("operator %s cannot be used; there are && || ! == != < <= > >= + - * / in ?:", symbol)
	}
	return fmt.Sprintf("function %q is unknown%s", show(name), rule.Nearest(name, functionNames()))
}

// plainTypes replaces the names of types in a message of cel by ours.
func plainTypes(message string) string {
	return strings.NewReplacer("double", string(Number), "google.protobuf.Timestamp", "timestamp",
		"google.protobuf.Duration", "duration").Replace(message)
}

// functionNames returns the names of functions and macros that are written as such.
func functionNames() []string {
	out := []string{"size"}
	for _, f := range functions {
		if !strings.ContainsAny(f.name, "_@!") {
			out = append(out, f.name)
		}
	}
	return append(out, macros...)
}

// Limits of the values that a condition reads. The estimate of its cost assumes them, so it bounds each evaluation. A
// longer value is unknown (TooLong).
const (
	MaxText  = 1_024 // bytes of a text
	MaxItems = 250   // items of a list, and entries of a map
)

// sizes tells cel the greatest sizes of values.
type sizes struct{}

func (sizes) EstimateSize(n cost.AstNode) *cost.SizeEstimate {
	if n.ComputedSize() != nil {
		return nil
	}
	switch n.Type().Kind() { //nolint:exhaustive // the others have one size
	case types.StringKind:
		return &cost.SizeEstimate{Min: 0, Max: MaxText}
	case types.ListKind, types.MapKind:
		return &cost.SizeEstimate{Min: 0, Max: MaxItems}
	}
	return nil
}

func (sizes) EstimateCallCost(string, string, *cost.AstNode, []cost.AstNode) *cost.CallEstimate {
	return nil
}

// checkCost refuses a condition that may take too long.
func (c *Condition) checkCost(env *cel.Env, checked *cel.Ast) error {
	estimate, err := env.EstimateCost(checked, sizes{})
	if err != nil {
		return invalid(c.Rule, "its cost cannot be estimated: %v", err)
	}
	if c.Cost = estimate.Max; c.Cost > MaxCost {
		return invalid(c.Rule, "its cost may be %d; at most %d is allowed: loop over one list only, compare with "+
			"fewer values, and write patterns in the condition", c.Cost, MaxCost)
	}
	return nil
}
