package condition

import (
	"fmt"
	"sync"

	"cel.dev/cel-go/cel"
	celenv "cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// function is a function or operator of CEL with its overloads; none stand for all.
type function struct {
	name      string
	overloads []string
}

// functions are the functions and operators of CEL that a condition may use, beside size and division. Numbers are
// doubles: CEL's integers, bytes, conversions and parts of dates are left out.
var functions = []function{
	{operators.Conditional, nil},
	{operators.LogicalAnd, nil},
	{operators.LogicalOr, nil},
	{operators.LogicalNot, nil},
	{operators.NotStrictlyFalse, nil},
	{operators.Equals, nil},
	{operators.NotEquals, nil},
	{operators.Less, ordered("less")},
	{operators.LessEquals, ordered("less_equals")},
	{operators.Greater, ordered("greater")},
	{operators.GreaterEquals, ordered("greater_equals")},
	{operators.Add, []string{
		overloads.AddDouble, overloads.AddString, overloads.AddList, overloads.AddDurationDuration,
		overloads.AddDurationTimestamp, overloads.AddTimestampDuration,
	}},
	{operators.Subtract, []string{
		overloads.SubtractDouble, overloads.SubtractDurationDuration, overloads.SubtractTimestampDuration,
		overloads.SubtractTimestampTimestamp,
	}},
	{operators.Multiply, []string{overloads.MultiplyDouble}},
	{operators.Negate, []string{overloads.NegateDouble}},
	{operators.In, nil},
	{operators.Index, nil},
	{overloads.Contains, nil},
	{overloads.StartsWith, nil},
	{overloads.EndsWith, nil},
	{overloads.Matches, nil},
	{overloads.TypeConvertDuration, []string{overloads.DurationToDuration, overloads.StringToDuration}},
	{overloads.TypeConvertTimestamp, []string{overloads.TimestampToTimestamp, overloads.StringToTimestamp}},
}

// ordered returns the overloads of a comparison of texts, numbers, times and durations.
func ordered(prefix string) []string {
	return []string{
		prefix + "_double", prefix + "_string", prefix + "_timestamp", prefix + "_duration", prefix + "_bool",
	}
}

// macros are the macros of CEL that a condition may use.
var macros = []string{operators.Has, operators.All, operators.Exists, operators.ExistsOne, operators.Filter}

// recursion limits the depth of nested parentheses and operators.
const recursion = 100

// newLanguage returns the environment of conditions without the names of a type.
func newLanguage() (*cel.Env, error) {
	subset := celenv.NewLibrarySubset()
	subset.IncludeMacros = macros
	for _, f := range functions {
		one := &celenv.Function{Name: f.name}
		for _, id := range f.overloads {
			one.Overloads = append(one.Overloads, &celenv.Overload{ID: id})
		}
		subset.IncludeFunctions = append(subset.IncludeFunctions, one)
	}
	env, err := cel.NewCustomEnv(
		cel.StdLib(cel.StdLibSubset(subset)), sizeFunction(), divideFunction(), cel.Variable(now, cel.TimestampType),
		cel.ParserExpressionSizeLimit(MaxBytes), cel.ParserRecursionLimit(recursion), cel.ParserErrorRecoveryLimit(1),
	)
	if err != nil {
		return nil, fmt.Errorf("declare the language of conditions: %w", err)
	}
	return declareGroups(env)
}

// declareGroups declares the groups of values.
func declareGroups(env *cel.Env) (*cel.Env, error) {
	options := []cel.EnvOption{cel.CustomTypeProvider(provider{env.CELTypeProvider(), &sync.Map{}})}
	for _, name := range groupNames {
		options = append(options, cel.Variable(name, cel.ObjectType(name)))
	}
	out, err := env.Extend(options...)
	if err != nil {
		return nil, fmt.Errorf("declare the values of conditions: %w", err)
	}
	return out, nil
}

// sizeFunction returns size(), whose result is a number as all others.
func sizeFunction() cel.EnvOption {
	item := cel.TypeParamType("A")
	list, texts := cel.ListType(item), cel.MapType(cel.TypeParamType("K"), item)
	one := func(id string, of *cel.Type) []cel.FunctionOpt {
		return []cel.FunctionOpt{
			cel.Overload("size_of_"+id, []*cel.Type{of}, cel.DoubleType, cel.UnaryBinding(sizeOf)),
			cel.MemberOverload(id+"_size_of", []*cel.Type{of}, cel.DoubleType, cel.UnaryBinding(sizeOf)),
		}
	}
	options := append(one("text", cel.StringType), one("list", list)...)
	return cel.Function(overloads.Size, append(options, one("map", texts)...)...)
}

// divideFunction returns the division of numbers. A division by zero fails, so that the result is unknown: the infinity
// of CEL is above each threshold.
func divideFunction() cel.EnvOption {
	numbers := []*cel.Type{cel.DoubleType, cel.DoubleType}
	return cel.Function(operators.Divide,
		cel.Overload("divide_numbers", numbers, cel.DoubleType, cel.BinaryBinding(divide)))
}

func divide(a, b ref.Val) ref.Val {
	x, isNumber := a.(types.Double)
	y, areNumbers := b.(types.Double)
	switch {
	case !isNumber || !areNumbers:
		return types.MaybeNoSuchOverloadErr(a)
	case y == 0:
		return types.NewErr("division by zero")
	}
	return x / y
}

func sizeOf(of ref.Val) ref.Val {
	s, ok := of.(traits.Sizer)
	if !ok {
		return types.MaybeNoSuchOverloadErr(of)
	}
	n, _ := s.Size().(types.Int)
	return types.Double(n)
}
