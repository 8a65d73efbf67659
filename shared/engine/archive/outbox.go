package archive

import (
	"context"
	"crypto/hmac"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Outbox serves objects at prepared addresses. It is safe for concurrent use.
type Outbox interface {
	// Link returns the address where a client can download the object as a file named fileName with the HTTP method
	// GET, without other credentials, until the given time.
	Link(ctx context.Context, name, fileName string, until time.Time) (string, error)
	// Remove deletes the object, if it exists.
	Remove(ctx context.Context, name string) error
}

// DownloadPath is the start of the paths of download links.
const DownloadPath = "/downloads/"

// Link returns the download address with a signature of name, file name and expiry.
func (i *FolderInbox) Link(_ context.Context, name, fileName string, until time.Time) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	expires := strconv.FormatInt(until.Unix(), 10)
	query := url.Values{
		"file": {fileName}, "expires": {expires},
		"signature": {i.sign(downloading, name, fileName, expires)},
	}
	return i.baseURL + DownloadPath + name + "?" + query.Encode(), nil
}

// ServeDownload serves a file, if the link is signed and has not expired.
func (i *FolderInbox) ServeDownload(w http.ResponseWriter, r *http.Request) {
	name, q := strings.TrimPrefix(r.URL.Path, DownloadPath), r.URL.Query()
	expires, _ := strconv.ParseInt(q.Get("expires"), 10, 64) // the signature covers it, so it is a number
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "get the file with the method GET", http.StatusMethodNotAllowed)
	case !hmac.Equal([]byte(q.Get("signature")), []byte(i.sign(downloading, name, q.Get("file"), q.Get("expires")))):
		http.Error(w, "the signature does not match the link: use the downloadURL unchanged", http.StatusForbidden)
	case i.clock.Now().Unix() > expires:
		http.Error(w, "the link has expired: request a new one from the operation that returned this one",
			http.StatusForbidden)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", Attachment(q.Get("file")))
		w.Header().Set("X-Content-Type-Options", "nosniff")
		http.ServeFile(w, r, i.path(name))
	}
}

// Attachment returns the Content-Disposition header that makes a client save the response under the file name.
func Attachment(fileName string) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": fileName})
}

var _ Outbox = (*FolderInbox)(nil)
