package cloud

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Changeable is one kind of resource in one place of an account. Providers have one for each kind that they change;
// Changing makes a Changer's operations of it.
type Changeable interface {
	// Describe reads a resource. One that is gone is class NotFound, unless the token's change restored it.
	Describe(ctx context.Context, uid, token string) (Description, error)
	// Complete returns the values that a change sets, with Carried replaced, and the effects that its undo does not
	// give back. Values that are not possible are class Invalid, a change that is not possible class Unsupported.
	Complete(ctx context.Context, d Description, want Values) (set Values, limits []string, err error)
	// Set makes the call that brings the values about. d is a read of this moment.
	Set(ctx context.Context, d Description, c ChangeCall) error
}

// Changing is a kind that can be changed, with its description in the catalogue.
type Changing struct {
	Changeable
	Of KindChange
}

// OpenChange opens the kind of a change for one resource. A Conn that embeds it is a Changer. A change that the
// catalogue does not have is class Unsupported, a resource of another account or region NotFound.
type OpenChange func(ctx context.Context, c Change) (Changing, error)

var _ Changer = OpenChange(nil)

// DescribeForChange reads a resource.
func (o OpenChange) DescribeForChange(ctx context.Context, c Change) (Description, error) {
	k, err := o(ctx, c)
	if err != nil {
		return Description{}, err
	}
	return k.Describe(ctx, c)
}

// PlanChange plans a change and writes nothing.
func (o OpenChange) PlanChange(ctx context.Context, c Change) (ChangePlan, error) {
	k, err := o(ctx, c)
	if err != nil {
		return ChangePlan{}, err
	}
	return k.Plan(ctx, c)
}

// ApplyChange makes one call.
func (o OpenChange) ApplyChange(ctx context.Context, c ChangeCall) error {
	k, err := o(ctx, c.Change)
	if err != nil {
		return err
	}
	return k.Apply(ctx, c)
}

// CheckChange reports whether the values of a call are there.
func (o OpenChange) CheckChange(ctx context.Context, c ChangeCall) (reached bool, now Values, err error) {
	k, err := o(ctx, c.Change)
	if err != nil {
		return false, nil, err
	}
	return k.Check(ctx, c)
}

// Describe reads a resource; one that is gone has the value exists "false".
func (k Changing) Describe(ctx context.Context, c Change) (Description, error) {
	d, err := k.Changeable.Describe(ctx, c.UID, c.Token)
	if err != nil && ClassOf(err) == NotFound {
		return Description{Values: Values{ExistsValue: "false"}}, nil
	}
	return d, err
}

// Plan plans a change of a resource that is there.
func (k Changing) Plan(ctx context.Context, c Change) (ChangePlan, error) {
	d, err := k.Changeable.Describe(ctx, c.UID, c.Token)
	if err != nil {
		return ChangePlan{}, err
	}
	if err = k.refuse(d, c.Verb); err != nil {
		return ChangePlan{}, err
	}
	if c.Verb.RemovesResource() {
		return k.planRemoval(d, c), nil
	}
	return k.planSettings(ctx, d, c)
}

// refuse returns why the change cannot be made now, or nil.
func (k Changing) refuse(d Description, verb ChangeVerb) error {
	switch {
	case d.Busy != "":
		return ErrMoving("%s", d.Busy)
	case verb.RemovesResource():
		return k.refuseRemoval(d)
	}
	return nil
}

// refuseRemoval returns why the resource cannot be removed, or nil.
func (k Changing) refuseRemoval(d Description) error {
	switch {
	case len(d.Dependents) > 0:
		return ErrUnsupported("it is in use by %s", strings.Join(d.Dependents, ", "))
	case d.Locked != "":
		return ErrUnsupported("it is locked: %s", d.Locked)
	}
	return nil
}

func (k Changing) planSettings(ctx context.Context, d Description, c Change) (ChangePlan, error) {
	set, limits, err := k.Complete(ctx, d, c.Want)
	if err != nil {
		return ChangePlan{}, err
	}
	p := ChangePlan{Before: Values{}, After: set, Limits: limits, Undo: k.Of.Undo, Native: d.Native}
	if d.has(set.Own()) {
		return p, ErrUnsupported("it has these values already: %s", textOfValues(set.Own()))
	}
	for name := range set.Own() {
		p.Before[name] = d.Values[name]
	}
	p.Calls = []string{fmt.Sprintf("%s of %s in %s: %s", k.Of.Call, c.UID, c.Region, textOfValues(p.After))}
	return p, nil
}

func (k Changing) planRemoval(d Description, c Change) ChangePlan {
	p := ChangePlan{
		Before: maps.Clone(d.Values), After: Values{ExistsValue: "false"}, Limits: slices.Clone(k.Of.Limits),
		Undo: k.Of.Undo, Native: d.Native,
	}
	delete(p.Before, MarkValue)
	delete(p.Before, CopyValue)
	p.Before[ExistsValue] = "true"
	for _, s := range c.Calls(p.After) {
		switch s.Name {
		case StepMark:
			p.Calls = append(p.Calls, fmt.Sprintf("tag %s in %s with %s", c.UID, c.Region, MarkTag))
		case StepCopy:
			p.Calls = append(p.Calls, k.copyCall(c.UID))
			if k.Of.Kept == "" {
				p.Limits = append(p.Limits,
					"the snapshot is kept and billed for 30 days, and then deleted; after a rollback it stays")
			}
		default:
			p.Calls = append(p.Calls, fmt.Sprintf("%s of %s in %s", k.Of.Call, c.UID, c.Region))
		}
	}
	return p
}

// copyCall returns the step that keeps the data, in words.
func (k Changing) copyCall(uid string) string {
	if k.Of.Kept != "" {
		return "check that " + k.Of.Kept + " of " + uid + " keeps its data"
	}
	return fmt.Sprintf("take a snapshot of %s and wait until it is complete", uid)
}

// Apply makes one call, unless the values are there.
func (k Changing) Apply(ctx context.Context, c ChangeCall) error {
	d, err := k.Describe(ctx, c.Change)
	if err != nil || d.has(c.Set) {
		return err
	}
	if !d.Exists() && c.Set[ExistsValue] != "true" {
		return ErrNotFound("the resource no longer exists at its provider")
	}
	if d.Busy != "" {
		return ErrMoving("%s", d.Busy)
	}
	if c.Set[ExistsValue] == "false" {
		if err = k.refuseRemoval(d); err != nil {
			return err
		}
	}
	return k.Set(ctx, d, c)
}

// Check reports whether the values of a call are there.
func (k Changing) Check(ctx context.Context, c ChangeCall) (reached bool, now Values, err error) {
	d, err := k.Describe(ctx, c.Change)
	now = Values{}
	for name := range c.Set {
		now[name] = d.Values[name]
	}
	return err == nil && d.has(c.Set), now, err
}

// has reports whether the resource has the values.
func (d Description) has(set Values) bool {
	for name, to := range set {
		if is := d.Values[name]; is != to {
			return false
		}
	}
	return true
}

// textOfValues returns values in the order of their names.
func textOfValues(v Values) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		out = append(out, name+" "+v[name])
	}
	return strings.Join(out, ", ")
}
