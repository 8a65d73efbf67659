package cloud

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// ChangeVerb names a kind of change that a Changer makes. The names are those of the verbs of rules.
type ChangeVerb string

// The verbs of a Changer.
const (
	ChangeStorage ChangeVerb = "change-storage" // sets type, size, IOPS or throughput of storage
	Release       ChangeVerb = "release"        // gives an address back
	Delete        ChangeVerb = "delete"         // marks a resource, takes a snapshot of it, and deletes it later
	Resize        ChangeVerb = "resize"         // sets the type of a machine
	SetLifecycle  ChangeVerb = "set-lifecycle"  // sets a retention
	Guard         ChangeVerb = "guard"          // sets a protection
	Setting       ChangeVerb = "setting"        // sets another property
)

// RemovesResource reports whether the resource does not exist any more after a change with the verb.
func (v ChangeVerb) RemovesResource() bool { return v == Release || v == Delete }

// Values are settings of a resource by the names of the facts of rules, as texts: "gp3", "3000", "true".
type Values map[string]string

// The names of values that every kind with the verb Release or Delete has.
const (
	// ExistsValue is "true" or "false".
	ExistsValue = "exists"
	// MarkValue is the mark of the change that will delete the resource, a tag of it; "" if there is none.
	MarkValue = "mark"
	// CopyValue is the state of the snapshot that the change took: "", CopyPending, CopyComplete or CopyFailed.
	CopyValue = "copy"
)

// RolloutValue is the state of the pods of a workload whose template a change sets: RolloutComplete, RolloutProgressing
// or RolloutFailed. It is no value of its own: it is wanted after the change, is not compared with the one before, and
// is not given back.
const RolloutValue = "rollout"

// The states of a rollout.
const (
	RolloutComplete    = "complete"    // all pods have the template of the change, and are available
	RolloutProgressing = "progressing" // some have not yet
	RolloutFailed      = "failed"      // the provider has given up
)

// The states of a snapshot.
const (
	CopyPending  = "pending"
	CopyComplete = "complete"
	CopyFailed   = "failed"
)

// Taken begins a wanted value that takes the words behind it, with commas between them, from a list.
const Taken = "-"

// MarkTag is the tag of a resource that will be deleted, and of the snapshot that its change took. RestoredTag is the
// tag of a resource that an undo made again. The value of both is Change.Token.
const (
	MarkTag     = "lamplighter-remediation"
	RestoredTag = "lamplighter-restored"
)

// Own returns the values without the state of a rollout.
func (v Values) Own() Values {
	out := maps.Clone(v)
	delete(out, RolloutValue)
	return out
}

// Carried is a wanted value that the kind computes: what the storage can do now.
const Carried = "@carried"

// Added begins a wanted value that is added to the present one, a list of texts with commas between them.
const Added = "+"

// Description is a resource as a Changer reads it: never from an index, always from the provider's own read.
type Description struct {
	Values     Values
	Etag       string   // the version of the resource where the provider has one
	Dependents []string // the resources that use it. It is neither released nor deleted while there are any
	Locked     string   // why nobody may delete it; empty if it may be deleted
	Busy       string   // why no change can begin now; empty if one can
	// FreeAt is when the next change can begin at the earliest, beside Busy. It is zero if that is not known.
	FreeAt time.Time
	// Native is the definition of the resource that a restore needs.
	Native json.RawMessage
	// CopyUID is the native id of the snapshot that the change took, beside CopyValue; empty without one.
	CopyUID string
}

// Exists reports whether the resource is there.
func (d Description) Exists() bool { return d.Values[ExistsValue] != "false" }

// Change is a wanted change of one resource.
type Change struct {
	Verb   ChangeVerb
	Kind   string
	Region string
	UID    string
	// Token names the change at the provider: the mark of a resource, its snapshot and its restored copy carry it. It
	// has 1 to 60 letters, digits, "-" and "_". A plan needs none.
	Token string
	Want  Values   // of a verb that sets values: texts, or Carried
	Steps []string // of the verbs Release and Delete: StepCopy and StepSelf
}

// The steps of a change.
const (
	StepMark = "mark" // tags the resource, so that its owner sees that it will be deleted
	StepCopy = "copy" // takes a snapshot
	StepSelf = "self" // sets the values, or removes the resource
)

// ChangeStep is one call of a change.
type ChangeStep struct {
	Name string
	Set  Values // the values after the call
}

// Calls returns the steps of a change that ends with the values after, in their order.
func (c Change) Calls(after Values) []ChangeStep {
	var out []ChangeStep
	if c.Verb == Delete {
		out = append(out, ChangeStep{StepMark, Values{MarkValue: c.Token}})
	}
	if slices.Contains(c.Steps, StepCopy) {
		out = append(out, ChangeStep{StepCopy, Values{CopyValue: CopyComplete}})
	}
	return append(out, ChangeStep{StepSelf, after})
}

// ChangePlan is a change in words and values. Making a plan writes nothing.
type ChangePlan struct {
	Calls  []string
	Before Values
	After  Values
	Undo   string
	Limits []string        // effects that the undo does not give back
	Native json.RawMessage // what the undo needs beside Before
}

// ChangeCall is a call that brings values about. The same call may be made again: it sets the same values.
type ChangeCall struct {
	Change
	Set Values
	// Native is the definition of a resource that the call restores.
	Native json.RawMessage
}

// Changer is a Conn of a provider with kinds that remediation changes (see ChangesOf).
type Changer interface {
	// DescribeForChange reads a resource with its values, its users and its locks. A resource that is gone has the
	// value exists "false", unless the change of that token restored it.
	DescribeForChange(ctx context.Context, c Change) (Description, error)
	// PlanChange plans a change and writes nothing. What forbids the change is class Unsupported or Moving. A wanted
	// value that is not possible is class Invalid.
	PlanChange(ctx context.Context, c Change) (ChangePlan, error)
	// ApplyChange makes one call. It refuses to remove a resource that is used or locked in a fresh read (class
	// Unsupported), and makes no call if the values are there.
	ApplyChange(ctx context.Context, c ChangeCall) error
	// CheckChange reports whether the values of a call are there, and returns the present values of the same names.
	CheckChange(ctx context.Context, c ChangeCall) (reached bool, now Values, err error)
}

// RemediateCapability is the capability of the permissions of changes, as in Permission.Capability.
const RemediateCapability = "remediate"

// ChangeProber is a Conn that tells the permissions of a change before the change is made.
type ChangeProber interface {
	// ChangePermissions returns the permissions of a change (KindChange.Needs), as Permissions does: granted, denied,
	// or unknown where the provider does not tell. A change that the catalogue does not have is class Unsupported.
	ChangePermissions(ctx context.Context, c Change) ([]Permission, error)
}

// NeedsOf returns the permissions of a change, each with the status unknown and a message that says why. A change that
// the catalogue does not have is class Unsupported.
func NeedsOf(c Change, why string) ([]Permission, error) {
	of, known := ChangeOf(c.Kind, c.Verb)
	if !known {
		return nil, ErrUnsupported("no %s of %s is made", c.Verb, c.Kind)
	}
	out := make([]Permission, len(of.Needs))
	for i, need := range of.Needs {
		out[i] = Permission{Capability: RemediateCapability, Action: need, Status: "unknown", Message: why}
	}
	return out, nil
}

// DescribeForChange returns the Conn's; class Unsupported when the Conn changes nothing.
func (d discreet) DescribeForChange(ctx context.Context, c Change) (Description, error) {
	changer, err := d.changer(c.Kind)
	if err != nil {
		return Description{}, err
	}
	got, err := changer.DescribeForChange(ctx, c)
	return got, d.s.hide(err)
}

// PlanChange returns the Conn's; class Unsupported when the Conn changes nothing.
func (d discreet) PlanChange(ctx context.Context, c Change) (ChangePlan, error) {
	changer, err := d.changer(c.Kind)
	if err != nil {
		return ChangePlan{}, err
	}
	got, err := changer.PlanChange(ctx, c)
	return got, d.s.hide(err)
}

// ApplyChange returns the Conn's; class Unsupported when the Conn changes nothing.
func (d discreet) ApplyChange(ctx context.Context, c ChangeCall) error {
	changer, err := d.changer(c.Kind)
	if err != nil {
		return err
	}
	return d.s.hide(changer.ApplyChange(ctx, c))
}

// CheckChange returns the Conn's; class Unsupported when the Conn changes nothing.
func (d discreet) CheckChange(ctx context.Context, c ChangeCall) (reached bool, now Values, err error) {
	changer, err := d.changer(c.Kind)
	if err != nil {
		return false, nil, err
	}
	reached, now, err = changer.CheckChange(ctx, c)
	return reached, now, d.s.hide(err)
}

// ChangePermissions returns the Conn's; unknown ones when the Conn does not tell them.
func (d discreet) ChangePermissions(ctx context.Context, c Change) ([]Permission, error) {
	p, ok := d.conn.(ChangeProber)
	if !ok {
		return NeedsOf(c, "its first use will tell")
	}
	all, err := p.ChangePermissions(ctx, c)
	for i := range all {
		all[i].Message = d.s.Replace(all[i].Message)
	}
	return all, d.s.hide(err)
}

func (d discreet) changer(kind string) (Changer, error) {
	if c, ok := d.conn.(Changer); ok {
		return c, nil
	}
	return nil, &Error{Class: Unsupported, Message: fmt.Sprintf("resources of type %s are not changed here", kind)}
}

var (
	_ Changer      = discreet{}
	_ ChangeProber = discreet{}
)
