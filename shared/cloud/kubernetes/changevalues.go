package kubernetes

import (
	"context"
	"maps"
	"slices"

	"lamplighter.dev/shared/cloud"
)

// Complete checks the values, and whether they can be set now.
func (k *objectChange) Complete(ctx context.Context, _ cloud.Description, want cloud.Values) (set cloud.Values,
	limits []string, err error,
) {
	if why := k.foreign(); why != "" {
		return nil, nil, cloud.ErrUnsupported("%s", why)
	}
	set = maps.Clone(want)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		v, known := k.setting(name)
		if !known {
			return nil, nil, cloud.ErrInvalid("%.40q is no value that is set for %s", name, k.kind)
		}
		more, err := k.completeValue(ctx, v, set)
		if err != nil {
			return nil, nil, err
		}
		limits = append(limits, more...)
	}
	return k.completeRollout(set, limits)
}

// completeValue checks one value. It is stored as it is read after the change: 0.0501 cores are 0.051.
func (k *objectChange) completeValue(ctx context.Context, v changedValue, set cloud.Values) (limits []string,
	err error,
) {
	if v.check != nil {
		if limits, err = v.check(ctx, k, set[v.name]); err != nil {
			return nil, err
		}
	}
	if v.beside != nil {
		return limits, nil
	}
	after := objectChange{changedKind: k.changedKind, c: k.c, of: k.of, at: k.at, now: k.now.clone(), o: k.o}
	if err = v.write(k, after.now, set[v.name]); err != nil {
		return nil, err
	}
	if after.o, err = k.objectOf(after.now); err == nil {
		set[v.name] = v.read(&after)
	}
	return limits, err
}

// completeRollout adds that the new pods are available, if the values are in the template of pods.
func (k *objectChange) completeRollout(set cloud.Values, limits []string) (cloud.Values, []string, error) {
	for name := range set {
		v, _ := k.setting(name)
		if !k.rolls || !v.isInTemplate() {
			continue
		}
		if why := k.noRollout(); why != "" {
			return nil, nil, cloud.ErrUnsupported("%s", why)
		}
		set[cloud.RolloutValue] = cloud.RolloutComplete
		return set, append(limits, "its pods are replaced, as its update strategy says"), nil
	}
	return set, limits, nil
}

func (v changedValue) isInTemplate() bool {
	return slices.ContainsFunc(v.fields, func(p path) bool { return len(p) > 1 && p[1] == "template" })
}
