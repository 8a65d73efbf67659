package kubernetes

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

func readAutoscaling(ctx context.Context, c *cluster, r apiResource, at ref) (cloud.Autoscaling,
	error,
) {
	w, err := c.readScaled(ctx, r, at)
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	return w.autoscaling(), nil
}

// setAutoscaling changes the HorizontalPodAutoscaler of a workload, or makes one, and then gives the workload the
// replicas: the other way round it would take them back.
func setAutoscaling(ctx context.Context, c *cluster, r apiResource, at ref,
	want cloud.Autoscaling,
) error {
	w, err := c.readScaled(ctx, r, at)
	if err != nil {
		return err
	}
	if err := w.checkAutoscalable(); err != nil {
		return err
	}
	if len(want.Native) > 0 {
		return c.restoreScaling(ctx, r, w, want)
	}
	if err := checkReplicas(want); err != nil {
		return err
	}
	if err := c.setHPA(ctx, w, want); err != nil {
		return err
	}
	return c.setReplicas(ctx, r, w.object, want.Desired)
}

// checkAutoscalable returns why the scaling of a workload cannot be set.
func (w scaledWorkload) checkAutoscalable() error {
	switch {
	case ofCluster(w.Namespace) != "":
		return cloud.ErrUnsupported("%s", ofCluster(w.Namespace))
	case len(w.scalers) > 0:
		return cloud.ErrUnsupported("KEDA scales it (ScaledObject %s): change that", w.scalers[0].Name)
	case len(w.hpas) > 1:
		return cloud.ErrUnsupported("%d HorizontalPodAutoscalers scale it (%s, %s): leave one", len(w.hpas),
			w.hpas[0].Name,
			w.hpas[1].Name)
	}
	return nil
}

func checkReplicas(want cloud.Autoscaling) error {
	switch err := want.Check(); {
	case err != nil:
		return err
	case want.Min < 1:
		return cloud.ErrInvalid("min %d: a HorizontalPodAutoscaler keeps one pod at least; send a min of 1 or more",
			want.Min)
	case want.Max > mostReplicas:
		return cloud.ErrInvalid("max %d is above %d", want.Max, mostReplicas)
	}
	return nil
}

// setHPA changes the existing HorizontalPodAutoscaler. If there is none, it makes one, unless the workload is to keep
// one size.
func (c *cluster) setHPA(ctx context.Context, w scaledWorkload, want cloud.Autoscaling) error {
	if len(w.hpas) == 0 {
		if want.TargetCPUPercent == nil && want.Min == want.Max {
			return nil
		}
		return c.makeHPA(ctx, hpaSpec{Name: hpaName(w.Name)}.withWanted(want), w.object, true)
	}
	return c.changeGuarded(ctx, hpasOf, w.hpas[0], func(h object) (change, error) {
		if s := specOf(h); !s.meetsWanted(want) {
			return change{"spec": s.withWanted(want).specChange()}, nil
		}
		return nil, nil //nolint:nilnil // it is so
	})
}

func (c *cluster) makeHPA(ctx context.Context, s hpaSpec, w object, ours bool) error {
	err := c.callResource(ctx, http.MethodPost, hpasOf, ref{ns: w.Namespace}, request{
		query: url.Values{"fieldManager": {autoscalerMaker}}, body: s.newHPA(w, ours),
	})
	return classifyError(permissionName("create", hpasOf), err)
}

// setReplicas gives a workload its replicas.
func (c *cluster) setReplicas(ctx context.Context, r apiResource, w object, n int64) error {
	return c.changeGuarded(ctx, r, w, func(o object) (change, error) {
		if o.replicas() == n {
			return nil, nil //nolint:nilnil // it has them
		}
		return change{"spec": change{"replicas": n}}, nil
	}, "scale")
}

// restoreScaling restores the remembered scaling. A HorizontalPodAutoscaler that the customer made meanwhile stays.
func (c *cluster) restoreScaling(ctx context.Context, r apiResource, w scaledWorkload,
	want cloud.Autoscaling,
) error {
	m, _, err := decodeMemory(want.Native)
	if err != nil {
		return err
	}
	switch err = c.restoreHPA(ctx, w, m.HPA); {
	case err != nil:
		return err
	case want.KeepStopped:
		return c.correctMark(ctx, r, w.object, m.Replicas)
	}
	return c.setReplicas(ctx, r, w.object, m.Replicas)
}

// correctMark sets the number in the annotation of a stop to the replicas before the raise. A workload without the
// annotation was not stopped by us, and is not changed.
func (c *cluster) correctMark(ctx context.Context, r apiResource, w object, n int64) error {
	return c.changeGuarded(ctx, r, w, func(o object) (change, error) {
		if was := o.annotatedReplicas(); o.replicas() > 0 || was == 0 || was == n {
			return nil, nil //nolint:nilnil // it tells so
		}
		return change{"metadata": change{"annotations": change{stoppedReplicas: strconv.FormatInt(n, 10)}}}, nil
	})
}

func (c *cluster) restoreHPA(ctx context.Context, w scaledWorkload, was *hpaSpec) error {
	switch {
	case was == nil && len(w.hpas) == 0, was == nil && !w.hpas[0].isOurs():
		return nil
	case was == nil:
		return c.removeHPA(ctx, w.hpas[0])
	case len(w.hpas) == 0:
		return c.makeHPA(ctx, *was, w.object, false)
	}
	return c.changeGuarded(ctx, hpasOf, w.hpas[0], func(h object) (change, error) {
		now := specOf(h)
		if now.Name = was.Name; reflect.DeepEqual(now, *was) {
			return nil, nil //nolint:nilnil // it is so
		}
		return change{"spec": was.specChange()}, nil
	})
}

// removeHPA deletes the HorizontalPodAutoscaler that was read, but not a newer one with its name.
func (c *cluster) removeHPA(ctx context.Context, h object) error {
	err := c.callResource(ctx, http.MethodDelete, hpasOf, h.ref(), request{
		body: map[string]any{"kind": "DeleteOptions", "preconditions": map[string]any{"uid": h.UID}},
	})
	return ignoreNotFound(classifyError(permissionName("delete", hpasOf), err))
}

// decodeMemory decodes the remembered scaling. Integers stay int64, as in decoded answers of a cluster.
func decodeMemory(native json.RawMessage) (m hpaMemory, ok bool, err error) {
	d := json.NewDecoder(strings.NewReader(string(native)))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		return m, false, cloud.ErrInvalid("the remembered scaling cannot be read: %s", err)
	}
	if m.HPA != nil {
		m.HPA.Metrics, _ = wholeNumbers(m.HPA.Metrics).([]any)
		m.HPA.Behavior, _ = wholeNumbers(m.HPA.Behavior).(map[string]any)
	}
	return m, true, nil
}

// wholeNumbers converts json.Number values to int64 or float64, the types of decoded answers of a cluster.
func wholeNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = wholeNumbers(v[i])
		}
		return v
	case map[string]any:
		for k := range v {
			v[k] = wholeNumbers(v[k])
		}
		return v
	}
	return v
}
