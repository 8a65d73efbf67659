package local

import (
	"errors"
	"net/http"
	"strings"

	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// besideFiles returns the handler of all requests: the API, and the addresses of uploads and downloads. In AWS those
// are addresses of a bucket.
func (s *Service) besideFiles(api http.Handler) (http.Handler, error) {
	files, ok := s.Platform.Inbox.(*archive.FolderInbox)
	if !ok {
		return nil, errors.New("the inbox of the local service takes no files")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, archive.UploadPath):
			s.takeUpload(w, r, files)
		case strings.HasPrefix(r.URL.Path, archive.DownloadPath):
			files.ServeDownload(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	}), nil
}

// takeUpload stores a file at an upload address, unless the import of that address has ended.
func (s *Service) takeUpload(w http.ResponseWriter, r *http.Request, files *archive.FolderInbox) {
	org, uploadID, ok := billimport.ParseUploadName(strings.TrimPrefix(r.URL.Path, archive.UploadPath))
	if ok && files.Signed(r) {
		u, err := billimport.ReadUpload(table.WithOrg(r.Context(), org), s.Platform.Table, org, uploadID)
		switch {
		case fault.Is(err, fault.NotFound) || err == nil && u.Ended():
			http.Error(w, "the import of this address has ended: ask for another address with POST /billing/imports",
				http.StatusForbidden)
			return
		case err != nil:
			s.Platform.Log.ErrorContext(r.Context(), "an upload was refused", "upload", uploadID, "org", org, "error",
				err.Error())
			http.Error(w, "the file was not taken; send it again", http.StatusInternalServerError)
			return
		}
	}
	files.ServeHTTP(w, r)
}
