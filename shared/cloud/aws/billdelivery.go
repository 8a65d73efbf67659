package aws

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// delivery reads a manifest and finds the objects of the files that it lists. AWS writes the manifest after all files.
// A file in the same place that is newer than the manifest belongs to a delivery under way, and the previous complete
// delivery is gone.
func (b billBucket) delivery(ctx context.Context, e billExport, at listedManifest) (cloud.Delivery, error) {
	where := "s3://" + b.name + "/" + at.key
	text, err := b.read(ctx, at.key)
	if err != nil {
		return cloud.Delivery{}, err
	}
	m, err := parseManifest(text)
	if err != nil {
		return cloud.Delivery{}, cloud.ErrInvalid("%s: %v", where, err)
	}
	keys, err := m.files(b.name)
	if err != nil {
		return cloud.Delivery{}, cloud.ErrInvalid("%s: %v", where, err)
	}
	if p := m.period(); !p.IsZero() && !p.Equal(at.period) {
		return cloud.Delivery{}, cloud.ErrInvalid("%s: it says that it is of %s", where, p.Format("2006-01"))
	}
	there, err := b.objectsOf(ctx, keys)
	if err != nil {
		return cloud.Delivery{}, err
	}
	d := cloud.Delivery{
		Source: e.source, Export: e.name, Period: at.period, Form: cmp.Or(e.form, m.form()), DeliveredAt: at.modified,
		Rows: -1, Notice: e.notice,
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", at.etag)
	for _, key := range keys {
		f, err := b.fileOf(key, there, at, m)
		if err != nil {
			return d, err
		}
		fmt.Fprintf(sum, "%s %s %d\n", f.Name, f.Version, f.Size)
		d.Files = append(d.Files, f)
	}
	d.Fingerprint = hex.EncodeToString(sum.Sum(nil)[:16])
	return d, nil
}

// fileOf returns the file of the object under key, or under key without the leading slash, which reports without a
// prefix have. A missing object gives a file of size -1, which fails when it is opened.
func (b billBucket) fileOf(key string, there map[string]object, at listedManifest, m manifest) (cloud.BillFile, error) {
	o, ok := there[key]
	if trimmed := strings.TrimPrefix(key, "/"); !ok && trimmed != key {
		o, ok = there[trimmed]
		key = trimmed
	}
	f := cloud.BillFile{Name: "s3://" + b.name + "/" + key, Size: -1, Rows: -1}
	if !ok {
		return f, nil
	}
	if o.modified.After(at.modified) && !m.isImmutable(key) {
		return f, &cloud.Error{
			Class: cloud.Moving, Op: "s3:ListBucket", Code: "Replaced",
			Message: "s3://" + b.name + "/" + key + " is newer than its manifest: a delivery is under way, " +
				"it is read when it is complete",
		}
	}
	f.Size, f.Version = o.size, o.etag
	return f, nil
}

// objectsOf lists the objects in the folders of the keys.
func (b billBucket) objectsOf(ctx context.Context, keys []string) (map[string]object, error) {
	folders := map[string]bool{}
	for _, k := range keys {
		folders[strings.TrimPrefix(path.Dir(k), "/")+"/"] = true
		if strings.HasPrefix(k, "/") {
			folders[path.Dir(k)+"/"] = true
		}
	}
	there := map[string]object{}
	for f := range folders {
		found, err := b.list(ctx, f, "")
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			there[o.key] = o
		}
	}
	return there, nil
}
