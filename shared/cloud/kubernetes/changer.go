package kubernetes

import (
	"context"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
)

var (
	_ cloud.Changer = (*conn)(nil)
	_ cloud.Changer = (*account)(nil)
)

// changedKind is a kind that remediation changes: all of them are GET, PATCH, DELETE and POST of their object.
type changedKind struct {
	kind     string
	resource apiResource
	values   []changedValue
	// rolls says that pods of the object's template replace the present ones when the template changes.
	rolls bool
	// proof returns what uses the object, and why it may not be deleted, by fresh reads; nil if it is not deleted.
	proof func(ctx context.Context, k *objectChange) (users []string, locked string, err error)
	// ended says that an owner does not make a deleted object again, since it has ended.
	ended bool
}

// changedValue is a value that rules set.
type changedValue struct {
	name   string
	fields []path // that the value is in: an undo gives them back
	// read returns the value of an object.
	read func(k *objectChange) string
	// write gives an object the value. The error says why that is not possible.
	write func(k *objectChange, d document, text string) error
	// check returns why the value may not be set now, and what the undo does not give back; nil if it always may.
	check func(ctx context.Context, k *objectChange, text string) (limits []string, err error)
	final string // why nothing gives the value before back; "" if the fields do
	// beside is a value that is another object.
	beside *besideValue
}

// besideValue is a value that is an object beside the one that has it: "true" if there is one.
type besideValue struct {
	read func(ctx context.Context, k *objectChange) (string, error)
	set  func(ctx context.Context, k *objectChange, text string) error
}

// objectChange changes one object.
type objectChange struct {
	changedKind
	c   *cluster
	of  cloud.KindChange
	at  ref
	now document // as it was last read
	o   object   // the same
}

var _ cloud.Changeable = (*objectChange)(nil)

// changing opens the kind of a change, for one object of this cluster.
func (c *conn) changing(ctx context.Context, want cloud.Change) (cloud.Changing, error) {
	of, known := cloud.ChangeOf(want.Kind, want.Verb)
	kinds := changedKinds()
	i := slices.IndexFunc(kinds, func(k changedKind) bool { return k.kind == want.Kind })
	switch {
	case !known || i < 0:
		return cloud.Changing{}, cloud.ErrUnsupported("no %s of %s is made", want.Verb, want.Kind)
	case want.Region != c.region:
		return cloud.Changing{}, cloud.ErrNotFound("the region of this cluster is %s, not %.64q", c.region, want.Region)
	}
	id, err := c.clusterUID(ctx)
	if err != nil {
		return cloud.Changing{}, err
	}
	at, ok := parseObject(id, kinds[i].resource.Resource, want.UID)
	if !ok {
		return cloud.Changing{}, cloud.ErrNotFound("%.300q is no %s of this cluster", want.UID, want.Kind)
	}
	return cloud.Changing{Changeable: &objectChange{changedKind: kinds[i], c: c.cluster, of: of, at: at}, Of: of}, nil
}

// parseObject takes a uid apart, also that of an object without a namespace.
func parseObject(cluster, resource, uid string) (ref, bool) {
	if name, is := strings.CutPrefix(uid, cluster+"//"+resource+"/"); is && name != "" && !strings.Contains(name, "/") {
		return ref{name: name}, true
	}
	return parseUID(cluster, resource, uid)
}

// read reads the object.
func (k *objectChange) read(ctx context.Context) (err error) {
	if k.now, err = k.c.getDocument(ctx, k.resource, k.at); err != nil {
		return err
	}
	if k.now.at("metadata", "deletionTimestamp") != nil {
		return cloud.ErrNotFound("%s is being deleted", k.at.name)
	}
	k.o, err = k.objectOf(k.now)
	return err
}

// Describe reads an object, with what uses it if it is to be deleted.
func (k *objectChange) Describe(ctx context.Context, _, _ string) (cloud.Description, error) {
	if err := k.read(ctx); err != nil {
		return cloud.Description{}, err
	}
	d := cloud.Description{
		Etag: k.o.ResourceVersion, Native: k.native().json(),
		Values: cloud.Values{cloud.ExistsValue: "true", cloud.MarkValue: k.o.Labels[cloud.MarkTag]},
	}
	if k.of.Verb == cloud.Delete {
		return k.describeUse(ctx, d)
	}
	for _, v := range k.settings() {
		if v.beside == nil {
			d.Values[v.name] = v.read(k)
			continue
		}
		text, err := v.beside.read(ctx, k)
		if err != nil {
			return d, err
		}
		d.Values[v.name] = text
	}
	if k.rolls {
		d.Values[cloud.RolloutValue] = k.rollout()
	}
	return d, nil
}

// describeUse adds what uses an object that is to be deleted.
func (k *objectChange) describeUse(ctx context.Context, d cloud.Description) (_ cloud.Description, err error) {
	if d.Locked = k.foreign(); d.Locked == "" {
		d.Dependents, d.Locked, err = k.proof(ctx, k)
	}
	if k.of.Kept != "" && d.Locked == "" {
		d.Values[cloud.CopyValue] = cloud.CopyComplete
	}
	return d, err
}

// native returns what an undo needs of an object: all that makes it again, or the fields that values are in. The rest
// of a workload is not stored, for its environment may hold what is secret.
func (k *objectChange) native() document {
	if k.of.Verb == cloud.Delete {
		return k.now.definition()
	}
	var fields []path
	for _, v := range k.settings() {
		fields = append(fields, v.fields...)
	}
	return k.now.only(fields)
}

// settings returns the values that the verb of the change sets.
func (k *objectChange) settings() []changedValue {
	var out []changedValue
	for _, v := range k.values {
		if slices.Contains(k.of.Sets, v.name) {
			out = append(out, v)
		}
	}
	return out
}

func (k *objectChange) setting(name string) (changedValue, bool) {
	all := k.settings()
	i := slices.IndexFunc(all, func(v changedValue) bool { return v.name == name })
	if i < 0 {
		return changedValue{}, false
	}
	return all[i], true
}

// helmRelease is the annotation of objects that Helm made.
const helmRelease = "meta.helm.sh/release-name"

// foreign returns why an object is not changed here: it belongs to the cluster, or to a tool that would undo a change.
func (k *objectChange) foreign() string {
	who := k.o.controllerName()
	if release := k.o.Annotations[helmRelease]; release != "" {
		who = "Helm (" + release + ")"
	}
	if _, owned := k.o.controller(); owned && k.ended {
		who = ""
	}
	switch ns := firstOf(k.at.ns, k.at.name); {
	case (k.at.ns != "" || k.resource == namespacesOf) && ofCluster(ns) != "":
		return ofCluster(ns)
	case who != "":
		return who + " manages it and would undo the change: make the change there"
	}
	return ""
}
