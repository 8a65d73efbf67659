package cloud

import (
	"context"
	"io"
	"time"
)

// Biller is a Conn that delivers the bills of its account.
type Biller interface {
	// Deliveries lists the newest delivery of each billing period that begins at from or later, oldest period first.
	// If the account has no deliveries, the error names the cause: a missing permission, an export that is not set up,
	// or an unhealthy export.
	Deliveries(ctx context.Context, from time.Time) ([]Delivery, error)
	// OpenBill opens a file of a delivery. A delivery that was replaced while it was read is an error that says so.
	OpenBill(ctx context.Context, d Delivery, file BillFile) (BillReader, error)
	// ControlTotal returns the amount that the provider's own API reports for a period, and its currency. ok is false
	// if the provider reports none.
	ControlTotal(ctx context.Context, period time.Time) (total, currency string, ok bool, err error)
}

// BillSpender is a Biller whose provider charges for being asked.
type BillSpender interface {
	// Spent returns the provider's charges for the bill requests of this connection so far.
	Spent() BillSpending
}

// BillSpending is the cost that reading bills causes for the owner of the account.
type BillSpending struct {
	Requests int     // that are charged each
	Bytes    int64   // that are charged for being scanned
	USD      float64 // both, at list prices
}

// BillSettings are the place of an account's bills, as the user who connected it entered it. Empty fields are
// discovered.
type BillSettings struct {
	Source         BillSource `json:"source,omitempty" enum:"data_export,cost_report,cost_explorer,bigquery_export,storage_export,simulated" doc:"Only this source; the best that there is when left out. aws: data_export, cost_report, cost_explorer; azure: storage_export; gcp: bigquery_export"`
	Export         string     `json:"export,omitempty" maxLength:"200" doc:"aws, azure: the name of the export or report"`
	Bucket         string     `json:"bucket,omitempty" maxLength:"63" doc:"aws: the S3 bucket of the export; with it, the exports of the account need not be listed"`
	StorageAccount string     `json:"storageAccount,omitempty" maxLength:"24" doc:"azure: the name of the storage account of the export"`
	Container      string     `json:"container,omitempty" maxLength:"63" doc:"azure: the container of the export, beside storageAccount"`
	Prefix         string     `json:"prefix,omitempty" maxLength:"512" doc:"aws, azure: the folder in bucket or container that the export writes into, without the export's name"`
	Dataset        string     `json:"dataset,omitempty" maxLength:"1055" doc:"gcp: DATASET, or PROJECT.DATASET of another project, that holds the billing export; every dataset of the project is looked into when left out"`
}

// BillSource is the kind of a delivery's origin. The user who connects the account chooses it, or it is discovered.
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
	FOCUSForm     BillForm = "focus"
	LegacyCURForm BillForm = "cur"
	CUR2Form      BillForm = "cur2"
	// the billed part of an amortized bill; actual cost alone has no form ("").
	AzureActualForm    BillForm = "azure_actual"
	AzureAmortizedForm BillForm = "azure_amortized" // the effective part of an amortized bill
	GoogleForm         BillForm = "google"
	// UploadForm is FOCUSForm or GoogleForm, as the columns of the uploaded file tell.
	UploadForm BillForm = "upload"
)

// Delivery is one delivery of one billing period: the files that a manifest lists.
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
	// Shared says that the files hold other periods too: rows of those belong to other deliveries and are left out.
	Shared bool
	// Notice is a problem of the source that does not prevent deliveries: an unhealthy export, or a source that is no
	// export. It is empty when there is no problem.
	Notice string
	// Broken says that a manifest cannot be read, and Notice which one: the import fails with it. Files are those of an
	// earlier delivery of the period, if there is one.
	Broken bool
}

// BillFile is a file of a delivery.
type BillFile struct {
	Name string // address of the object: "s3://BUCKET/KEY"
	Size int64  // bytes; -1 when not known
	Rows int64  // -1 when not known
	// Version is the version of the content that the delivery lists. A file with another version by now was replaced.
	// It is empty if the provider shows that in another way.
	Version string
	// Form is set if it differs from the delivery's. A delivery with files of AzureActualForm and of
	// AzureAmortizedForm is one bill: billed cost comes from the first, effective cost from the second.
	Form BillForm
}

// BillReader reads a file from its beginning or at any offset (a Parquet file is read from its end). The answer of a
// query can be read only from its beginning: its Size is -1, and ReadAt returns an error.
type BillReader interface {
	io.ReadCloser
	io.ReaderAt
	Size() int64
}
