package azuretwin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	blobSuffix = ".blob.core.windows.net"
	blobsRead  = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read"
)

// Export is an export of Cost Management.
type Export struct {
	Name, Type                 string // ActualCost, AmortizedCost, FocusCost, Usage
	Account, Container, Folder string
	Failed                     string // why its last run has; empty when it has not
}

// stored is a blob.
type stored struct {
	bytes    []byte
	modified time.Time
}

// AddExport adds an export.
func (c *Cloud) AddExport(e Export) { c.ChangeLocked(func() { c.exports = append(c.exports, e) }) }

// RemoveExports removes all exports.
func (c *Cloud) RemoveExports() { c.ChangeLocked(func() { c.exports = nil }) }

// PutBlob puts a blob where it is named: "account/container/name".
func (c *Cloud) PutBlob(name string, bytes []byte, modified time.Time) {
	c.ChangeLocked(func() {
		if c.blobs == nil {
			c.blobs = map[string]*stored{}
		}
		c.blobs[name] = &stored{bytes, modified}
	})
}

// RemoveBlob removes a blob.
func (c *Cloud) RemoveBlob(name string) { c.ChangeLocked(func() { delete(c.blobs, name) }) }

// CutBlobs makes reads of blobs break off half-way, or ends that.
func (c *Cloud) CutBlobs(on bool) { c.ChangeLocked(func() { c.cut = on }) }

// TellCosts sets the rows that the Query API answers with: `[[1.5,"USD"]]`.
func (c *Cloud) TellCosts(rows string) { c.ChangeLocked(func() { c.total = rows }) }

// AskToWait sets the headers of throttled answers of Cost Management. They ask for a pause.
func (c *Cloud) AskToWait(headers map[string]string) { c.ChangeLocked(func() { c.waits = headers }) }

// storageHost returns the storage account whose host a request is for; "" for another one.
func storageHost(r *http.Request) string {
	account, isBlob := strings.CutSuffix(r.Host, blobSuffix)
	if !isBlob {
		return ""
	}
	return account
}

// writeStorageFailure writes an error in the form of the service: that of storage is XML.
func (c *Cloud) writeStorageFailure(w http.ResponseWriter, q request, f *failure) {
	if storageHost(q.Request) == "" {
		c.writeFailure(w, f)
		return
	}
	w.Header().Set("X-Ms-Error-Code", f.code)
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(f.status)
	const form = `<?xml version="1.0" encoding="utf-8"?><Error><Code>%s</Code><Message>%s` +
		"\nRequestId:1</Message></Error>"
	_, _ = fmt.Fprintf(w, form, f.code, f.message) //nolint:gosec // to a test
}

// billingHandler returns the handler of a request to storage or to Cost Management; false when there is none.
func (c *Cloud) billingHandler(q request) (func() (answer, *failure), bool) {
	switch strings.TrimPrefix(q.path, "/subscriptions/"+Subscription+"/providers/microsoft.costmanagement/") {
	case "exports":
		return c.listExports, true
	case "query":
		return func() (answer, *failure) { return c.queryCosts(q) }, true
	}
	return func() (answer, *failure) { return c.storage(q) }, q.op == blobsRead
}

// refuseStorage refuses requests without a token for storage. The resource manager's token is another one.
func (c *Cloud) refuseStorage(q request) *failure {
	token := strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer ")
	switch {
	case !strings.HasPrefix(c.tokens[token], "https://storage.azure.com"):
		return newFailure(http.StatusUnauthorized, "InvalidAuthenticationInfo",
			"Server failed to authenticate the request.")
	case q.Header.Get("X-Ms-Version") == "":
		return newFailure(http.StatusBadRequest, "MissingRequiredHeader",
			"An HTTP header that's mandatory for this request is not specified.")
	}
	return nil
}

func (s *stored) etag() string {
	sum := sha256.Sum256(s.bytes)
	return `"0x` + strings.ToUpper(hex.EncodeToString(sum[:8])) + `"`
}

// storage answers for blobs: a list of them, or a range of one.
func (c *Cloud) storage(q request) (answer, *failure) {
	at := storageHost(q.Request) + q.URL.Path
	if q.URL.Query().Get("comp") == "list" {
		return c.listBlobs(q, at+"/")
	}
	b := c.blobs[at]
	switch match := q.Header.Get("If-Match"); {
	case b == nil:
		return answer{}, newFailure(http.StatusNotFound, "BlobNotFound", "The specified blob does not exist.")
	case match != "" && match != b.etag():
		return answer{}, newFailure(http.StatusPreconditionFailed, "ConditionNotMet", "The condition specified using "+
			"HTTP conditional header(s) is not met.")
	}
	from, to := 0, len(b.bytes)-1
	if n, _ := fmt.Sscanf(q.Header.Get("X-Ms-Range"), "bytes=%d-%d", &from, &to); n == 2 && from >= len(b.bytes) {
		return answer{}, newFailure(http.StatusRequestedRangeNotSatisfiable, "InvalidRange", "The range specified is "+
			"invalid for the current size of the resource.")
	}
	part := b.bytes[from : min(to, len(b.bytes)-1)+1]
	a := answer{
		status: http.StatusPartialContent,
		header: map[string]string{"Etag": b.etag(), "Content-Length": strconv.Itoa(len(part))}, raw: part,
	}
	if c.cut && !strings.HasSuffix(at, "manifest.json") {
		a.raw = part[:len(part)/2]
	}
	return a, nil
}

func (c *Cloud) listBlobs(q request, container string) (answer, *failure) {
	type properties struct {
		Modified string `xml:"Last-Modified"`
		ETag     string `xml:"Etag"`
		Size     int    `xml:"Content-Length"`
	}
	type blob struct {
		Name       string
		Properties properties
	}
	type list struct {
		XMLName    xml.Name `xml:"EnumerationResults"`
		Blobs      []blob   `xml:"Blobs>Blob"`
		NextMarker string
	}
	var out list
	for at, b := range c.blobs {
		if name, in := strings.CutPrefix(at, container); in && strings.HasPrefix(name, q.URL.Query().Get("prefix")) {
			out.Blobs = append(out.Blobs,
				blob{name, properties{b.modified.UTC().Format(http.TimeFormat), b.etag(), len(b.bytes)}})
		}
	}
	slices.SortFunc(out.Blobs, func(a, b blob) int { return strings.Compare(a.Name, b.Name) })
	from, _ := strconv.Atoi(q.URL.Query().Get("marker"))
	to := len(out.Blobs)
	if c.Page > 0 && from+c.Page < to {
		to = from + c.Page
		out.NextMarker = strconv.Itoa(to)
	}
	out.Blobs = out.Blobs[from:to]
	text, err := xml.Marshal(out)
	if err != nil {
		return answer{}, newFailure(http.StatusInternalServerError, "InternalError", "%v", err)
	}
	// as Azure does, a mark of the byte order before it
	return answer{
		status: http.StatusOK, header: map[string]string{"Content-Type": "application/xml"},
		raw: append([]byte("\xef\xbb\xbf"+xml.Header), text...),
	}, nil
}

func (c *Cloud) listExports() (answer, *failure) {
	all := []any{}
	for _, e := range c.exports {
		status := map[string]any{"status": "Completed"}
		if e.Failed != "" {
			status = map[string]any{
				"status": "Failed",
				"error":  map[string]string{"code": "ExportFailed", "message": e.Failed},
			}
		}
		all = append(all,
			map[string]any{"name": e.Name, "type": "Microsoft.CostManagement/exports", "properties": map[string]any{
				"definition": map[string]any{"type": e.Type, "timeframe": "MonthToDate"}, "format": "Csv",
				"partitionData": true,
				"deliveryInfo": map[string]any{"destination": map[string]any{
					"type": "AzureBlob",
					"resourceId": "/subscriptions/" + Subscription +
						"/resourceGroups/costs/providers/Microsoft.Storage/storageAccounts/" + e.Account,
					"container": e.Container, "rootFolderPath": e.Folder,
				}},
				"runHistory": map[string]any{"value": []any{map[string]any{"properties": status}}},
			}})
	}
	return okAnswer(map[string]any{"value": all})
}

func (c *Cloud) queryCosts(q request) (answer, *failure) {
	if q.Method != http.MethodPost || q.body["timePeriod"] == nil {
		return answer{}, newFailure(http.StatusBadRequest, "BadRequest", "Invalid query definition: timePeriod "+
			"is missing.")
	}
	rows := c.total
	if rows == "" {
		rows = "[]"
	}
	return okAnswer(map[string]any{"properties": map[string]any{
		"columns": []any{
			map[string]string{"name": "Cost", "type": "Number"},
			map[string]string{"name": "Currency", "type": "String"},
		}, "rows": json.RawMessage(rows),
	}})
}
