package settings

import (
	"context"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
)

// removal is a type of resource that is marked and deleted while a read shows that nothing uses it.
type removal struct {
	typeOf, uid string
	reads       []read
	users       []user
	// state is the path of the state, and in are the states in which the resource may be deleted; "" for any.
	state, in string
	// gone are the states of a resource that is deleted already.
	gone string
	// goneAt is the path of the time at which it is deleted for good; "" if there is none.
	goneAt string
	// locks says why nobody may delete a resource, by paths and the texts there; "*" is any text.
	locks []lock
	// inUse returns what uses a resource, where that takes more reads than one.
	inUse func(ctx context.Context, p *place) ([]string, error)
	mark  string // the path of the tag that marks it
	// tag and untag set and remove the mark; {token} is its value.
	tag, untag, remove call
	restore            *call // nil: nothing restores it
}

// user is a place where an answer names what uses a resource.
type user struct {
	by    call   // its answer; no call is the definition of the resource
	at    string // the path of a list, or of a text
	field string
	what  string // "instance"
}

type lock struct{ path, text, why string }

// removing deletes one resource.
type removing struct {
	removal
	place
}

var _ cloud.Changeable = (*removing)(nil)

func openRemoval(at resource.Place, of cloud.KindChange, uid string) (cloud.Changeable, bool) {
	for _, k := range removals() {
		if k.typeOf != of.Type || of.Verb != cloud.Delete {
			continue
		}
		if parts, ok := partsOf(uid, k.uid); ok {
			return &removing{k, place{of, at, parts}}, true
		}
	}
	return nil, false
}

// Describe reads a resource, its mark, its locks, and what uses it.
func (k *removing) Describe(ctx context.Context, _, _ string) (cloud.Description, error) {
	doc, err := k.readAll(ctx, k.reads)
	if err != nil {
		return cloud.Description{}, err
	}
	state := textOf(find(doc, k.state))
	if at := textOf(find(doc, k.goneAt)); at != "" {
		return cloud.Description{}, cloud.ErrNotFound("%s is deleted", k.parts["arn"])
	}
	if k.gone != "" && slices.Contains(strings.Fields(k.gone), state) {
		return cloud.Description{}, cloud.ErrNotFound("%s is %s", k.parts["arn"], state)
	}
	d := cloud.Description{
		Values: cloud.Values{cloud.ExistsValue: "true", cloud.MarkValue: textOf(find(doc, k.mark))},
		Locked: k.lockOf(doc, state),
	}
	d.Dependents, err = k.usersIn(ctx, doc)
	return d, err
}

func (k *removing) lockOf(doc map[string]any, state string) string {
	for _, l := range k.locks {
		if is := textOf(find(doc, l.path)); is != "" && (l.text == "*" || is == l.text) {
			return l.why
		}
	}
	if k.in != "" && !slices.Contains(strings.Fields(k.in), state) {
		return "it is " + state
	}
	return ""
}

// usersIn returns what uses a resource. A resource does not use itself.
func (k *removing) usersIn(ctx context.Context, doc map[string]any) ([]string, error) {
	var out []string
	for _, u := range k.users {
		from := doc
		if u.by.op != "" {
			answer, err := k.send(ctx, u.by, scope{k.parts, doc, doc})
			if err != nil {
				return nil, err
			}
			from = answer
		}
		for _, name := range textsOf(find(from, u.at), u.field) {
			if name != k.parts["name"] {
				out = append(out, u.what+" "+name)
			}
		}
	}
	if k.inUse == nil {
		return out, nil
	}
	more, err := k.inUse(ctx, &k.place)
	return append(out, more...), err
}

// Complete refuses: there are no values to set.
func (k *removing) Complete(context.Context, cloud.Description, cloud.Values) (cloud.Values, []string, error) {
	return nil, nil, cloud.ErrUnsupported("it is only deleted")
}

// Set marks a resource, deletes it, or restores it where AWS does.
func (k *removing) Set(ctx context.Context, _ cloud.Description, c cloud.ChangeCall) error {
	made := k.remove
	switch mark, marks := c.Set[cloud.MarkValue]; {
	case marks && mark == "":
		made = k.untag
	case marks:
		k.parts["token"], made = mark, k.tag
	case c.Set[cloud.ExistsValue] != "false" && k.restore == nil:
		return cloud.ErrUnsupported("nothing restores a deleted %s", k.typeOf)
	case c.Set[cloud.ExistsValue] != "false":
		made = *k.restore
	}
	return k.write(ctx, made, scope{parts: k.parts})
}
