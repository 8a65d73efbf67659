package cloud

import (
	"context"
	"io"
	"time"
)

// Biller is a Conn that delivers what its account is billed.
type Biller interface {
	// Deliveries lists the newest delivery of each billing period that begins at from or later, oldest period first, and says what
	// keeps the account from having any: a missing permission by its name, an export that is not set up, or that is unhealthy.
	Deliveries(ctx context.Context, from time.Time) ([]Delivery, error)
	// OpenBill opens a file of a delivery. A delivery that was replaced while it was read is an error that says so.
	OpenBill(ctx context.Context, d Delivery, file BillFile) (BillReader, error)
	// ControlTotal tells what the provider's own interface says was billed in a period, in its currency, with what it asked;
	// ok is false where it tells nothing.
	ControlTotal(ctx context.Context, period time.Time) (total, currency string, ok bool, err error)
}

// BillSource is where deliveries come from. It is chosen by whoever connects the account, or found.
type BillSource string

// The sources.
const (
	DataExport     BillSource = "data_export"     // AWS Data Exports in S3: CUR 2.0, FOCUS
	CostReport     BillSource = "cost_report"     // AWS Cost and Usage Report (legacy CUR) in S3
	CostExplorer   BillSource = "cost_explorer"   // AWS Cost Explorer, where no export is to be had
	BigQueryExport BillSource = "bigquery_export" // Google Cloud's billing export
	StorageExport  BillSource = "storage_export"  // Azure Cost Management's exports in a storage account
	UploadedBill   BillSource = "upload"          // a FOCUS file of any vendor
	SimulatedBills BillSource = "simulated"
)

// BillForm is the columns of a file.
type BillForm string

// The forms.
const (
	FOCUSForm          BillForm = "focus"
	LegacyCURForm      BillForm = "cur"
	CUR2Form           BillForm = "cur2"
	AzureActualForm    BillForm = "azure_actual"    // beside amortized cost: what is billed. Actual cost alone has no form ("")
	AzureAmortizedForm BillForm = "azure_amortized" // beside actual cost: what is effective
	GoogleForm         BillForm = "google"
)

// Delivery is one delivery of one billing period: what a manifest lists.
type Delivery struct {
	Source      BillSource
	Export      string    // its name
	Period      time.Time // the first of the month, UTC
	Form        BillForm
	Fingerprint string    // the same for the same content: a second delivery of it changes nothing
	DeliveredAt time.Time // a later one replaces an earlier one, whichever comes first
	Files       []BillFile
	Rows        int64 // as the manifest says; -1 when it does not
	Final       bool  // the provider says that the period is closed
}

// BillFile is a file of a delivery.
type BillFile struct {
	Name string // key of the object, as the manifest names it
	Size int64  // bytes; -1 when not known
	Rows int64  // -1 when not known
}

// BillReader reads a file: from its beginning, or anywhere (a Parquet file is read from its end).
type BillReader interface {
	io.ReadCloser
	io.ReaderAt
	Size() int64
}
