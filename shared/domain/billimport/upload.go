package billimport

import (
	"context"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Limits of uploads.
const (
	MaxUploadBytes = 5 << 30 // the limit of S3 for a single upload
	// Uploading is how long the address of an upload is valid.
	Uploading = time.Hour
	// KeptUploads is how long the record of an upload is kept.
	KeptUploads = 90 * 24 * time.Hour
	// MaxRowErrors is the most row errors in the record.
	MaxRowErrors = 20
	// MaxUploadMonths is the most billing periods in a file.
	MaxUploadMonths = 36
)

// UploadStatus is the status of an upload.
type UploadStatus string

// The statuses of an upload.
const (
	UploadWaiting   UploadStatus = "waiting" // for the file
	UploadRunning   UploadStatus = "running"
	UploadSucceeded UploadStatus = "succeeded"
	UploadFailed    UploadStatus = "failed"
	// UploadWithdrawing and UploadWithdrawn: the periods that the upload replaced are being restored, or are restored.
	UploadWithdrawing UploadStatus = "withdrawing"
	UploadWithdrawn   UploadStatus = "withdrawn"
)

// OtherProvider is the provider of bills from vendors that have no connected account.
const OtherProvider = "other"

// Upload is an uploaded file of a vendor.
type Upload struct {
	ID          string       `json:"id"` // job_…
	FileName    string       `json:"fileName"`
	Vendor      string       `json:"vendor,omitempty"`
	AccountID   string       `json:"accountID"` // ca_… of a connected account, else VendorAccount
	Provider    string       `json:"provider"`
	Bytes       int64        `json:"bytes"`
	Status      UploadStatus `json:"status"`
	Rows        int64        `json:"rows,omitempty"`
	Late        int64        `json:"late,omitempty"`        // rows of cost.Late
	Corrections int64        `json:"corrections,omitempty"` // rows of cost.Correction
	Months      []string     `json:"months,omitempty"`
	Content     string       `json:"content,omitempty"` // of a file that is read several times: a digest of its sums
	Errors      []RowError   `json:"errors,omitempty"`
	CreatedAt   time.Time    `json:"createdAt"`
	ExpiresAt   time.Time    `json:"expiresAt"` // of the address
	CompletedAt time.Time    `json:"completedAt,omitzero"`
}

// Ended reports whether the import has ended, so that no further file is accepted.
func (u *Upload) Ended() bool { return !u.CompletedAt.IsZero() }

// RowError is an error in a row of a file; Row is 0 for an error of the whole file.
type RowError struct {
	Row     int64  `json:"row"`
	Message string `json:"message"`
}

// VendorAccount returns the account ID under which the bills of a vendor without a connected account replace each
// other.
func VendorAccount(vendor string) string { return OtherProvider + ":" + vendor }

// Fingerprint returns the fingerprint of the billing periods that are imported from an upload.
func Fingerprint(uploadID string) string { return "upload:" + uploadID }

// UploadKey returns the key of an upload.
func UploadKey(org, uploadID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "BILLUPLOAD", SK: uploadID}
}

// PutUpload returns the write that stores an upload.
func PutUpload(org string, u Upload, conds ...table.Cond) (table.Write, error) {
	it, err := table.NewItem(UploadKey(org, u.ID), u)
	it.Expires = u.CreatedAt.Add(KeptUploads)
	return table.Put(it, conds...), err
}

// UploadName returns the name of an uploaded file in the archive. It begins with the organization, so that the file is
// erased with the organization's archive.
func UploadName(org, uploadID string) string { return org + uploadsFolder + uploadID }

const uploadsFolder = "/uploads/"

// ParseUploadName returns the organization and the upload of a name from UploadName. It returns false for other names.
func ParseUploadName(name string) (org, uploadID string, ok bool) {
	org, uploadID, ok = strings.Cut(name, uploadsFolder)
	return org, uploadID, ok && id.IsValid("org", org) && id.IsValid("job", uploadID)
}

// ReadUpload returns an upload, or fault.NotFound.
func ReadUpload(ctx context.Context, s table.Store, org, uploadID string) (Upload, error) {
	u, err := table.Read[Upload](ctx, s, UploadKey(org, uploadID))
	if fault.Is(err, fault.NotFound) {
		return u, fault.New(fault.NotFound, "there is no import %.64q", uploadID)
	}
	return u, fault.Wrap("read import "+uploadID, err)
}

// AddressTask is the task of archive.LinkWorker that creates the address of an upload: its input is a Question, its
// answer an Address.
const AddressTask = "address"

// Question asks for the upload address of a file.
type Question struct {
	Org      string    `json:"org"`
	UploadID string    `json:"uploadID"`
	Bytes    int64     `json:"bytes"`
	Until    time.Time `json:"until"`
}

// Organisation returns the organization that the question belongs to.
func (q Question) Organisation() string { return q.Org }

// Address is the upload address of a file, for the HTTP method PUT.
type Address struct {
	URL string `json:"url"`
}
