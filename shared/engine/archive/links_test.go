package archive

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// TestFolderInbox_AnAddressIsGoodForOnePurpose uses the signature of each kind of address for the other kind.
func TestFolderInbox_AnAddressIsGoodForOnePurpose(t *testing.T) {
	i := NewFolderInbox(t.TempDir(), "", []byte("key"), clock.System{})
	until := clock.System{}.Now().Add(time.Hour)
	up, err := i.Address(t.Context(), "download", 4, until)
	if err != nil {
		t.Fatal(err)
	}
	down, err := i.Link(t.Context(), "download", "4", until)
	if err != nil {
		t.Fatal(err)
	}
	swap := func(address, path string) *http.Request {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		q.Set("file", "4")
		q.Set("size", "4")
		return httptest.NewRequest(http.MethodPut, path+"download?"+q.Encode(), strings.NewReader("evil"))
	}
	if i.Signed(swap(down, UploadPath)) {
		t.Error("a download link is good for an upload")
	}
	r, w := swap(up, DownloadPath), httptest.NewRecorder()
	r.Method = http.MethodGet
	if i.ServeDownload(w, r); w.Code != http.StatusForbidden {
		t.Errorf("an upload address is answered %d as a download", w.Code)
	}
	if !i.Signed(swap(up, UploadPath)) {
		t.Error("an upload address is not good for an upload")
	}
}
