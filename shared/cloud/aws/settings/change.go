package settings

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
)

// change changes one resource of a kind.
type change struct {
	kind
	place
}

var _ cloud.Changeable = (*change)(nil)

// Open opens the change of a resource; false if no table has it.
func Open(at resource.Place, of cloud.KindChange, uid string) (cloud.Changeable, bool) {
	for _, k := range kinds() {
		if k.typeOf != of.Type || of.Verb.RemovesResource() || len(k.verbs) > 0 && !slices.Contains(k.verbs, of.Verb) {
			continue
		}
		if parts, ok := partsOf(uid, k.uid); ok {
			return &change{k, place{of, at, parts}}, true
		}
	}
	return openRemoval(at, of, uid)
}

// Describe reads the values that the verb sets.
func (k *change) Describe(ctx context.Context, _, _ string) (cloud.Description, error) {
	doc, err := k.readAll(ctx, k.reads)
	if err != nil {
		return cloud.Description{}, err
	}
	d := cloud.Description{Values: cloud.Values{cloud.ExistsValue: "true"}, Native: cloud.EncodeSnapshot(doc)}
	for _, v := range k.values {
		if slices.Contains(k.of.Sets, v.Name) {
			d.Values[v.Name] = v.in(doc)
		}
	}
	state := textOf(find(doc, k.state))
	if k.state != "" && !slices.Contains(strings.Fields(k.ready), state) {
		d.Busy = "it is " + state + ": it is changed only while it is " + strings.ReplaceAll(k.ready, " ", " or ")
		if state == "" {
			d.Busy = "AWS does not say its state"
		}
	}
	return d, nil
}

func (k *change) value(name string) (value, bool) {
	i := slices.IndexFunc(k.values, func(v value) bool { return v.Name == name })
	if i < 0 || !slices.Contains(k.of.Sets, name) {
		return value{}, false
	}
	return k.values[i], true
}

// Complete checks the values. A value that AWS does not state is not changed, because it could not be set back.
func (k *change) Complete(ctx context.Context, d cloud.Description, want cloud.Values) (cloud.Values, []string, error) {
	set, limits := cloud.Values{}, slices.Clone(k.of.Limits)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		v, known := k.value(name)
		switch {
		case !known:
			return nil, nil, cloud.ErrInvalid("%.40q is no value that %s sets", name, k.of.Call)
		case d.Values[name] == "" && !v.empty:
			return nil, nil, cloud.ErrUnsupported("AWS does not state its present %s, so it could not be set back",
				name)
		}
		text, err := v.complete(want[name], d.Values[name])
		if err != nil {
			return nil, nil, err
		}
		if set[name] = text; v.limit != "" {
			limits = append(limits, v.limit)
		}
	}
	if k.check != nil {
		if err := k.check(ctx, k, d, set); err != nil {
			return nil, nil, err
		}
	}
	return set, limits, nil
}

// complete returns a wanted value in the form in which it is read. A text that begins with Added is added to a list.
func (v value) complete(want, now string) (string, error) {
	more, adds := strings.CutPrefix(want, cloud.Added)
	_, fixed := v.calls[want]
	switch {
	case want == cloud.Carried:
		return now, nil
	case adds && v.isList():
		all := append(strings.Split(more, ","), strings.FieldsFunc(now, func(c rune) bool { return c == ',' })...)
		slices.Sort(all)
		return strings.Join(slices.Compact(all), ","), nil
	case fixed && want != "", want == "" && v.empty:
		return want, nil
	}
	if _, err := v.Encode(want); err != nil {
		return "", err
	}
	if n, err := strconv.ParseFloat(want, 64); v.Number && err == nil {
		return strconv.FormatFloat(n, 'f', -1, 64), nil
	}
	return want, nil
}

func (v value) isList() bool { return v.texts || v.field != "" && v.has == "" }

// Set makes the call that sets the values. Native is the definition before the change, if the call gives it back.
func (k *change) Set(ctx context.Context, d cloud.Description, c cloud.ChangeCall) error {
	s := scope{parts: k.parts}
	if err := json.Unmarshal(d.Native, &s.now); err != nil {
		return cloud.ErrInvalid("its definition cannot be read: %v", err)
	}
	s.was = s.now
	if len(c.Native) > 0 {
		if err := json.Unmarshal(c.Native, &s.was); err != nil {
			return cloud.ErrInvalid("its definition before the change cannot be read: %v", err)
		}
	}
	if k.check != nil && len(c.Native) == 0 {
		if err := k.check(ctx, k, d, c.Set); err != nil {
			return err
		}
	}
	chosen, err := k.choose(d, c.Set)
	if err != nil {
		return err
	}
	return k.write(ctx, chosen, s)
}

// choose returns the call that sets all of the values, with their parameters.
func (k *change) choose(d cloud.Description, set cloud.Values) (call, error) {
	chosen, values := call{in: params{}}, params{}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		v, known := k.value(name)
		if !known {
			return call{}, cloud.ErrInvalid("%.40q is no value that %s sets", name, k.of.Call)
		}
		c, fixed := v.callFor(d.Values[name], set[name])
		if chosen.op != "" && chosen.op != c.op {
			return call{}, cloud.ErrUnsupported("%s sets no other values beside %s", chosen.op, name)
		}
		chosen.op, chosen.http = c.op, c.http
		maps.Copy(chosen.in, c.in)
		if fixed {
			continue
		}
		to, err := v.encode(set[name])
		if err != nil {
			return call{}, err
		}
		values[v.Write] = given{to}
	}
	maps.Copy(chosen.in, values)
	return chosen, nil
}

// callFor returns the call that sets a value, and whether it needs no value.
func (v value) callFor(now, to string) (c call, fixed bool) {
	if c, fixed = v.calls[to]; fixed && to != "" {
		return c, true
	}
	if to == "" && v.empty {
		return v.calls[none], true
	}
	if v.less != nil {
		from, _ := strconv.ParseFloat(now, 64)
		if n, err := strconv.ParseFloat(to, 64); err == nil && n < from {
			return *v.less, false
		}
	}
	return v.calls[""], false
}

// none is the key of the call that removes a value.
const none = "(none)"

func (v value) encode(text string) (any, error) {
	switch {
	case v.made != nil:
		return v.made(text), nil
	case !v.isList():
		return v.Encode(text)
	}
	var out []any
	for one := range strings.SplitSeq(text, ",") {
		out = append(out, one)
	}
	return out, nil
}
