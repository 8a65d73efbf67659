package aws

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
)

var (
	exportPeriod = regexp.MustCompile(`/BILLING_PERIOD=(\d{4}-\d{2})/`)
	reportPeriod = regexp.MustCompile(`/(\d{6}01)-\d{6}01/$`)
)

// Deliveries lists the newest delivery of each period, from the best source that has it: an export in the columns of
// FOCUS, one of CUR 2.0, a Cost and Usage Report, and Cost Explorer for the remaining periods.
func (c *conn) Deliveries(ctx context.Context, from time.Time) ([]cloud.Delivery, error) {
	set, from := c.account.Billing, monthOf(from)
	by := map[time.Time]cloud.Delivery{}
	var why error
	if set.Source != cloud.CostExplorer {
		var err error
		if why, err = c.exportedDeliveries(ctx, from, by); err != nil {
			return nil, err
		}
	}
	if set.Source == "" || set.Source == cloud.CostExplorer {
		c.addExplored(from, by)
	}
	if len(by) == 0 {
		return nil, cmp.Or(why, noDelivery(set))
	}
	return sortByPeriod(by, why), nil
}

// sortByPeriod sorts deliveries by period. If exports could not be read, the deliveries of Cost Explorer in their
// place carry the reason why as a notice.
func sortByPeriod(by map[time.Time]cloud.Delivery, why error) []cloud.Delivery {
	out := make([]cloud.Delivery, 0, len(by))
	for _, d := range by {
		if why != nil && d.Source == cloud.CostExplorer {
			d.Notice = "read from Cost Explorer, without resources and tags: " + why.Error()
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b cloud.Delivery) int { return a.Period.Compare(b.Period) })
	if last := &out[len(out)-1]; why != nil && last.Notice == "" && cloud.ClassOf(why) != cloud.Denied {
		last.Notice = why.Error()
	}
	return out
}

// noDelivery returns the error of an account without any delivery. Its message explains how to create an export.
func noDelivery(set cloud.BillSettings) error {
	where := "no export of AWS Data Exports and no Cost and Usage Report"
	if set.Export != "" {
		where = "no export or report " + set.Export
	}
	return &cloud.Error{
		Class: cloud.NotFound, Code: "NoDelivery",
		Message: where + " of this account has delivered a bill: create one in AWS Data Exports " +
			"(table FOCUS 1.2 or CUR 2.0, create new report, Parquet or gzip), or name its bucket in " +
			"billing.bucket; the " +
			"first delivery takes up to 24 hours",
	}
}

// exportedDeliveries adds the deliveries of the exports to by. It returns as why the first reason that some could not
// be read, and as err an error that another try may mend.
func (c *conn) exportedDeliveries(ctx context.Context, from time.Time, by map[time.Time]cloud.Delivery) (why,
	err error,
) {
	exports, all := c.findExports(ctx)
	for _, e := range exports {
		found, err := c.deliveriesOf(ctx, e, from)
		if all = append(all, err); e.notice != "" && len(found) == 0 {
			all = append(all, &cloud.Error{Class: cloud.NotFound, Code: "UnhealthyExport", Message: e.notice})
		}
		for _, d := range found {
			if _, better := by[d.Period]; !better {
				by[d.Period] = d
			}
		}
	}
	for _, err := range all {
		if err != nil && slices.Contains(
			[]cloud.Class{cloud.Transient, cloud.Throttled, cloud.Refused}, cloud.ClassOf(err)) {
			return nil, err
		}
	}
	return firstError(all), nil
}

// firstError returns the first error that is not nil. Its class tells the caller whether to retry.
func firstError(all []error) error {
	return cmp.Or(all...)
}

// deliveriesOf lists the newest delivery of each period of an export.
func (c *conn) deliveriesOf(ctx context.Context, e billExport, from time.Time) ([]cloud.Delivery, error) {
	b, err := c.openBucket(ctx, e.bucket, e.region)
	if err != nil {
		return nil, err
	}
	manifests, err := b.manifests(ctx, e, from)
	if err != nil {
		return nil, err
	}
	out, errs := make([]cloud.Delivery, len(manifests)), make([]error, len(manifests))
	cloud.InParallel(len(manifests), resource.Width, func(i int) { out[i], errs[i] = b.delivery(ctx, e, manifests[i]) })
	kept := out[:0]
	for i, d := range out {
		if errs[i] == nil {
			kept = append(kept, d)
		}
	}
	return kept, firstError(errs)
}

// listedManifest is a manifest and the period whose folder it lies in.
type listedManifest struct {
	object
	period time.Time
}

// manifests lists the newest manifest of each period that begins at from or later.
func (b billBucket) manifests(ctx context.Context, e billExport, from time.Time) ([]listedManifest, error) {
	if e.source == cloud.CostReport {
		return b.reportManifests(ctx, e, from)
	}
	folder := e.folder() + "metadata/"
	all, err := b.list(ctx, folder, folder+"BILLING_PERIOD="+from.Format("2006-01"))
	if err != nil {
		return nil, err
	}
	newest := map[time.Time]object{}
	for _, o := range all {
		m := exportPeriod.FindStringSubmatch(o.key)
		if m == nil || !strings.HasSuffix(o.key, "-Manifest.json") {
			continue
		}
		period, err := time.Parse("2006-01", m[1])
		if err != nil {
			continue
		}
		if have, ok := newest[period]; !ok || have.isBefore(o) {
			newest[period] = o
		}
	}
	var out []listedManifest
	for period, o := range newest {
		out = append(out, listedManifest{o, period})
	}
	return out, nil
}

// isBefore reports whether o is older than p. Of two objects of the same second, the one with the later folder name is
// newer.
func (o object) isBefore(p object) bool {
	return cmp.Or(o.modified.Compare(p.modified), cmp.Compare(o.key, p.key)) < 0
}

// reportManifests lists the manifests of a Cost and Usage Report. The newest delivery's manifest lies beside the
// folders of the deliveries.
func (b billBucket) reportManifests(ctx context.Context, e billExport, from time.Time) ([]listedManifest, error) {
	folders, err := b.folders(ctx, e.folder())
	if err != nil {
		return nil, err
	}
	periods := slices.DeleteFunc(folders, func(f string) bool {
		m := reportPeriod.FindStringSubmatch(f)
		return m == nil || m[1] < from.Format("20060102")
	})
	out, errs := make([]listedManifest, len(periods)), make([]error, len(periods))
	cloud.InParallel(len(periods), resource.Width, func(i int) {
		period, err := time.Parse("20060102", reportPeriod.FindStringSubmatch(periods[i])[1])
		if errs[i] = err; err != nil {
			return
		}
		var o object
		if o, errs[i] = b.head(ctx, periods[i]+e.name+"-Manifest.json"); errs[i] == nil {
			out[i] = listedManifest{o, period}
		}
	})
	for _, err := range errs {
		if err != nil && cloud.ClassOf(err) != cloud.NotFound { // of a period whose first delivery is under way
			return nil, err
		}
	}
	return slices.DeleteFunc(out, func(m listedManifest) bool { return m.key == "" }), nil
}

func (b billBucket) head(ctx context.Context, key string) (object, error) {
	out, err := b.api.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return object{}, unreadable(err, "s3:GetObject", "s3://"+b.name+"/"+key)
	}
	return object{key, valueOf(out.ETag), valueOf(out.ContentLength), valueOf(out.LastModified).UTC()}, nil
}

func valueOf[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

// OpenBill opens a file: an object, which is read by ranges, or the answers of Cost Explorer.
func (c *conn) OpenBill(ctx context.Context, d cloud.Delivery, file cloud.BillFile) (cloud.BillReader, error) {
	if d.Source == cloud.CostExplorer {
		return c.openExplored(ctx, d.Period)
	}
	bucket := bucketOf(file.Name)
	if bucket == "" {
		return nil, cloud.ErrInvalid("%.300q is not the address of a file in S3", file.Name)
	}
	b, err := c.openBucket(ctx, bucket, "")
	if err != nil {
		return nil, err
	}
	o, err := b.head(ctx, keyOf(file.Name))
	switch {
	case cloud.ClassOf(err) == cloud.NotFound && err != nil:
		return nil, cloud.ErrNotFound(
			"%s is listed by the manifest of %s and is not there", file.Name, d.Period.Format("2006-01"))
	case err != nil:
		return nil, err
	case file.Version == "":
		file.Version = o.etag
	case o.etag != file.Version:
		return nil, replaced(file.Name)
	}
	return cloud.NewRangedBill(ctx, o.size, func(ctx context.Context, p []byte, off int64) error {
		return b.fetch(ctx, p, off, file)
	}), nil
}
