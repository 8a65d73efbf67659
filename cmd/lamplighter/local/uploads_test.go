package local

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

// TestTakeUpload_OnlyUntilTheImportEnds uploads at one address before and after its import has ended.
func TestTakeUpload_OnlyUntilTheImportEnds(t *testing.T) {
	f := apitest.New(t)
	files := archive.NewFolderInbox(t.TempDir(), "http://127.0.0.1", []byte("key"), f.Clock)
	f.Inbox = files
	s := &Service{Platform: f.Platform}
	org, now := id.New("org", f.Clock.Now()), f.Clock.Now()
	u := billimport.Upload{
		ID: id.New("job", now), Status: billimport.UploadWaiting, CreatedAt: now,
		ExpiresAt: now.Add(time.Hour),
	}
	put := func() int {
		w := httptest.NewRecorder()
		address := apitest.Value(files.Address(t.Context(), billimport.UploadName(org, u.ID), 4, u.ExpiresAt))(t)
		path := strings.TrimPrefix(address, "http://127.0.0.1")
		s.takeUpload(w, httptest.NewRequest(http.MethodPut, path, strings.NewReader("bill")), files)
		return w.Code
	}
	store := func() {
		write, err := billimport.PutUpload(org, u)
		f.Must(err)
		f.Must(f.Table.Transact(table.WithOrg(t.Context(), org), write))
	}
	f.Equal("before the import is recorded", put(), http.StatusForbidden)
	store()
	f.Equal("while it waits", put(), http.StatusOK)
	u.CompletedAt, u.Status = now.Add(time.Minute), billimport.UploadSucceeded
	store()
	f.Equal("after it has ended", put(), http.StatusForbidden)
}
