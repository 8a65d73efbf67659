package gcp

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/definition"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

var _ cloud.Changer = (*conn)(nil)

// changedKind is a kind that remediation changes: all of them are a GET, a PATCH and a DELETE of their resource, and
// for Compute Engine a POST for some values.
type changedKind struct {
	kind    string
	service string // the API in its resources' names
	base    string // the address before the name of a resource
	group   string // of permissions: "compute.disks"
	values  []definition.Value
	users   []string // the paths of the definition that name what uses the resource
	// mask is the parameter of the query that names the changed fields; "" if a PATCH takes none.
	mask string
	// check returns why the values cannot be set now, or nil; nil for kinds whose values can always be set.
	check func(d definition.Document) error
	// calls are the names of the calls that set a value instead of a PATCH.
	calls map[string]string
	// keeps are the fields of the definition that make the resource again; nil if nothing restores it.
	keeps []string
}

// restChange changes one resource.
type restChange struct {
	changedKind
	place place
	ref   ref
}

var _ cloud.Changeable = (*restChange)(nil)

// changing opens the kind of a change, for one resource of this project.
func (c *conn) changing(_ context.Context, want cloud.Change) (cloud.Changing, error) {
	of, known := cloud.ChangeOf(want.Kind, want.Verb)
	i := slices.IndexFunc(changedKinds, func(k changedKind) bool { return k.kind == want.Kind })
	if !known || i < 0 {
		return cloud.Changing{}, cloud.ErrUnsupported("no %s of %s is made", want.Verb, want.Kind)
	}
	k := changedKinds[i]
	r, ok := parseChanged(want.UID)
	here := r.location == "" || want.Region == cloud.Global || r.region() == want.Region
	if !ok || !here || r.service != k.service || r.project != "" && r.project != c.project {
		return cloud.Changing{}, cloud.ErrNotFound("%.300q is not a %s of project %s", want.UID, want.Kind, c.project)
	}
	return cloud.Changing{
		Changeable: &restChange{k, place{c.session, want.Region}, r}, Of: of,
	}, nil
}

// safeName matches the names that are put into addresses as they are.
var safeName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.~-]{0,254}$`)

// parseChanged splits the name of a resource: zonal, regional, global, or a bucket, whose name has no project.
func parseChanged(uid string) (ref, bool) {
	service, path, _ := strings.Cut(strings.TrimPrefix(uid, "//"), "/")
	parts := strings.Split(path, "/")
	for _, p := range parts {
		if !safeName.MatchString(p) {
			return ref{}, false
		}
	}
	r := ref{uid: uid, service: service, name: parts[len(parts)-1]}
	if len(parts) == 1 {
		return r, service == "storage.googleapis.com"
	}
	if parts[0] != "projects" || len(parts) < 4 {
		return ref{}, false
	}
	r.project, r.kind = parts[1], parts[len(parts)-2]
	if scope := parts[2]; scope == "zones" || scope == "regions" || scope == "locations" {
		r.scope, r.location = scope, parts[3]
	}
	return r, true
}

func (k *restChange) address(suffix string) string {
	path := k.ref.path()
	if k.service == "storage.googleapis.com" {
		path = "b/" + path
	}
	return k.base + path + suffix
}

// collection returns the address of the list that a new resource is put into.
func (k *restChange) collection() string {
	at := k.address("")
	return at[:strings.LastIndex(at, "/")]
}

func (k *restChange) get(ctx context.Context) (definition.Document, error) {
	raw, err := call[rawAnswer](ctx, k.place.session, googlerest.NewGet(k.group+".get", k.address("")))
	if err != nil {
		return nil, err
	}
	return definition.Decode(*raw)
}

// rawAnswer is an answer as it was sent.
type rawAnswer []byte

// UnmarshalJSON keeps the bytes.
func (r *rawAnswer) UnmarshalJSON(b []byte) error {
	*r = append([]byte{}, b...)
	return nil
}

// Describe reads a resource and the snapshot of the token.
func (k *restChange) Describe(ctx context.Context, uid, token string) (cloud.Description, error) {
	doc, err := k.get(ctx)
	if err != nil {
		return cloud.Description{}, classifyError("", err)
	}
	d := cloud.Description{
		Values: cloud.Values{cloud.ExistsValue: "true", cloud.MarkValue: doc.Tags("labels")[cloud.MarkTag]},
		Etag:   doc.Text("etag"), Dependents: doc.Users(k.users), Native: cloud.EncodeSnapshot(doc),
	}
	for _, v := range k.values {
		d.Values[v.Name] = v.In(doc)
	}
	if state := doc.Text("status"); state == "CREATING" || state == "RESTORING" {
		d.Busy = uid + " is being made"
	}
	if d.Values[cloud.CopyValue], err = k.copyState(ctx, token); d.Values[cloud.CopyValue] != "" {
		d.CopyUID = "//compute.googleapis.com/projects/" + k.ref.project + "/global/snapshots/" + snapshotName(token)
	}
	return d, err
}

// Complete checks the values, and whether they can be set now.
func (k *restChange) Complete(_ context.Context, d cloud.Description, want cloud.Values) (cloud.Values, []string,
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
		err = k.check(doc)
	}
	return set, nil, err
}

func (k *restChange) value(name string) (definition.Value, bool) {
	i := slices.IndexFunc(k.values, func(v definition.Value) bool { return v.Name == name })
	if i < 0 {
		return definition.Value{}, false
	}
	return k.values[i], true
}

// Set makes the call of a change.
func (k *restChange) Set(ctx context.Context, d cloud.Description, c cloud.ChangeCall) error {
	request, err := k.requestFor(ctx, d, c)
	if err != nil || request == nil {
		return err
	}
	if k.service == "compute.googleapis.com" {
		request.Set("requestId", requestIDOf(c))
	}
	_, err = call[rawAnswer](writeOnce(ctx), k.place.session, request)
	return classifyError("", err)
}

// requestIDOf returns an id that is the same for the same call: Google makes it once.
func requestIDOf(c cloud.ChangeCall) string {
	parts := []string{c.UID, c.Token}
	for _, name := range slices.Sorted(maps.Keys(c.Set)) {
		parts = append(parts, name+"="+c.Set[name])
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(strings.Join(parts, "\n"))).String()
}

// requestFor returns the request of a call; nil if there is nothing to do.
func (k *restChange) requestFor(ctx context.Context, d cloud.Description, c cloud.ChangeCall) (*googlerest.Request,
	error,
) {
	switch mark, marks := c.Set[cloud.MarkValue]; {
	case marks:
		return k.markRequest(d, mark)
	case c.Set[cloud.CopyValue] != "":
		return k.copyRequest(d, c)
	case c.Set[cloud.ExistsValue] == "false":
		return googlerest.NewDelete(k.group+".delete", k.address("")), nil
	case c.Set[cloud.ExistsValue] == "true":
		return k.restoreRequest(ctx, c)
	}
	return k.setRequest(d, c)
}

// markRequest sets the labels of a resource, all of them at once. The fingerprint is that of the labels that were read.
func (k *restChange) markRequest(d cloud.Description, mark string) (*googlerest.Request, error) {
	doc, err := definition.Decode(d.Native)
	if err != nil {
		return nil, err
	}
	labels := doc.Tags("labels")
	delete(labels, cloud.MarkTag)
	if mark != "" {
		labels[cloud.MarkTag] = mark
	}
	return googlerest.NewPost(k.group+".setLabels", k.address("/setLabels")).Body(map[string]any{
		"labels": labels, "labelFingerprint": doc.Text("labelFingerprint"),
	}), nil
}

// setRequest sets values: by a PATCH, or by the call that the kind has for the value.
func (k *restChange) setRequest(d cloud.Description, c cloud.ChangeCall) (*googlerest.Request, error) {
	doc, err := definition.Decode(d.Native)
	if err == nil && k.check != nil {
		err = k.check(doc)
	}
	if err != nil {
		return nil, err
	}
	body, fields := definition.Document{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(c.Set)) {
		v, _ := k.value(name)
		to, err := v.Encode(c.Set[name])
		if err != nil {
			return nil, err
		}
		if post := k.calls[name]; post != "" {
			return k.postRequest(doc, v, post, to), nil
		}
		body.Put(v.PathInCall(), to)
		fields = append(fields, v.PathInCall())
	}
	r := googlerest.NewPatch(k.group+".update", k.address(""))
	if k.mask != "" {
		r.Set(k.mask, strings.Join(fields, ","))
	}
	return r.Body(body), nil
}

// postRequest sets one value by a call of its own. A value in an object is sent with the whole of it.
func (k *restChange) postRequest(d definition.Document, v definition.Value, post string, to any) *googlerest.Request {
	body := definition.Document{}
	if object, _, nested := strings.Cut(v.Path, "."); nested {
		whole, _ := d.At(object).(map[string]any)
		body = maps.Clone(definition.Document(whole))
		body.Put(strings.TrimPrefix(v.Path, object+"."), to)
	} else {
		if name, is := to.(string); is && post == "setMachineType" {
			to = "zones/" + k.ref.location + "/machineTypes/" + name
		}
		body.Put(v.Path, to)
	}
	return googlerest.NewPost(k.group+"."+post, k.address("/"+post)).Body(body)
}

// restoreRequest makes a deleted resource again under its name.
func (k *restChange) restoreRequest(ctx context.Context, c cloud.ChangeCall) (*googlerest.Request, error) {
	if len(k.keeps) == 0 {
		return nil, cloud.ErrUnsupported("a deleted %s cannot be restored", k.kind)
	}
	doc, err := definition.Decode(c.Native)
	if err != nil {
		return nil, err
	}
	body := definition.Document{}
	for _, name := range append([]string{"name", "description"}, k.keeps...) {
		if v := doc.At(name); v != nil {
			body[name] = v
		}
	}
	labels := doc.Tags("labels")
	delete(labels, cloud.MarkTag)
	if len(labels) > 0 {
		body["labels"] = labels
	}
	if k.kind == disk {
		if state, err := k.copyState(ctx, c.Token); err != nil || state != cloud.CopyComplete {
			return nil, noCopy(c.UID, err)
		}
		body["sourceSnapshot"] = "global/snapshots/" + snapshotName(c.Token)
	}
	return googlerest.NewPost(k.group+".create", k.collection()).Body(body), nil
}

func noCopy(uid string, err error) error {
	if err != nil {
		return err
	}
	return cloud.ErrUnsupported("there is no complete snapshot of %s from before its deletion", uid)
}
