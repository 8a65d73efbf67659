package archive

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// UploadPath is the start of the paths of upload addresses.
const UploadPath = "/uploads/"

// FolderInbox is an Inbox in a folder, for a process that serves HTTP itself. Its addresses lead to its ServeHTTP.
type FolderInbox struct {
	*Folder
	baseURL string
	key     []byte
	clock   clock.Clock
}

// NewFolderInbox returns an inbox in the folder at root. Its addresses start with baseURL and are signed with the key.
func NewFolderInbox(root, baseURL string, key []byte, c clock.Clock) *FolderInbox {
	return &FolderInbox{NewFolder(root), strings.TrimSuffix(baseURL, "/"), key, c}
}

// Address returns the upload address with a signature of name, size and expiry.
func (i *FolderInbox) Address(_ context.Context, name string, size int64, until time.Time) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	expires := strconv.FormatInt(until.Unix(), 10)
	query := url.Values{"size": {strconv.FormatInt(size, 10)}, "expires": {expires}}
	query.Set("signature", i.sign(uploading, name, query.Get("size"), expires))
	return i.baseURL + UploadPath + name + "?" + query.Encode(), nil
}

// purpose is the use of an address. Each purpose has its own key, so that an upload address is never valid for a
// download.
type purpose string

const (
	uploading   purpose = "upload"
	downloading purpose = "download"
)

// sign returns the signature of the parts of an address. Each part is signed with its length, so that parts cannot be
// moved from one to the other.
func (i *FolderInbox) sign(p purpose, parts ...string) string {
	derive := hmac.New(sha256.New, i.key)
	derive.Write([]byte(p)) // a hash never fails
	mac := hmac.New(sha256.New, derive.Sum(nil))
	for _, part := range parts {
		fmt.Fprintf(mac, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// ServeHTTP stores an uploaded file, if the address is signed and has not expired.
func (i *FolderInbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, UploadPath)
	q := r.URL.Query()
	size, _ := strconv.ParseInt(q.Get("size"), 10, 64) // the signature covers it, so it is a number
	expires, _ := strconv.ParseInt(q.Get("expires"), 10, 64)
	switch {
	case r.Method != http.MethodPut:
		w.Header().Set("Allow", http.MethodPut)
		http.Error(w, "send the file with the method PUT", http.StatusMethodNotAllowed)
	case !i.Signed(r):
		http.Error(w, "the signature does not match the address: use the uploadURL unchanged", http.StatusForbidden)
	case i.clock.Now().Unix() > expires:
		http.Error(w, "the address has expired: request a new one with POST /billing/imports", http.StatusForbidden)
	case r.ContentLength != size:
		http.Error(w, fmt.Sprintf("the file has %d bytes; the address was made for %d", r.ContentLength, size),
			http.StatusBadRequest)
	default:
		i.storeUpload(w, r, name)
	}
}

// Signed reports whether the request is for an upload address that i made.
func (i *FolderInbox) Signed(r *http.Request) bool {
	q := r.URL.Query()
	want := i.sign(uploading, strings.TrimPrefix(r.URL.Path, UploadPath), q.Get("size"), q.Get("expires"))
	return hmac.Equal([]byte(q.Get("signature")), []byte(want))
}

func (i *FolderInbox) storeUpload(w http.ResponseWriter, r *http.Request, name string) {
	err := i.Put(r.Context(), name, func(to io.Writer) error {
		n, err := io.Copy(to, r.Body)
		if err == nil && n != r.ContentLength {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
	if err != nil {
		http.Error(w, "the file was not taken; send it again", http.StatusInternalServerError)
	}
}

// Remove deletes the file.
func (i *FolderInbox) Remove(_ context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := os.Remove(i.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return nil
}

var _ Inbox = (*FolderInbox)(nil)
