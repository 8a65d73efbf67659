package gcp

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/google/uuid"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// The modes of an autoscaler that matter here.
const (
	modeOff = "OFF"
	modeOn  = "ON"
)

// groupMemory is the state that a stop overwrites and a start restores. It leaves out the bounds of the autoscaler: a
// stop does not change them, and a customer's changes meanwhile are kept.
type groupMemory struct {
	Size int64  `json:"size"`
	Mode string `json:"mode,omitempty"` // of the autoscaler; "" when there is none
	Made string `json:"made,omitempty"` // when the group was made: one made again has its name
}

// markPattern matches the mark that a stop leaves at the end of an autoscaler's description.
var markPattern = regexp.MustCompile(` ?\[lamplighter: mode ([A-Z_]+), size (\d+)\]$`)

// stopMark returns the size and the mode that a stop wrote into the autoscaler's description; false when there is no
// mark.
func (g group) stopMark() (groupMemory, bool) {
	if g.scaler == nil {
		return groupMemory{}, false
	}
	m := markPattern.FindStringSubmatch(g.scaler.Description)
	if m == nil {
		return groupMemory{}, false
	}
	n, err := strconv.ParseInt(m[2], 10, 64)
	return groupMemory{Size: n, Mode: m[1]}, err == nil
}

// stopSnapshot returns the state that a stop of the group has to remember. For a group that is half stopped it is the
// state before the first stop.
func (g group) stopSnapshot() groupMemory {
	if m, ok := g.stopMark(); ok && g.mode() == modeOff {
		return groupMemory{Size: g.TargetSize, Mode: m.Mode, Made: g.CreationTimestamp}
	}
	return groupMemory{Size: g.TargetSize, Mode: g.mode(), Made: g.CreationTimestamp}
}

// getGroup reads a group and its autoscaler.
func getGroup(ctx context.Context, p place, r ref) (group, error) {
	m, err := call[googlerest.InstanceGroupManager](ctx, p.session,
		googlerest.NewGet("compute.instanceGroupManagers.get",
			r.placeAddress()+"/instanceGroupManagers/{instanceGroupManager}", p.project, r.location, r.name))
	if err != nil {
		return group{}, err
	}
	g := group{ref: r, InstanceGroupManager: m}
	if name := scalerName(m); name != "" {
		g.scaler, err = getScaler(ctx, p, r, name)
	}
	return g, err
}

// placeAddress returns the address of the zone or the region of a resource of Compute Engine, with placeholders for
// the project and the place.
func (r ref) placeAddress() string {
	if r.isRegional() {
		return googlerest.Compute + "projects/{project}/regions/{region}"
	}
	return googlerest.Compute + "projects/{project}/zones/{zone}"
}

func getScaler(ctx context.Context, p place, r ref, name string) (*googlerest.Autoscaler, error) {
	a, err := call[googlerest.Autoscaler](ctx, p.session, googlerest.NewGet("compute.autoscalers.get",
		r.placeAddress()+"/autoscalers/{autoscaler}", p.project, r.location, name))
	if isGone(err) { // deleted since the group was read
		return nil, nil //nolint:nilnil // a group that nothing scales is no failure
	}
	return a, err
}

func actGroup(ctx context.Context, p place, v cloud.Verb, t target) error {
	g, err := getGroup(ctx, p, t.ref)
	if err != nil {
		return err
	}
	if reason := tiedGroup(g.InstanceGroupManager); reason != "" {
		return cloud.ErrUnsupported("%s", reason)
	}
	if v == cloud.Stop {
		return stopGroup(ctx, p, g)
	}
	return startGroup(ctx, p, g, t)
}

// stopGroup switches the autoscaler off before it sets the size: Google forbids the other order.
func stopGroup(ctx context.Context, p place, g group) error {
	if mode := g.mode(); mode != "" && mode != modeOff {
		mark := fmt.Sprintf(" [lamplighter: mode %s, size %d]", mode, g.TargetSize)
		off := scalerMode(modeOff, markPattern.ReplaceAllString(g.scaler.Description, "")+mark)
		if err := awaitOperation(ctx, p, g.ref, g.patchScaler(p, off)); err != nil {
			return err
		}
	}
	return resizeGroup(ctx, p, g.ref, 0)
}

// startGroup gives the size back, and then the autoscaler its mode.
func startGroup(ctx context.Context, p place, g group, t target) error {
	m, err := g.remembered(t)
	if err != nil {
		return err
	}
	if mode := g.mode(); mode != "" && mode != modeOff {
		return alreadyScaled(ctx, p, g)
	}
	if g.TargetSize == 0 && m.Size == 0 {
		return cloud.ErrUnsupported("%s", cloud.NoSizeRemembered(g.Name))
	}
	if g.TargetSize == 0 { // or somebody has started it
		if err := resizeGroup(ctx, p, g.ref, m.Size); err != nil {
			return err
		}
	}
	if g.scaler == nil || m.Mode == "" || m.Mode == modeOff {
		return nil
	}
	return beginOperation(ctx, p,
		g.patchScaler(p, scalerMode(m.Mode, markPattern.ReplaceAllString(g.scaler.Description, ""))))
}

// remembered returns the state to restore: the remembered one if the group was not made again since the stop, else the
// mark in its autoscaler's description. A group that was stopped elsewhere gets the minimum of its autoscaler, which
// stays off.
func (g group) remembered(t target) (groupMemory, error) {
	m, ok, err := cloud.DecodeSnapshot[groupMemory](t.snapshot, "state")
	if err != nil || ok && (m.Made == "" || m.Made == g.CreationTimestamp) {
		return m, err
	}
	if mark, marked := g.stopMark(); marked {
		return mark, nil
	}
	return groupMemory{Size: g.minimum(), Mode: g.mode()}, nil
}

// minimum returns the minimum of the autoscaler; 0 when there is none.
func (g group) minimum() int64 {
	if p := g.policy(); p != nil {
		return p.MinNumReplicas
	}
	return 0
}

// alreadyScaled handles the start of a group whose autoscaler is on and sets its size: it removes the mark of a stop
// from the description. An autoscaler with the minimum 0 is class Unsupported, because it starts the group by load
// alone.
func alreadyScaled(ctx context.Context, p place, g group) error {
	if g.TargetSize == 0 && g.policy().MinNumReplicas == 0 {
		return cloud.ErrUnsupported("its autoscaler is %s and has the minimum 0: it starts the group when there "+
			"is load; "+
			"set a minimum", g.mode())
	}
	if _, marked := g.stopMark(); !marked {
		return nil
	}
	clean := scalerMode(g.mode(), markPattern.ReplaceAllString(g.scaler.Description, ""))
	return beginOperation(ctx, p, g.patchScaler(p, clean))
}

// resizeGroup sets the size; 0 is sent too, as a parameter.
func resizeGroup(ctx context.Context, p place, r ref, n int64) error {
	return beginOperation(ctx, p, resizeRequest(p, r, n))
}

func resizeRequest(p place, r ref, n int64) *googlerest.Request {
	return googlerest.NewPost("compute.instanceGroupManagers.update",
		r.placeAddress()+"/instanceGroupManagers/{instanceGroupManager}/resize", p.project, r.location, r.name).
		SetInt("size", n).Set("requestId", uuid.NewString())
}

// beginOperation makes a call and does not wait for the end of its operation.
func beginOperation(ctx context.Context, p place, r *googlerest.Request) error {
	o, err := call[googlerest.Operation](ctx, p.session, r)
	if err != nil {
		return err
	}
	return operationError(r.Permission, o)
}

// scalerMode is a change of the autoscaler's mode and description.
func scalerMode(mode, description string) googlerest.AutoscalerChange {
	return googlerest.AutoscalerChange{
		Description: &description, AutoscalingPolicy: googlerest.AutoscalingPolicyChange{Mode: mode},
	}
}

// patchScaler returns the request that makes the change. Fields that the change leaves out stay.
func (g group) patchScaler(p place, change googlerest.AutoscalerChange) *googlerest.Request {
	return googlerest.NewPatch("compute.autoscalers.update", g.placeAddress()+"/autoscalers", p.project, g.location).
		Set("autoscaler", g.scaler.Name).Set("requestId", uuid.NewString()).Body(change)
}

// Some calls need the end of the previous operation. It is polled at most operationPolls times, with pauses of at most
// operationPause. Operations usually take a second; the next run looks at those that take longer.
const (
	operationPolls = 10
	operationPause = 2 * time.Second
)

// awaitOperation makes a call and waits for the end of its operation. An operation that does not end soon is class
// Moving: the act is repeated later, and finds this part done.
func awaitOperation(ctx context.Context, p place, r ref, request *googlerest.Request) error {
	o, err := call[googlerest.Operation](ctx, p.session, request)
	for n := 0; err == nil && o.Status != "DONE"; n++ {
		if n == operationPolls {
			return cloud.ErrMoving("operation %s is %s and not yet done", o.Name, o.Status)
		}
		if err = p.awaitPause(ctx); err == nil {
			o, err = getOperation(ctx, p, r, o.Name)
		}
	}
	if err != nil {
		return err
	}
	return operationError(request.Permission, o)
}

// awaitPause waits before an operation is looked at again.
func (s *session) awaitPause(ctx context.Context) error {
	o := s.provider.options
	return o.Clock.Sleep(ctx, min(operationPause, o.MaxBackoff))
}

func getOperation(ctx context.Context, p place, r ref, name string) (*googlerest.Operation, error) {
	permission := "compute.zoneOperations.get"
	if r.isRegional() {
		permission = "compute.regionOperations.get"
	}
	return call[googlerest.Operation](ctx, p.session, googlerest.NewGet(permission,
		r.placeAddress()+"/operations/{operation}", p.project, r.location, name))
}

// scaleGroup sets the size of a group, or the bounds of its autoscaler. An autoscaler sets the size itself, so its
// minimum is the guaranteed size.
func scaleGroup(ctx context.Context, p place, r ref, want cloud.Capacity) error {
	g, err := getGroup(ctx, p, r)
	if err != nil {
		return err
	}
	z := size{Max: largestSize, Desired: g.TargetSize}
	if a := g.policy(); a != nil {
		z.Min, z.Max = a.MinNumReplicas, a.MaxNumReplicas
	}
	if z, err = z.withCapacity(want); err != nil {
		return err
	}
	if err := refuseScale(g, want); err != nil {
		return err
	}
	if changesBounds(want) {
		if err := setBounds(ctx, p, g, z); err != nil {
			return err
		}
	}
	if want.Desired == nil || *want.Desired == g.TargetSize {
		return nil
	}
	return resizeGroup(ctx, p, r, z.Desired)
}

func refuseScale(g group, want cloud.Capacity) error {
	switch mode := g.mode(); {
	case tiedGroup(g.InstanceGroupManager) != "":
		return cloud.ErrUnsupported("%s", tiedGroup(g.InstanceGroupManager))
	case changesBounds(want) && g.scaler == nil:
		return cloud.ErrUnsupported("nothing scales the group %s: only its desired size can be set", g.Name)
	case want.Desired != nil && *want.Desired != g.TargetSize && mode != "" && mode != modeOff:
		return cloud.ErrUnsupported("the autoscaler of %s is %s and sets the size: give it a minimum instead", g.Name,
			mode)
	}
	return nil
}

func setBounds(ctx context.Context, p place, g group, z size) error {
	change := googlerest.AutoscalerChange{AutoscalingPolicy: googlerest.AutoscalingPolicyChange{MinNumReplicas: &z.Min}}
	if z.Max != 0 {
		change.AutoscalingPolicy.MaxNumReplicas = &z.Max
	}
	return beginOperation(ctx, p, g.patchScaler(p, change))
}
