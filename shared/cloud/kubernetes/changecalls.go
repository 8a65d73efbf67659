package kubernetes

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// Set makes the call of a change.
func (k *objectChange) Set(ctx context.Context, d cloud.Description, c cloud.ChangeCall) error {
	switch mark, marks := c.Set[cloud.MarkValue]; {
	case marks:
		return k.patch(ctx, func(next document) error {
			next.put(textOrNil(mark), "metadata", "labels", cloud.MarkTag)
			return nil
		})
	case c.Set[cloud.CopyValue] != "":
		return cloud.ErrUnsupported("%s of %s does not keep its data: %s", k.of.Kept, c.UID, d.Locked)
	case c.Set[cloud.ExistsValue] == "false":
		return k.delete(ctx)
	case c.Set[cloud.ExistsValue] == "true":
		return k.restore(ctx, c)
	}
	return k.setValues(ctx, c)
}

func textOrNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// setValues sets values, or gives back those of the stored fields.
func (k *objectChange) setValues(ctx context.Context, c cloud.ChangeCall) error {
	var stored document
	var err error
	if len(c.Native) > 0 {
		if stored, err = decodeDocument(c.Native); err != nil {
			return err
		}
	}
	for name, text := range c.Set.Own() {
		if v, _ := k.setting(name); v.beside != nil {
			if err = v.beside.set(ctx, k, text); err != nil {
				return err
			}
		}
	}
	return k.patch(ctx, func(next document) error {
		for _, name := range slices.Sorted(maps.Keys(c.Set.Own())) {
			if err := k.writeValue(next, stored, name, c.Set[name]); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeValue sets one value of an object, from the stored fields if there are any.
func (k *objectChange) writeValue(next, stored document, name, text string) error {
	v, known := k.setting(name)
	switch {
	case !known:
		return cloud.ErrInvalid("%.40q is no value that is set for %s", name, k.kind)
	case v.beside != nil:
		return nil
	case stored == nil:
		return v.write(k, next, text)
	case v.final != "":
		return cloud.ErrUnsupported("%s", v.final)
	}
	for _, p := range v.fields {
		copyField(next, stored, p)
	}
	return nil
}

// changeTries is how often a change is tried when nothing but the status of its object has changed.
const changeTries = 5

// patch changes the object if it is as it was read, but for its status. A change that is there already makes no call.
func (k *objectChange) patch(ctx context.Context, edit func(next document) error) error {
	for range changeTries {
		what, err := k.differenceBy(edit)
		if err != nil || len(what) == 0 {
			return err
		}
		if err = k.c.patchObject(ctx, k.resource, k.o, asChange(what)); !isConflict(err) {
			return err
		}
		if err = k.readUnchanged(ctx, edit); err != nil {
			return err
		}
	}
	return cloud.ErrUnsupported("the status of %s changes all the time: nothing was set", k.at.name)
}

// differenceBy returns the merge patch of an edit.
func (k *objectChange) differenceBy(edit func(next document) error) (map[string]any, error) {
	next := k.now.clone()
	if err := edit(next); err != nil {
		return nil, err
	}
	return k.now.differenceTo(next), nil
}

// asChange returns a merge patch in the form of patchObject.
func asChange(patch map[string]any) change {
	if meta, is := patch["metadata"].(map[string]any); is {
		patch["metadata"] = change(meta)
	}
	return patch
}

// readUnchanged reads the object again after a conflict. It may differ from the last read in its status, or be as the
// edit wants it, because the answer to the first of two calls was lost.
func (k *objectChange) readUnchanged(ctx context.Context, edit func(next document) error) error {
	before := k.now
	if err := k.read(ctx); err != nil {
		return err
	}
	what, err := k.differenceBy(edit)
	if before.isSameBut(k.now) || err == nil && len(what) == 0 {
		return nil
	}
	return cloud.ErrUnsupported("somebody has changed %s at the same moment: nothing was set", k.at.name)
}

// delete deletes the object that was read, and nothing of it that is in use.
func (k *objectChange) delete(ctx context.Context) error {
	for range changeTries {
		err := k.c.callResource(ctx, http.MethodDelete, k.resource, k.at, request{body: map[string]any{
			"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background",
			"preconditions": map[string]any{"uid": k.o.UID, "resourceVersion": k.o.ResourceVersion},
		}})
		if err = classifyError(permissionName("delete", k.resource), err); !isConflict(err) {
			return ignoreNotFound(err)
		}
		d, err := k.Describe(ctx, "", "")
		switch {
		case err != nil:
			return ignoreNotFound(err)
		case len(d.Dependents) > 0 || d.Locked != "":
			return cloud.ErrUnsupported("%s is in use again: %s", k.at.name, textOfUse(d))
		}
	}
	return cloud.ErrUnsupported("%s changes all the time: it was not deleted", k.at.name)
}

func textOfUse(d cloud.Description) string {
	return strings.Join(append(slices.Clone(d.Dependents), d.Locked), " ")
}

// restore makes a deleted object again, under its name.
func (k *objectChange) restore(ctx context.Context, c cloud.ChangeCall) error {
	if !slices.Contains(k.of.Needs, permissionName("create", k.resource)) {
		return cloud.ErrUnsupported("a deleted %s cannot be restored", k.kind)
	}
	d, err := decodeDocument(c.Native)
	if err != nil {
		return err
	}
	if k.resource == claimsOf {
		if err = k.releaseVolume(ctx, d); err != nil {
			return err
		}
	}
	d.put(c.Token, "metadata", "labels", cloud.RestoredTag)
	return classifyError(permissionName("create", k.resource),
		k.c.callResource(ctx, http.MethodPost, k.resource, ref{ns: k.at.ns}, request{body: d}))
}
