package links_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/links"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

var now = time.Date(2026, 3, 10, 9, 0, 0, 0, time.UTC)

// call has the worker run a task.
func call(t *testing.T, task string, in any) (any, error) {
	t.Helper()
	files := archive.NewFolderInbox(t.TempDir(), "http://127.0.0.1:1", []byte("a key of the test"),
		clock.NewManual(now))
	b, err := json.Marshal(map[string]any{"task": task, "input": in})
	if err != nil {
		t.Fatal(err)
	}
	return links.Handler(&platform.Platform{Inbox: files, Outbox: files})(context.Background(), b)
}

func TestLinks_AreOfTheOrganizationThatAsks(t *testing.T) {
	until := now.Add(time.Minute)
	address, err := call(t, billimport.AddressTask,
		billimport.Question{Org: "org_1", UploadID: "imp_1", Bytes: 5, Until: until})
	upload := archive.UploadPath + billimport.UploadName("org_1", "imp_1")
	if err != nil || !strings.Contains(address.(billimport.Address).URL, upload) {
		t.Errorf("the address of an upload: %+v, %v", address, err)
	}
	link, err := call(t, report.ExportLinkTask, report.ExportLinkQuestion{
		ExportInput: report.ExportInput{Org: "org_1", JobID: "job_1"},
		FileName:    "costs.csv", Until: until,
	})
	if err != nil || !strings.Contains(link.(report.ExportLink).URL, report.ExportObjectName("org_1", "job_1")) {
		t.Errorf("the link to a download: %+v, %v", link, err)
	}
}

func TestLinks_RefuseWhatTheyCannotMake(t *testing.T) {
	for name, c := range map[string]struct {
		task string
		in   any
	}{
		"a task of another worker": {"export", report.ExportInput{Org: "org_1", JobID: "job_1"}},
		"an upload of no organization": {
			billimport.AddressTask, billimport.Question{UploadID: "imp_1", Until: now.Add(time.Minute)},
		},
		"a download of no organization": {
			report.ExportLinkTask, report.ExportLinkQuestion{Until: now.Add(time.Minute)},
		},
	} {
		if out, err := call(t, c.task, c.in); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %+v, %v; want it refused as invalid", name, out, err)
		}
	}
}
