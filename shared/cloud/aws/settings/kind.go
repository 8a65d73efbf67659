// Package settings changes values of resources of AWS by tables: a kind has the calls that read it, the paths of its
// values in their answers, and the calls that set the values.
package settings

import (
	"context"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/definition"
)

// call is one operation, with its parameters.
type call struct {
	op string // as permissions name it: "dynamodb:UpdateTable"
	// iam is the permission if it has another name.
	iam string
	// http is the method and the path of a REST operation: "GET /clusters/{name}". Its variables are parts of the UID.
	http string
	in   params
	// none is the code of the error that says that there is no such configuration.
	none string
	// needs is the path of what the call asks for; without it, the resource is changed by hand.
	needs string
}

// need returns the permission of a call.
func (c call) need() string {
	if c.iam != "" {
		return c.iam
	}
	return c.op
}

// read is a call that reads a part of a resource. at is the path of that part in the answer; the parts of several reads
// are put side by side.
type read struct {
	call
	at string
}

// value is one value of a resource.
type value struct {
	// Value says where the value lies in the definition. Its Write is the parameter of the call that sets it.
	definition.Value
	when  string // the path of a switch: unless it is true, the value is Or
	has   string // the value is whether the list at the path has this text
	field string // the value is the texts of this field of the list at the path, with commas between them
	// texts says that the value is the texts of a list.
	texts bool
	// present says that the value is whether there is anything at the path.
	present bool
	others  bool // the value is the number of elements at the path without the first
	empty   bool // "" is a value, too
	// made returns the parameter of a value that is written in another form than it is read; nil for others.
	made func(text string) any
	// calls set the value, by the value; "" is the call for every other. A call for one value takes no value.
	calls map[string]call
	// less is the call for a number that is below the present one, if it is another call.
	less  *call
	limit string // what the undo does not give back
}

// kind is a type of resource with values that some verbs set.
type kind struct {
	typeOf string
	verbs  []cloud.ChangeVerb
	uid    string // the pattern of what follows the account in its ARN; "" if only its last part is used
	reads  []read
	// state is the path of the state, and ready are the states in which the values can be set.
	state, ready string
	values       []value
	// check returns why values cannot be set, after a fresh read; nil for kinds whose values can always be set.
	check func(ctx context.Context, k *change, d cloud.Description, set cloud.Values) error
}

// in returns the value in a definition, as a text.
func (v value) in(doc map[string]any) string {
	at := find(doc, v.Path)
	switch {
	case v.when != "" && textOf(find(doc, v.when)) != "true":
		return v.Or
	case v.has != "":
		return strconv.FormatBool(contains(textsOf(at, v.field), v.has))
	case v.others && at != nil:
		return strconv.Itoa(len(listOf(at)) - 1)
	case v.present:
		return strconv.FormatBool(len(listOf(at)) > 0)
	case v.texts || v.field != "":
		return strings.Join(textsOf(at, v.field), ",")
	}
	plain := v.Value
	plain.Path = "at"
	return plain.In(definition.Document{"at": firstOf(at)})
}

func contains(all []string, one string) bool {
	for _, is := range all {
		if strings.EqualFold(is, one) {
			return true
		}
	}
	return false
}
