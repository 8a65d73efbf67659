package simulated

import (
	"context"
	"encoding/json"
	"maps"

	"lamplighter.dev/shared/cloud"
)

// stageConn is a connection to the resources of a Stage.
type stageConn struct {
	*conn
	stage *Stage
}

var (
	_ cloud.Conn       = (*stageConn)(nil)
	_ cloud.Autoscaler = (*stageConn)(nil)
	_ cloud.Changer    = (*stageConn)(nil)
)

// find returns a resource and the request of a call about it.
func (c *stageConn) find(kind, region, uid, method string) (*staged, request, error) {
	r := request{method: method, op: "simulated:" + method, kind: kind, region: region}
	own := c.stage.all[uid]
	if own == nil || own.Type != kind {
		return nil, r, newFailure(cloud.NotFound, r, "NotFound", "there is no "+uid)
	}
	return own, r, nil
}

// Read returns the states of resources. A state has a snapshot where the kind remembers sizes.
func (c *stageConn) Read(ctx context.Context, kind, region string, uids []string) ([]cloud.State, error) {
	var out []cloud.State
	r := request{method: "Read", op: "simulated:Read", kind: kind, region: region, capability: discover}
	err := c.simulateCall(ctx, r, func(context.Context) error {
		c.stage.locked(func() {
			for _, uid := range uids {
				if own := c.stage.all[uid]; own != nil {
					out = append(out, own.state())
				}
			}
		})
		return nil
	})
	return out, err
}

func (r *staged) state() cloud.State {
	out := cloud.State{UID: r.UID, Status: r.status, Native: string(r.status)}
	if k, _ := cloud.KindOf(r.Type); k.Remembers && r.status == cloud.Running {
		out.Snapshot = json.RawMessage(`{"min":1,"max":1,"desired":1}`)
	}
	return out
}

// Act starts or stops resources, one call for each.
func (c *stageConn) Act(ctx context.Context, verb cloud.Verb, kind, region string,
	targets []cloud.Target,
) []cloud.Result {
	out := make([]cloud.Result, len(targets))
	for i, t := range targets {
		out[i] = cloud.Result{UID: t.UID, Err: c.actOn(ctx, verb, kind, region, t.UID)}
	}
	return out
}

//nolint:revive // verb, kind, place and name, as Act has them
func (c *stageConn) actOn(ctx context.Context, verb cloud.Verb, kind, region, uid string) error {
	own, r, err := c.find(kind, region, uid, "Act")
	if err != nil {
		return err
	}
	r.capability = startStop
	to := cloud.Running
	if verb == cloud.Stop {
		to = cloud.Stopped
	}
	set := map[string]string{"status": string(to)}
	return c.change(ctx, own, r, stagedChange{string(verb), set, to == cloud.Stopped, func() { own.status = to }})
}

// stagedChange is a call that changes a resource. ends says that a change ends with it, and not its undo.
type stagedChange struct {
	call string
	set  map[string]string
	ends bool
	do   func()
}

// change makes a call with the faults of the account and of the stage, and notes it.
func (c *stageConn) change(ctx context.Context, own *staged, r request, s stagedChange) error {
	if s.ends && c.stage.faults.Denied {
		return c.stage.note(own, s.call, s.set,
			newFailure(cloud.Denied, r, "AccessDenied", "not authorized to perform: "+s.call))
	}
	return c.stage.note(own, s.call, s.set, c.simulateCall(ctx, r, func(context.Context) error {
		c.stage.locked(s.do)
		return nil
	}))
}

// ReadAutoscaling returns the sizes of a group.
func (c *stageConn) ReadAutoscaling(ctx context.Context, kind, region, uid string) (cloud.Autoscaling, error) {
	own, r, err := c.find(kind, region, uid, "ReadAutoscaling")
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	r.capability = discover
	var out cloud.Autoscaling
	err = c.simulateCall(ctx, r, func(context.Context) error {
		c.stage.locked(func() { out = own.scaling })
		return nil
	})
	return out, err
}

// SetAutoscaling sets the sizes of a group.
func (c *stageConn) SetAutoscaling(ctx context.Context, kind, region, uid string, want cloud.Autoscaling) error {
	own, r, err := c.find(kind, region, uid, "SetAutoscaling")
	if err != nil {
		return err
	}
	r.capability = scale
	ends := !maps.Equal(sizesOf(want), sizesOf(own.Scaling))
	return c.change(ctx, own, r, stagedChange{"scale", sizesOf(want), ends, func() { own.scaling = want }})
}

// changing opens the change of one resource.
func (c *stageConn) changing(_ context.Context, want cloud.Change) (cloud.Changing, error) {
	own, r, err := c.find(want.Kind, want.Region, want.UID, "ApplyChange")
	if err != nil {
		return cloud.Changing{}, err
	}
	of, known := cloud.ChangeOf(want.Kind, want.Verb)
	if !known {
		return cloud.Changing{}, newFailure(cloud.Unsupported, r, "UnsupportedOperation", "no "+string(want.Verb)+
			" of "+want.Kind+" is made")
	}
	r.op, r.capability = of.Call, cloud.RemediateCapability
	return cloud.Changing{Changeable: &stagedValues{c, of, own, r}, Of: of}, nil
}

// stagedValues changes the values of one resource.
type stagedValues struct {
	c       *stageConn
	of      cloud.KindChange
	own     *staged
	request request
}

var _ cloud.Changeable = (*stagedValues)(nil)

// Describe reads the values.
func (k *stagedValues) Describe(ctx context.Context, uid, _ string) (cloud.Description, error) {
	d := cloud.Description{Values: cloud.Values{cloud.ExistsValue: "true"}}
	r := k.request
	r.method, r.op, r.capability = "DescribeForChange", "simulated:Describe", discover
	err := k.c.simulateCall(ctx, r, func(context.Context) error {
		k.c.stage.locked(func() { maps.Copy(d.Values, k.own.values) })
		return nil
	})
	if err == nil && !d.Exists() {
		err = newFailure(cloud.NotFound, r, "NotFound", uid+" is deleted")
	}
	return d, err
}

// Complete returns the values that the plan computed for those that a provider computes.
func (k *stagedValues) Complete(_ context.Context, _ cloud.Description, want cloud.Values) (cloud.Values, []string,
	error,
) {
	set := maps.Clone(want)
	for name, v := range set {
		if v == cloud.Carried {
			set[name] = k.own.After[name]
		}
	}
	return merged(set, k.computed()), nil, nil
}

// computed returns the values of the plan that its rule does not name: the provider sets them with the others.
func (k *stagedValues) computed() cloud.Values {
	out := cloud.Values{}
	for _, name := range k.of.Sets {
		if v, set := k.own.After[name]; set {
			out[name] = v
		}
	}
	return out
}

// Set makes one call. Where nothing restores a removed resource, it stays removed.
func (k *stagedValues) Set(ctx context.Context, d cloud.Description, call cloud.ChangeCall) error {
	if !d.Exists() && !k.of.HasUndo() {
		return newFailure(cloud.Unsupported, k.request, "NotFound", "a removed "+call.Kind+" cannot be restored")
	}
	return k.c.change(ctx, k.own, k.request, stagedChange{
		call: k.callName(call.Set), set: call.Set, ends: k.ends(call.Set), do: func() { k.bringAbout(call.Set) },
	})
}

// callName returns the name of a call in the record of the stage.
func (k *stagedValues) callName(set cloud.Values) string {
	_, marks := set[cloud.MarkValue]
	switch {
	case marks:
		return "tag"
	case set[cloud.CopyValue] != "":
		return "take a snapshot"
	case set[cloud.ExistsValue] == "true":
		return "restore"
	}
	return k.of.Call
}

// ends reports whether a change ends with a call that brings values about: they are neither marks nor those before.
func (k *stagedValues) ends(set cloud.Values) bool {
	for name, to := range set {
		if name != cloud.MarkValue && name != cloud.CopyValue && to != k.own.Values[name] {
			return true
		}
	}
	return false
}

// bringAbout sets the values of a call. The stage is locked.
func (k *stagedValues) bringAbout(set cloud.Values) {
	for name, to := range set {
		switch {
		case name == cloud.CopyValue && k.c.stage.faults.CopyHangs && to != "":
			k.own.values[name] = cloud.CopyPending
		case name == cloud.MarkValue && to == "":
			delete(k.own.values, cloud.MarkValue)
			delete(k.own.values, cloud.CopyValue)
		case name == cloud.ExistsValue && to == "true":
			k.own.values = maps.Clone(k.own.Values)
			return
		default:
			k.own.values[name] = to
		}
	}
}
