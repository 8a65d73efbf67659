package azure

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

var _ cloud.Biller = (*conn)(nil)

const (
	costsPath    = "/providers/Microsoft.CostManagement"
	costsVersion = "2025-03-01"
	// maxRuns is the largest number of an export's manifests that are read: 13 months with three runs a day.
	maxRuns = 1_200
)

// billingNeeds are the permissions in the subscription for reading bills; blobsNeed is the one in the storage account.
var billingNeeds = []string{"Microsoft.CostManagement/exports/read", "Microsoft.CostManagement/query/action"}

// typedPeriod is a period and the type of cost in it.
type typedPeriod struct {
	period time.Time
	form   cloud.BillForm
}

// Deliveries lists the newest run of each period of an export in the columns of FOCUS. Without such an export it lists
// the runs of the exports of actual and of amortized cost together: the first hold the billed cost, the second the
// effective cost.
func (c *conn) Deliveries(ctx context.Context, from time.Time) ([]cloud.Delivery, error) {
	exports, err := c.findExports(ctx)
	if err != nil {
		return nil, err
	}
	found := foundRuns{newest: map[typedPeriod]cloud.Delivery{}, broken: map[time.Time]error{}}
	var why []error
	for _, e := range exports {
		if err := c.addRuns(ctx, e, monthOf(from), &found); err != nil {
			if cloud.ClassOf(err).Retryable() && cloud.ClassOf(err) != cloud.Moving ||
				cloud.ClassOf(err) == cloud.Refused {
				return nil, err
			}
			why = append(why, err)
		}
		if e.notice != "" {
			why = append(why, &cloud.Error{Class: cloud.NotFound, Code: "FailedExport", Message: e.notice})
		}
	}
	out := joinRuns(found.newest)
	if len(out) == 0 {
		return nil, cmp.Or(append(append(found.brokenErrors(), why...), noDelivery(c.account.Billing))...)
	}
	out = found.markBroken(out)
	if last := &out[len(out)-1]; len(why) > 0 && last.Notice == "" {
		last.Notice, last.Broken = why[0].Error(), cloud.ClassOf(why[0]) == cloud.Invalid
	}
	return out, nil
}

func noDelivery(set cloud.BillSettings) error {
	where := "no export of costs in this subscription"
	if set.Export != "" || set.StorageAccount != "" {
		where = strings.TrimSpace("no export " + set.Export)
	}
	return &cloud.Error{
		Class: cloud.NotFound, Code: "NoDelivery",
		Message: where + " has delivered a bill with a manifest: create a daily export of Cost Management, type " +
			"FocusCost, with file partitioning, to a storage account, and run it once for each of the months before " +
			"(Export selected dates), or name its storage account in billing.storageAccount",
	}
}

// addRuns adds the deliveries of the runs of an export.
func (c *conn) addRuns(ctx context.Context, e billExport, from time.Time, found *foundRuns) error {
	k, err := c.billContainer(e.account, e.container)
	if err != nil {
		return err
	}
	folder := strings.Trim(strings.Trim(e.folder, "/")+"/"+e.name, "/")
	if folder != "" {
		folder += "/"
	}
	blobs, err := k.listBlobs(ctx, folder)
	if err != nil {
		return err
	}
	there := make(map[string]blob, len(blobs))
	for _, b := range blobs {
		there[b.name] = b
	}
	manifests := manifestsSince(blobs, from)
	runs, errs := k.readRuns(ctx, e, manifests)
	for _, r := range runs {
		d := k.deliveryOf(r, there, e)
		for p := r.first; !p.After(r.last); p = p.AddDate(0, 1, 0) {
			if d.Period = p; p.Before(from) {
				continue
			}
			if have, ok := found.newest[typedPeriod{p, r.form}]; !ok || have.DeliveredAt.Before(d.DeliveredAt) {
				found.newest[typedPeriod{p, r.form}] = d
			}
		}
	}
	return cmp.Or(found.addBroken(manifests, errs, from)...)
}

// manifestsSince returns the manifests that were written since then, newest first. A manifest is never older than its
// period.
func manifestsSince(blobs []blob, from time.Time) []blob {
	var out []blob
	for _, b := range blobs {
		if strings.HasSuffix(b.name, "/manifest.json") && !b.modified.Before(from) {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(a, b blob) int { return b.modified.Compare(a.modified) })
	return out[:min(len(out), maxRuns)]
}

// readRuns reads manifests, newest first, and returns the error of each. A manifest that cannot be read does not
// prevent reading the others, and it is no error if a newer run of the same days can be read.
func (k container) readRuns(ctx context.Context, e billExport, manifests []blob) ([]run, []error) {
	all, errs := make([]run, len(manifests)), make([]error, len(manifests))
	cloud.InParallel(len(manifests), width, func(i int) {
		text, err := k.readBlob(ctx, manifests[i])
		if err == nil {
			all[i], err = newRun(text, manifests[i], e)
		}
		if errs[i] = err; err != nil {
			errs[i] = withWhat(k.nameOf(manifests[i].name), err)
		}
	})
	var out []run
	read := map[string]bool{} // by days
	for i, r := range all {
		days := daysInPath.FindString(manifests[i].name)
		switch {
		case errs[i] != nil && days != "" && read[days]:
			errs[i] = nil
		case errs[i] == nil:
			read[days] = true
			if r.isBill(e.named) {
				out = append(out, r)
			}
		}
	}
	return out, errs
}

// deliveryOf makes a delivery of a run. A file that is listed and not there fails when it is opened.
func (k container) deliveryOf(r run, there map[string]blob, e billExport) cloud.Delivery {
	d := cloud.Delivery{
		Source: cloud.StorageExport, Export: cmp.Or(r.export, k.name), Form: r.form, DeliveredAt: r.at.modified,
		Rows: r.rowCount(), Notice: e.notice,
		Shared: !r.first.Equal(r.last),
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", r.id)
	for _, b := range r.Blobs {
		f := cloud.BillFile{Name: k.nameOf(b.Name), Size: -1, Rows: -1, Form: r.form}
		if b.Rows != nil {
			f.Rows = *b.Rows
		}
		if is, ok := there[b.Name]; ok {
			f.Size, f.Version = is.size, is.etag
		}
		fmt.Fprintf(sum, "%s %s\n", f.Name, f.Version)
		d.Files = append(d.Files, f)
	}
	d.Fingerprint = hex.EncodeToString(sum.Sum(nil)[:16])
	return d
}

// joinRuns picks of each period the best that there is.
func joinRuns(newest map[typedPeriod]cloud.Delivery) []cloud.Delivery {
	best := map[time.Time]cloud.Delivery{}
	for k, d := range newest {
		actual, amortized := newest[typedPeriod{k.period, cloud.AzureActualForm}],
			newest[typedPeriod{k.period, cloud.AzureAmortizedForm}]
		focus, isFocus := newest[typedPeriod{k.period, cloud.FOCUSForm}]
		switch {
		case isFocus:
			d = focus
		case actual.Fingerprint != "" && amortized.Fingerprint != "":
			d = pairOf(actual, amortized)
		case actual.Fingerprint != "":
			d = alone(actual)
		default:
			d = alone(d)
		}
		if d.Period = k.period; d.Shared {
			d.Fingerprint += k.period.Format("-2006-01")
		}
		best[k.period] = d
	}
	out := make([]cloud.Delivery, 0, len(best))
	for _, d := range best {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b cloud.Delivery) int { return a.Period.Compare(b.Period) })
	return out
}

// alone returns a run of actual or of amortized cost as a complete bill: without its form, which says that another run
// belongs to it.
func alone(d cloud.Delivery) cloud.Delivery {
	d.Form = ""
	d.Files = slices.Clone(d.Files)
	for i := range d.Files {
		d.Files[i].Form = ""
	}
	return d
}

// pairOf is the runs of actual and of amortized cost of a period as one delivery.
func pairOf(actual, amortized cloud.Delivery) cloud.Delivery {
	d := actual
	d.Files = slices.Concat(actual.Files, amortized.Files)
	d.Export += ", " + amortized.Export
	d.Fingerprint += amortized.Fingerprint
	d.Shared = actual.Shared || amortized.Shared
	d.Notice = cmp.Or(actual.Notice, amortized.Notice)
	if d.Rows >= 0 && amortized.Rows >= 0 {
		d.Rows += amortized.Rows
	} else {
		d.Rows = -1
	}
	if amortized.DeliveredAt.After(d.DeliveredAt) {
		d.DeliveredAt = amortized.DeliveredAt
	}
	return d
}

// OpenBill opens a file, by ranges of its blob.
func (c *conn) OpenBill(ctx context.Context, d cloud.Delivery, file cloud.BillFile) (cloud.BillReader, error) {
	account, name, in, ok := parseBlob(file.Name)
	if !ok {
		return nil, cloud.ErrInvalid("%.300q is not the address of a blob", file.Name)
	}
	k, err := c.billContainer(account, name)
	if err != nil {
		return nil, err
	}
	found, err := k.listBlobs(ctx, in)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(found, func(b blob) bool { return b.name == in })
	switch {
	case i < 0:
		return nil, cloud.ErrNotFound(
			"%s is listed by the manifest of %s and is not there", file.Name, d.Period.Format("2006-01"))
	case file.Version == "":
		file.Version = found[i].etag
	case found[i].etag != file.Version:
		return nil, &cloud.Error{
			Class: cloud.Moving, Op: blobsNeed, Code: "Replaced",
			Message: file.Name + " was replaced while it was read: the next delivery is read from the beginning",
		}
	}
	return cloud.NewRangedBill(ctx, found[i].size, func(ctx context.Context, p []byte, off int64) error {
		return k.fetchRange(ctx, p, off, file)
	}), nil
}
