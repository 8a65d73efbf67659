package exporter_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"lamplighter.dev/functions/exporter"
	"lamplighter.dev/functions/exports"
	"lamplighter.dev/functions/resources"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// discover puts instances from a first number to before a last one into the inventory of an organization, with tags of
// some 350 bytes.
func (a *fixture) discover(org string, from, to int) {
	a.Helper()
	for begin := from; begin < to; begin += 1000 {
		found := make([]cloud.Resource, 0, 1000)
		for n := begin; n < min(begin+1000, to); n++ {
			found = append(found, cloud.Resource{
				UID: fmt.Sprintf("i-%06d", n), Name: fmt.Sprintf("web-%d", n), Status: cloud.Running,
				Tags: map[string]string{
					"env":  []string{"prod", "dev"}[n%2],
					"note": fmt.Sprint(n, strings.Repeat("x", 330)),
				},
			})
		}
		inventorytest.Discover(a.Fixture, org, "aws-ec2", found...)
	}
}

func (a *fixture) resourceJob(who identity.Caller, j rest.Job) resources.ResourceExport {
	a.Helper()
	return apitest.Data[resources.ResourceExport](a.Call(who, "GET "+j.StatusURL))
}

// uidsOf returns the native IDs in a file of resources.
func (a *fixture) uidsOf(format string, content []byte) (out []string) {
	a.Helper()
	if format == rest.CSV {
		rows := apitest.Value(csv.NewReader(bytes.NewReader(content)).ReadAll())(a)
		for _, cells := range rows[1:] {
			out = append(out, cells[1])
		}
		return out
	}
	for line := range strings.Lines(string(content)) {
		var r resources.Record
		a.Must(json.Unmarshal([]byte(line), &r))
		out = append(out, r.UID)
	}
	return out
}

// wantUIDs checks that the IDs are those from a first number to before a last one, each step-th, in order.
func wantUIDs(t *testing.T, got []string, from, to, step int) {
	t.Helper()
	if want := (to - from + step - 1) / step; len(got) != want {
		t.Fatalf("%d resources; want %d", len(got), want)
	}
	for i, uid := range got {
		if want := fmt.Sprintf("i-%06d", from+i*step); uid != want {
			t.Fatalf("resource %d is %s; want %s", i, uid, want)
		}
	}
}

// lambdaLimit is the most bytes of the answer of a Lambda function, as JSON.
const lambdaLimit = 6 << 20

// TestResources_ExportIsCompleteInAnyFormat exports 12,000 resources: more than a page of 5,000, and more bytes than an
// answer can have.
func TestResources_ExportIsCompleteInAnyFormat(t *testing.T) {
	a := newFixture(t)
	a.Mount(resources.Operations, exports.Operations)
	a.discover(ours, 0, 12_000)
	a.discover(theirs, 20_000, 20_100)
	for _, format := range []string{rest.CSV, rest.NDJSON} {
		j := apitest.Data[rest.Job](a.Call(ada, "GET /resources/export?format="+format), http.StatusAccepted)
		a.Equal("the same question again", apitest.Data[rest.Job](
			a.Call(ada, "GET /resources/export?format="+format), http.StatusAccepted).JobID, j.JobID)
		a.Must(a.turn("export", j.JobID))
		got := a.resourceJob(ada, j)
		if got.Status != "succeeded" || got.Rows != 12_000 || got.FileName != "resources."+format+".gz" {
			t.Fatalf("%+v", got)
		}
		wantUIDs(t, a.uidsOf(format, a.unzip(a.fetch(*got.DownloadURL).Body.Bytes())), 0, 12_000, 1)
		a.Call(bob, "GET "+j.StatusURL).Want(http.StatusNotFound)
		a.Call(ada, "GET /reports/exports/"+j.JobID).Want(http.StatusNotFound) // no export of costs

		filtered := a.Call(ada, "GET /resources/export?tag=env=dev&format="+format).Want(http.StatusOK)
		wantUIDs(t, a.uidsOf(format, []byte(filtered.Body)), 1, 12_000, 2)
		if sent := len(apitest.Value(json.Marshal(filtered.Body))(a)); sent > lambdaLimit || sent < lambdaLimit/2 {
			t.Errorf("an answer of %d bytes; want one of most of the %d that Lambda allows", sent, lambdaLimit)
		}
		a.Equal("no further piece", filtered.Header.Get("Link"), "")
	}
}

// TestResources_ExportInPieces follows the Link headers of an export that is asked for in pieces.
func TestResources_ExportInPieces(t *testing.T) {
	a := newFixture(t)
	a.Mount(resources.Operations, exports.Operations)
	a.discover(ours, 0, 12_000)
	var all []string
	pieces := 0
	for target := "/resources/export?cursor=*&format=ndjson"; target != ""; pieces++ {
		w := a.Call(ada, "GET "+target).Want(http.StatusOK)
		all = append(all, a.uidsOf(rest.NDJSON, []byte(w.Body))...)
		target = strings.TrimPrefix(strings.TrimSuffix(w.Header.Get("Link"), `>; rel="next"`), "<")
	}
	wantUIDs(t, all, 0, 12_000, 1)
	a.Equal("pieces", pieces, 3)
}

// TestResources_ExportIsAJobOnRequest: async asks for a job that a small export is too.
func TestResources_ExportIsAJobOnRequest(t *testing.T) {
	a := newFixture(t)
	a.Mount(resources.Operations, exports.Operations)
	a.discover(ours, 0, 3)
	j := apitest.Data[rest.Job](a.Call(ada, "GET /resources/export?async=true"), http.StatusAccepted)
	a.Must(a.turn("export", j.JobID))
	got := a.resourceJob(ada, j)
	wantUIDs(t, a.uidsOf(got.Format, a.unzip(a.fetch(*got.DownloadURL).Body.Bytes())), 0, 3, 1)
	a.Call(ada, "GET /resources/export?async=true&cursor=*").Want(http.StatusBadRequest, "leave out one")
}

// TestResources_ExportByCallersOfAScope: a job sees what its caller sees.
func TestResources_ExportByCallersOfAScope(t *testing.T) {
	a := newFixture(t)
	a.Mount(resources.Operations, exports.Operations)
	a.discover(ours, 0, 12_000)
	var uids []string
	for n := range 9_000 {
		uids = append(uids, fmt.Sprintf("i-%06d", n))
	}
	team := inventorytest.Team(a.Fixture, ours, "Shop", inventorytest.IDs(a.Fixture, ours, uids...)...)
	tom := apitest.Caller(ours, "tom", "viewer team:"+team)
	j := apitest.Data[rest.Job](a.Call(tom, "GET /resources/export?format=ndjson"), http.StatusAccepted)
	a.Must(a.turn("export", j.JobID))
	got := a.resourceJob(tom, j)
	wantUIDs(t, a.uidsOf(got.Format, a.unzip(a.fetch(*got.DownloadURL).Body.Bytes())), 0, 9_000, 1)
	a.Call(apitest.Caller(ours, "tom", "viewer"), "GET "+j.StatusURL).Want(http.StatusNotFound, "the same rights")
	costs := a.begin(ada, "format=parquet&period=2026-03")
	a.Call(ada, "GET /resources/export/jobs/"+costs.JobID).Want(http.StatusNotFound) // no export of resources
}

// meteredArchive measures the memory in use while an object is written.
type meteredArchive struct {
	archive.Store
	most *uint64
}

func (m meteredArchive) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	return m.Store.Put(ctx, name, func(to io.Writer) error { return write(&meteredWriter{to: to, most: m.most}) })
}

// meteredWriter measures at one write of 16.
type meteredWriter struct {
	to     io.Writer
	most   *uint64
	writes int
}

func (w *meteredWriter) Write(b []byte) (int, error) {
	if w.writes++; w.writes%16 == 0 {
		*w.most = max(*w.most, liveBytes())
	}
	return w.to.Write(b)
}

// liveBytes returns the memory in use without garbage.
func liveBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestResources_ExportHoldsOnePageAtATime measures the memory of an export of six pages, which has some 30 MB as
// records. A page has 5 MB.
func TestResources_ExportHoldsOnePageAtATime(t *testing.T) {
	const mostBytes = 10 << 20
	a := newFixture(t)
	a.Mount(resources.Operations, exports.Operations)
	var most uint64
	a.Archive = meteredArchive{a.Archive, &most}
	a.worker = exporter.Handler(a.Platform)
	a.discover(ours, 0, 6*report.RecordPageRows)
	j := apitest.Data[rest.Job](a.Call(ada, "GET /resources/export?format=ndjson"), http.StatusAccepted)
	before := liveBytes()
	a.Must(a.turn("export", j.JobID))
	a.Equal("rows", a.resourceJob(ada, j).Rows, int64(6*report.RecordPageRows))
	if most < before || most-before > mostBytes {
		t.Errorf("the export holds %d bytes; want at most %d", most-before, mostBytes)
	}
}
