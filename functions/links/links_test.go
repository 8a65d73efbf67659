package links_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/links"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/billing"
	"lamplighter.dev/shared/domain/costexport"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

var now = time.Date(2026, 3, 10, 9, 0, 0, 0, time.UTC)

// call has the worker run a task.
func call(t *testing.T, task string, in any) (any, error) {
	t.Helper()
	files := archive.NewFolderInbox(t.TempDir(), "http://127.0.0.1:1", []byte("a key of the test"), clock.NewManual(now))
	b, err := json.Marshal(map[string]any{"task": task, "input": in})
	if err != nil {
		t.Fatal(err)
	}
	return links.Handler(&platform.Platform{Inbox: files, Outbox: files})(context.Background(), b)
}

func TestLinks_AreOfTheOrganizationThatAsks(t *testing.T) {
	until := now.Add(time.Minute)
	address, err := call(t, billing.AddressTask, billing.Question{Org: "org_1", UploadID: "imp_1", Bytes: 5, Until: until})
	if err != nil || !strings.Contains(address.(billing.Address).URL, archive.UploadPath+billing.UploadName("org_1", "imp_1")) {
		t.Errorf("the address of an upload: %+v, %v", address, err)
	}
	link, err := call(t, costexport.LinkTask, costexport.LinkQuestion{Input: costexport.Input{Org: "org_1", JobID: "job_1"},
		FileName: "costs.csv", Until: until})
	if err != nil || !strings.Contains(link.(costexport.Link).URL, costexport.ObjectName("org_1", "job_1")) {
		t.Errorf("the link to a download: %+v, %v", link, err)
	}
}

func TestLinks_RefuseWhatTheyCannotMake(t *testing.T) {
	for name, c := range map[string]struct {
		task string
		in   any
	}{
		"a task of another worker":      {"export", costexport.Input{Org: "org_1", JobID: "job_1"}},
		"an upload of no organization":  {billing.AddressTask, billing.Question{UploadID: "imp_1", Until: now.Add(time.Minute)}},
		"a download of no organization": {costexport.LinkTask, costexport.LinkQuestion{Until: now.Add(time.Minute)}},
	} {
		if out, err := call(t, c.task, c.in); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %+v, %v; want it refused as invalid", name, out, err)
		}
	}
}
