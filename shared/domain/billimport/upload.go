package billimport

import (
	"context"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Bounds of uploads.
const (
	MaxUploadBytes = 5 << 30 // what S3 takes at once
	// Uploading is how long the address of an upload can be used.
	Uploading = time.Hour
	// KeptUploads is how long the record of an upload can be read.
	KeptUploads = 90 * 24 * time.Hour
	// MaxRowErrors is how many errors of rows the record tells.
	MaxRowErrors = 20
	// MaxUploadMonths is how many billing periods a file can hold.
	MaxUploadMonths = 36
)

// UploadStatus is how far an upload is.
type UploadStatus string

// The statuses of an upload.
const (
	UploadWaiting   UploadStatus = "waiting" // for the file
	UploadRunning   UploadStatus = "running"
	UploadSucceeded UploadStatus = "succeeded"
	UploadFailed    UploadStatus = "failed"
)

// OtherProvider is the provider of bills from vendors that have no connected account.
const OtherProvider = "other"

// Upload is a file of a vendor that somebody uploads.
type Upload struct {
	ID          string       `json:"id"` // job_…
	FileName    string       `json:"fileName"`
	Vendor      string       `json:"vendor,omitempty"`
	AccountID   string       `json:"accountID"` // ca_… of a connected account, else VendorAccount
	Provider    string       `json:"provider"`
	Bytes       int64        `json:"bytes"`
	Status      UploadStatus `json:"status"`
	Rows        int64        `json:"rows,omitempty"`
	Months      []string     `json:"months,omitempty"`
	Errors      []RowError   `json:"errors,omitempty"`
	CreatedAt   time.Time    `json:"createdAt"`
	ExpiresAt   time.Time    `json:"expiresAt"` // of the address
	CompletedAt time.Time    `json:"completedAt,omitzero"`
}

// Ended reports whether the import is over, so that no file is taken for it any more.
func (u *Upload) Ended() bool { return !u.CompletedAt.IsZero() }

// RowError is an error in a row of a file; Row is 0 for an error of the whole file.
type RowError struct {
	Row     int64  `json:"row"`
	Message string `json:"message"`
}

// VendorAccount returns the account ID under which the bills of a vendor without a connected account replace each
// other.
func VendorAccount(vendor string) string { return OtherProvider + ":" + vendor }

// UploadKey returns where an upload is stored.
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

// ParseUploadName returns the organization and the upload of a name that UploadName made.
func ParseUploadName(name string) (org, uploadID string, ok bool) {
	org, uploadID, ok = strings.Cut(name, uploadsFolder)
	return org, uploadID, ok && id.IsValid("org", org) && id.IsValid("job", uploadID)
}

// ReadUpload reads an upload; one that does not exist is fault.NotFound.
func ReadUpload(ctx context.Context, s table.Store, org, uploadID string) (Upload, error) {
	u, err := table.Read[Upload](ctx, s, UploadKey(org, uploadID))
	if fault.Is(err, fault.NotFound) {
		return u, fault.New(fault.NotFound, "there is no import %.64q", uploadID)
	}
	return u, fault.Wrap("read import "+uploadID, err)
}

// AddressTask is the task of archive.LinkWorker that makes the address of an upload: its input is a Question, its answer an Address.
const AddressTask = "address"

// Question asks where the file of an upload is to be put.
type Question struct {
	Org      string    `json:"org"`
	UploadID string    `json:"uploadID"`
	Bytes    int64     `json:"bytes"`
	Until    time.Time `json:"until"`
}

// Organisation returns the organization that the question belongs to.
func (q Question) Organisation() string { return q.Org }

// Address is where a file is put, by the HTTP method PUT.
type Address struct {
	URL string `json:"url"`
}
