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

// Outbox hands out objects at addresses which are made for them. It is safe for use by many goroutines.
type Outbox interface {
	// Link returns where the object can be got under a file name, with the HTTP method GET and no further credentials, until the time given.
	Link(ctx context.Context, name, fileName string, until time.Time) (string, error)
	// Remove deletes the object, if it is there.
	Remove(ctx context.Context, name string) error
}

// DownloadPath begins the paths of the links of a FolderInbox.
const DownloadPath = "/downloads/"

// Link signs name, file name and time.
func (i *FolderInbox) Link(_ context.Context, name, fileName string, until time.Time) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	expires := strconv.FormatInt(until.Unix(), 10)
	query := url.Values{"file": {fileName}, "expires": {expires},
		"signature": {i.sign(downloading, name, fileName, expires)}}
	return i.baseURL + DownloadPath + name + "?" + query.Encode(), nil
}

// ServeDownload hands out a file at a link that was made for it.
func (i *FolderInbox) ServeDownload(w http.ResponseWriter, r *http.Request) {
	name, q := strings.TrimPrefix(r.URL.Path, DownloadPath), r.URL.Query()
	expires, _ := strconv.ParseInt(q.Get("expires"), 10, 64) // of what is signed, it is a number
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "get the file with the method GET", http.StatusMethodNotAllowed)
	case !hmac.Equal([]byte(q.Get("signature")), []byte(i.sign(downloading, name, q.Get("file"), q.Get("expires")))):
		http.Error(w, "the signature does not fit the link: use the downloadURL as it was given", http.StatusForbidden)
	case i.clock.Now().Unix() > expires:
		http.Error(w, "the link has expired: ask for another one where this one was given", http.StatusForbidden)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", Attachment(q.Get("file")))
		w.Header().Set("X-Content-Type-Options", "nosniff")
		http.ServeFile(w, r, i.path(name))
	}
}

// Attachment is the header Content-Disposition by which a client saves what it gets under a file name.
func Attachment(fileName string) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": fileName})
}

var _ Outbox = (*FolderInbox)(nil)
