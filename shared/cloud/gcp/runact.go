package gcp

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// actRunService takes the instances that run without a request, or gives them back.
func actRunService(ctx context.Context, p place, v cloud.Verb, t target) error {
	s, err := getRunService(ctx, p, t.ref)
	if err != nil {
		return err
	}
	if reason := s.stopObstacle(); reason != "" {
		return cloud.ErrUnsupported("%s", reason)
	}
	if v == cloud.Stop {
		if s.isOff() {
			return nil
		}
		return s.setAlways(ctx, p, 0)
	}
	if s.alwaysRunning() > 0 { // somebody has started it: the count is his, and the annotation goes
		if _, marked := s.Annotations[stoppedAt]; s.isManual() || !marked {
			return nil
		}
		return s.setAlways(ctx, p, s.alwaysRunning())
	}
	n, err := s.remembered(t)
	switch {
	case err != nil:
		return err
	case n == 0:
		return cloud.ErrUnsupported("%s", cloud.NoSizeRemembered(s.name))
	}
	return s.setAlways(ctx, p, n)
}

// remembered returns the number of instances to restore: from the snapshot, else from the annotation, else 0.
func (s runService) remembered(t target) (int64, error) {
	m, _, err := cloud.DecodeSnapshot[runMemory](t.snapshot, "state")
	if err != nil {
		return 0, err
	}
	stopped, wasStopped := s.stoppedMin()
	switch {
	case s.isManual() && m.Manual != nil:
		return *m.Manual, nil
	case !s.isManual() && m.Min != nil:
		return *m.Min, nil
	case !s.isManual() && wasStopped:
		return stopped, nil
	default:
		return 0, nil
	}
}

// setAlways sets the number of instances that run without a request. For a minimum of 0 it adds an annotation, which
// distinguishes the service from one that never had a minimum.
func (s runService) setAlways(ctx context.Context, p place, n int64) error {
	var change googlerest.RunServiceChange
	if s.isManual() {
		change.Scaling.ManualInstanceCount = &n
		return s.patchService(ctx, p, change, "scaling.manualInstanceCount")
	}
	change.Scaling.MinInstanceCount, change.Annotations = &n, map[string]string{}
	maps.Copy(change.Annotations, s.Annotations)
	delete(change.Annotations, stoppedAt)
	if n == 0 {
		change.Annotations[stoppedAt] = strconv.FormatInt(s.alwaysRunning(), 10)
	}
	return s.patchService(ctx, p, change, "scaling.minInstanceCount", "annotations")
}

// patchService changes the fields of the service that was read. A service that was changed meanwhile is refused with
// 409.
func (s runService) patchService(ctx context.Context, p place, change googlerest.RunServiceChange,
	fields ...string,
) error {
	change.Etag = s.Etag
	o, err := call[googlerest.LongRunningOperation](ctx, p.session, googlerest.NewPatch("run.services.update",
		googlerest.Run+"{+name}", s.runLink()).Set("updateMask", strings.Join(fields, ",")).Body(change))
	if err == nil && o.Error != nil {
		return &cloud.Error{Class: cloud.Transient, Op: "run.services.update", Message: o.Error.Message}
	}
	return err
}

// scaleRunService sets the count of a service that is scaled by hand, and the bounds of any other.
func scaleRunService(ctx context.Context, p place, r ref, want cloud.Capacity) error {
	s, err := getRunService(ctx, p, r)
	if err != nil {
		return err
	}
	z := size{Min: s.Scaling.MinInstanceCount, Max: s.Scaling.MaxInstanceCount, Desired: s.alwaysRunning()}
	if s.isManual() {
		z.Min = 0
	}
	if z.Max == 0 || s.isManual() {
		z.Max = largestSize
	}
	if z, err = z.withCapacity(want); err != nil {
		return err
	}
	switch {
	case s.isManual() && changesBounds(want):
		return cloud.ErrUnsupported("the service %s is scaled by hand: only its desired size can be set", s.name)
	case s.isManual() && want.Desired != nil:
		return s.setAlways(ctx, p, z.Desired)
	case want.Desired != nil:
		return cloud.ErrUnsupported("the service %s is scaled by its load: set its minimum and maximum", s.name)
	}
	return s.setBounds(ctx, p, z, want)
}

func (s runService) setBounds(ctx context.Context, p place, z size, want cloud.Capacity) error {
	var change googlerest.RunServiceChange
	var fields []string
	if want.Min != nil {
		change.Scaling.MinInstanceCount = &z.Min
		fields = append(fields, "scaling.minInstanceCount")
	}
	if want.Max != nil {
		change.Scaling.MaxInstanceCount = z.Max
		fields = append(fields, "scaling.maxInstanceCount")
	}
	if len(fields) == 0 {
		return nil
	}
	return s.patchService(ctx, p, change, fields...)
}
