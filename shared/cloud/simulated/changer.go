package simulated

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// nodeChange changes the facts of one node of the account. A deleted node comes back with its identifier.
type nodeChange struct {
	c       *conn
	of      cloud.KindChange
	node    node
	request request
}

var _ cloud.Changeable = (*nodeChange)(nil)

// changing opens the change of one node.
func (c *conn) changing(_ context.Context, want cloud.Change) (cloud.Changing, error) {
	k, r, err := c.findKind(want.Kind, want.Region, "ApplyChange")
	if err != nil {
		return cloud.Changing{}, err
	}
	of, known := cloud.ChangeOf(want.Kind, want.Verb)
	if !known {
		return cloud.Changing{}, newFailure(cloud.Unsupported, r, "UnsupportedOperation", "no "+string(want.Verb)+
			" of "+want.Kind+" is made")
	}
	if original, is := strings.CutSuffix(want.UID, copySuffix); is {
		return c.changingCopy(want, original, of)
	}
	n, there := c.findNode(k, want.Region, want.UID)
	if !there {
		return cloud.Changing{}, newFailure(cloud.NotFound, r, "NotFound", "there is no "+want.UID)
	}
	r.op, r.capability = of.Call, cloud.RemediateCapability
	return cloud.Changing{Changeable: &nodeChange{c, of, n, r}, Of: of}, nil
}

// Describe reads the facts of the node as texts.
func (k *nodeChange) Describe(ctx context.Context, uid, _ string) (cloud.Description, error) {
	var d cloud.Description
	r := k.request
	r.method, r.op, r.capability = "DescribeForChange", kinds[k.node.kind].describe, discover
	var gone error
	err := k.c.simulateCall(ctx, r, func(ctx context.Context) error {
		return k.c.world.readHistory(ctx, func(h history) {
			if d = k.describe(h); !d.Exists() {
				gone = newFailure(cloud.NotFound, r, "NotFound", uid+" is deleted")
			}
		})
	})
	return d, cmp.Or(err, gone)
}

func (k *nodeChange) describe(h history) cloud.Description {
	found := k.c.describeNode(k.node, h, k.c.clk.Now())
	set := h.changed(k.node)
	values := cloud.Values{
		cloud.ExistsValue: cmp.Or(set[cloud.ExistsValue], "true"), cloud.MarkValue: set[cloud.MarkValue],
		cloud.CopyValue: set[cloud.CopyValue],
	}
	for name, v := range found.Facts {
		if text, plain := factText(v); plain {
			values[name] = text
		}
	}
	for _, name := range k.of.Sets { // a value may be no fact, or be written in other words than its fact
		if text, is := set[name]; is || values[name] == "" {
			values[name] = text
		}
	}
	if found.InstanceType != "" {
		values["class"] = cmp.Or(set["class"], found.InstanceType)
	}
	d := cloud.Description{Values: values, Dependents: dependentsOf(found.Facts)}
	if values[cloud.CopyValue] != "" {
		d.CopyUID = found.UID + copySuffix
	}
	return d
}

// dependentsOf returns what uses a node, by its facts.
func dependentsOf(facts cloud.Facts) []string {
	for _, name := range []string{"association_id", "managed_by_vm"} {
		if by, _ := facts[name].(string); by != "" {
			return []string{by}
		}
	}
	if n, _ := facts["attachment_count"].(float64); n > 0 {
		return []string{"an instance"}
	}
	if by, _ := facts["users"].([]string); len(by) > 0 {
		return by
	}
	if facts["state"] == "IN_USE" || facts["attached"] == true {
		return []string{"a resource that is in use"}
	}
	return nil
}

// factText returns a fact as a value; false for a time.
func factText(v any) (string, bool) {
	switch v := v.(type) {
	case []string:
		return strings.Join(v, ","), true
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// Complete accepts every value of the catalogue that ends no access in use; what the storage can do now is its present
// value.
func (k *nodeChange) Complete(_ context.Context, d cloud.Description, want cloud.Values) (cloud.Values, []string,
	error,
) {
	set := maps.Clone(want)
	for name, v := range set {
		switch {
		case !slices.Contains(k.of.Sets, name):
			return nil, nil, cloud.ErrInvalid("%.40q is no value that %s sets", name, k.of.Call)
		case v == cloud.Carried:
			set[name] = d.Values[name]
		case slices.Contains(k.of.Adds, name):
			set[name] = addToList(d.Values[name], v)
		}
	}
	return set, nil, k.refuseUsedAccess(set)
}

// addToList returns a list with the texts of a wanted value that begins with cloud.Added; another value stays.
func addToList(now, want string) string {
	more, adds := strings.CutPrefix(want, cloud.Added)
	if !adds {
		return want
	}
	all := append(splitList(now), splitList(more)...)
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ",")
}

// splitList returns the texts of a list with commas between them.
func splitList(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' })
}

// Set makes one call. Nothing restores a deleted snapshot.
func (k *nodeChange) Set(ctx context.Context, d cloud.Description, call cloud.ChangeCall) error {
	if !d.Exists() && cloud.IsSnapshot(call.Kind) {
		return newFailure(cloud.Unsupported, k.request, "NotFound", "a deleted snapshot cannot be restored")
	}
	if err := k.refuseUsedAccess(call.Set); err != nil {
		return err
	}
	return k.c.simulateCall(ctx, k.request, func(ctx context.Context) error {
		return k.c.world.changeHistory(ctx, func(h history) entry {
			return entry{
				At: k.c.clk.Now().UnixMicro(), Kind: k.node.kind, Region: k.node.region,
				Sets: []set{{k.node.number, k.effects(h, call.Set)}},
			}
		})
	})
}

// effects returns what a call changes: nil takes a value back to that of the index.
func (k *nodeChange) effects(h history, wanted cloud.Values) map[string]*string {
	out := map[string]*string{}
	own := k.describe(unchangedHistory{h}).Values
	for name, v := range wanted {
		if out[name] = &v; own[name] == v {
			out[name] = nil
		}
	}
	if wanted[cloud.ExistsValue] == "true" {
		out[cloud.MarkValue], out[cloud.CopyValue] = nil, nil
	}
	if mark, marks := wanted[cloud.MarkValue]; marks && mark == "" {
		out[cloud.CopyValue] = nil
	}
	return out
}

// unchangedHistory is a history without the values that were set.
type unchangedHistory struct{ history }

func (unchangedHistory) changed(node) map[string]string { return nil }

// applyValues puts the values that were set among the facts of a resource.
func applyValues(r *cloud.Resource, set map[string]string) {
	if len(set) == 0 {
		return
	}
	r.Facts = maps.Clone(r.Facts)
	for name, text := range set {
		switch was := r.Facts[name].(type) {
		case string:
			r.Facts[name] = text
		case []string:
			r.Facts[name] = splitList(text)
		case bool:
			r.Facts[name] = text == "true"
		case float64:
			if n, err := strconv.ParseFloat(text, 64); err == nil {
				r.Facts[name] = n
			} else {
				r.Facts[name] = was
			}
		}
	}
	if class := set["class"]; class != "" {
		r.InstanceType = class
	}
	if mark := set[cloud.MarkValue]; mark != "" {
		r.Tags = maps.Clone(r.Tags)
		if r.Tags == nil {
			r.Tags = map[string]string{}
		}
		r.Tags[cloud.MarkTag] = strings.TrimSpace(mark)
	}
}
