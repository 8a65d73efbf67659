package azure

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/definition"
)

var _ cloud.Changer = (*conn)(nil)

// changedKind is a kind that remediation changes: all of them are GET, PATCH, PUT and DELETE of their resource.
type changedKind struct {
	kind    string
	arm     string
	version string
	values  []definition.Value
	// users are the paths of the definition that name what uses the resource.
	users []string
	// check returns why the values cannot be set now, or nil; nil for kinds whose values can always be set.
	check func(ctx context.Context, k *armChange, d definition.Document, set cloud.Values) error
	// noRestore says that a deleted resource cannot be made again from its definition.
	noRestore bool
}

// armChange changes one resource.
type armChange struct {
	changedKind
	client *armClient
}

var _ cloud.Changeable = (*armChange)(nil)

// changing opens the kind of a change, for one resource of this subscription.
func (c *conn) changing(ctx context.Context, want cloud.Change) (cloud.Changing, error) {
	of, known := cloud.ChangeOf(want.Kind, want.Verb)
	i := slices.IndexFunc(changedKinds, func(k changedKind) bool { return k.kind == want.Kind })
	if !known || i < 0 {
		return cloud.Changing{}, cloud.ErrUnsupported("no %s of %s is made", want.Verb, want.Kind)
	}
	id, err := c.subscriptionID(ctx)
	if err != nil {
		return cloud.Changing{}, err
	}
	if !isOf(want.UID, id, changedKinds[i].arm) {
		return cloud.Changing{}, cloud.ErrNotFound("%.256s is no %s of this subscription", want.UID, want.Kind)
	}
	return cloud.Changing{Changeable: &armChange{changedKinds[i], c.client}, Of: of}, nil
}

// get reads the definition of a resource.
func (k *armChange) get(ctx context.Context, uid string) (definition.Document, error) {
	raw, _, err := k.client.getResource(ctx, uid, k.version, nil)
	if err != nil {
		return nil, err
	}
	return definition.Decode(raw)
}

// Describe reads a resource, its locks, and the snapshot of the token.
func (k *armChange) Describe(ctx context.Context, uid, token string) (cloud.Description, error) {
	doc, err := k.get(ctx, uid)
	if err != nil {
		return cloud.Description{}, err
	}
	d := cloud.Description{
		Values: cloud.Values{cloud.ExistsValue: "true", cloud.MarkValue: doc.Tags("tags")[cloud.MarkTag]},
		Etag:   doc.Text("etag"), Dependents: doc.Users(k.users), Native: cloud.EncodeSnapshot(doc),
	}
	for _, v := range k.values {
		d.Values[v.Name] = v.In(doc)
	}
	switch state := doc.Text("properties.provisioningState"); strings.ToLower(state) {
	case "", "succeeded", "failed", "canceled":
	case "deleting":
		return d, cloud.ErrNotFound("%s is being deleted", uid)
	default:
		d.Busy = "a change of it is under way (" + state + ")"
	}
	if d.Locked, err = k.lockOf(ctx, uid); err != nil {
		return d, err
	}
	if d.Values[cloud.CopyValue], err = k.copyState(ctx, uid, token); d.Values[cloud.CopyValue] != "" {
		d.CopyUID = snapshotID(uid, token)
	}
	return d, err
}

const locksVersion = "2016-09-01"

// lockOf returns the name of a lock that forbids a deletion, of the resource or of what it belongs to; "" for none.
func (k *armChange) lockOf(ctx context.Context, uid string) (string, error) {
	if _, deletes := cloud.ChangeOf(k.kind, cloud.Delete); !deletes {
		return "", nil
	}
	type lock struct {
		Name       string
		Properties struct{ Level string }
	}
	all, err := listAll[lock](ctx, k.client, uid+"/providers/Microsoft.Authorization/locks", locksVersion)
	if err != nil || len(all) == 0 {
		return "", err
	}
	return "lock " + all[0].Name + " (" + all[0].Properties.Level + ")", nil
}

// Complete checks the values, and whether they can be set now.
func (k *armChange) Complete(ctx context.Context, d cloud.Description, want cloud.Values) (cloud.Values, []string,
	error,
) {
	set := maps.Clone(want)
	for name, text := range set {
		v, known := k.value(name)
		if !known {
			return nil, nil, cloud.ErrInvalid("%.40q is no value that is set for %s", name, k.kind)
		}
		if text == cloud.Carried {
			set[name] = d.Values[name]
		}
		if _, err := v.Encode(set[name]); err != nil {
			return nil, nil, err
		}
	}
	doc, err := definition.Decode(d.Native)
	if err == nil && k.check != nil {
		err = k.check(ctx, k, doc, set)
	}
	return set, nil, err
}

func (k *armChange) value(name string) (definition.Value, bool) {
	i := slices.IndexFunc(k.values, func(v definition.Value) bool { return v.Name == name })
	if i < 0 {
		return definition.Value{}, false
	}
	return k.values[i], true
}

// Set makes the call of a change.
func (k *armChange) Set(ctx context.Context, d cloud.Description, c cloud.ChangeCall) error {
	ctx = policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: -1}) // its effect is read
	switch mark, marks := c.Set[cloud.MarkValue]; {
	case marks:
		return k.setMark(ctx, d, c.UID, mark)
	case c.Set[cloud.CopyValue] != "":
		return k.copy(ctx, d, c)
	case c.Set[cloud.ExistsValue] == "false":
		return k.client.callARM(ctx, k.callOf(http.MethodDelete, c.UID, nil), nil)
	case c.Set[cloud.ExistsValue] == "true":
		return k.restore(ctx, c)
	}
	return k.patch(ctx, d, c)
}

func (k *armChange) callOf(method, uid string, body any) call {
	return call{method: method, path: uid, version: k.version, query: url.Values{}, body: body}
}

// setMark sets the tags of a resource: a PATCH replaces all of them.
func (k *armChange) setMark(ctx context.Context, d cloud.Description, uid, mark string) error {
	doc, err := definition.Decode(d.Native)
	if err != nil {
		return err
	}
	tags := doc.Tags("tags")
	delete(tags, cloud.MarkTag)
	if mark != "" {
		tags[cloud.MarkTag] = mark
	}
	return k.client.callARM(ctx, k.callOf(http.MethodPatch, uid, map[string]any{"tags": tags}), nil)
}

// patch sets values. A part of the sku is sent with the whole of it, which Azure requires.
func (k *armChange) patch(ctx context.Context, d cloud.Description, c cloud.ChangeCall) error {
	doc, err := definition.Decode(d.Native)
	if err != nil {
		return err
	}
	body := definition.Document{}
	for name, text := range c.Set {
		v, _ := k.value(name)
		to, err := v.Encode(text)
		if err != nil {
			return err
		}
		sku, _ := doc.At("sku").(map[string]any)
		if strings.HasPrefix(v.Path, "sku.") && body["sku"] == nil {
			body["sku"] = maps.Clone(sku)
		}
		body.Put(v.PathInCall(), to)
	}
	if k.check != nil {
		if err = k.check(ctx, k, doc, c.Set); err != nil {
			return err
		}
	}
	return k.client.callARM(ctx, k.callOf(http.MethodPatch, c.UID, body), nil)
}

// readOnly are fields of definitions that Azure sets itself.
var readOnly = []string{
	"etag", "systemData", "provisioningState", "resourceGuid", "uniqueId", "timeCreated", "diskState",
	"ipAddress", "ipConfiguration", "managedBy",
}

// restore makes a deleted resource again, under its name: of its definition, or a disk of its snapshot.
func (k *armChange) restore(ctx context.Context, c cloud.ChangeCall) error {
	if k.noRestore {
		return cloud.ErrUnsupported("a deleted %s cannot be restored", k.kind)
	}
	doc, err := definition.Decode(c.Native)
	if err != nil {
		return err
	}
	doc = doc.Without("properties", readOnly...)
	tags := doc.Tags("tags")
	delete(tags, cloud.MarkTag)
	doc["tags"] = tags
	if k.kind == disk {
		if err = k.fromSnapshot(ctx, c, doc); err != nil {
			return err
		}
	}
	return k.client.callARM(ctx, k.callOf(http.MethodPut, c.UID, doc), nil)
}
