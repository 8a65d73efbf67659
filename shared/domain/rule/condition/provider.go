package condition

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// presence is the kind of the value that stands for has(x).
const presence Kind = "presence"

// duration is a kind of parameters.
const duration Kind = "duration"

// slotName is the name of a value in a compiled condition: its number and its kind, "17 string". All types of
// resources and all rules share one environment of cel for this reason. No name of a condition holds a space.
func slotName(at int, k Kind) string { return strconv.Itoa(at) + " " + string(k) }

// provider tells cel the types of values by their slot names.
type provider struct {
	types.Provider
	fields *sync.Map // of *types.FieldType, by slot name
}

// groupNames are the names of the groups of values.
var groupNames = []string{"res", "m", "p", "org"}

func isGroup(name string) bool { return slices.Contains(groupNames, name) }

var errNoValue = errors.New("a condition makes no groups of values")

// FindStructType returns the type of a group.
func (p provider) FindStructType(name string) (*types.Type, bool) {
	if !isGroup(name) {
		return p.Provider.FindStructType(name)
	}
	return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
}

// FindStructFieldType returns the type of a value of a group, and how it is read.
func (p provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if !isGroup(name) {
		return p.Provider.FindStructFieldType(name, field)
	}
	if t, ok := p.fields.Load(field); ok {
		return t.(*types.FieldType), true
	}
	number, kind, ok := strings.Cut(field, " ")
	at, err := strconv.Atoi(number)
	if !ok || err != nil {
		return nil, false
	}
	t, err := newFieldType(at, Kind(kind))
	if err != nil {
		return nil, false
	}
	p.fields.Store(field, t)
	return t, true
}

func newFieldType(at int, k Kind) (*types.FieldType, error) {
	out := &types.FieldType{IsSet: func(any) bool { return true }}
	out.GetFrom = func(of any) (any, error) { return of.(slots).read(at), nil }
	var err error
	switch k {
	case presence:
		out.Type = types.BoolType
		out.GetFrom = func(of any) (any, error) { return of.(slots).has(at), nil }
	case duration:
		out.Type = types.DurationType
	default:
		out.Type, err = k.cel()
	}
	return out, err
}

// NewValue refuses to make a group.
func (p provider) NewValue(string, map[string]ref.Val) ref.Val { return types.WrapErr(errNoValue) }
