package azure_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/azure"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

// inCosts is where the exports of the tests deliver to.
const inCosts = "acmecosts/bills/"

func month(m int) time.Time { return time.Date(2026, time.Month(m), 1, 0, 0, 0, 0, time.UTC) }

// run is a run of an export.
type run struct {
	export, kind, id string
	from, to         time.Time
	at               time.Time
	contents         []string
}

// deliver puts a run into the container, and returns the names of its blobs.
func (r run) deliver(tw *azuretwin.Cloud) []string {
	folder := fmt.Sprintf("daily/%s/%s-%s/%s/%s/", r.export, r.from.Format("20060102"), r.to.Format("20060102"),
		r.at.Format("200601021504"), r.id)
	var names []string
	var blobs []map[string]any
	for i, text := range r.contents {
		name := fmt.Sprintf("%s%06d.csv", folder, i+1)
		tw.PutBlob(inCosts+name, []byte(text), r.at)
		names, blobs = append(names, name),
			append(blobs, map[string]any{"blobName": name, "byteCount": len(text), "dataRowCount": i + 10})
	}
	m, err := json.Marshal(map[string]any{
		"manifestVersion": "2024-04-01", "blobCount": len(blobs), "dataRowCount": 21, "blobs": blobs,
		"exportConfig": map[string]string{"exportName": r.export, "type": r.kind, "dataVersion": "1.0"},
		"runInfo": map[string]string{
			"executionType": "Scheduled", "runId": r.id, "startDate": r.from.Format("2006-01-02T15:04:05"),
			"endDate": r.to.Format("2006-01-02T15:04:05"),
		},
	})
	if err != nil {
		panic(err)
	}
	tw.PutBlob(inCosts+folder+"manifest.json", m, r.at)
	return names
}

func runOf(export, kind string, m int, contents ...string) run {
	return run{
		export: export, kind: kind, id: fmt.Sprintf("%s-%d", export, m), from: month(m),
		to: month(m+1).AddDate(0, 0, -1), at: month(m).AddDate(0, 0, 3), contents: contents,
	}
}

func exportOf(name, kind string) azuretwin.Export {
	return azuretwin.Export{Name: name, Type: kind, Account: "acmecosts", Container: "bills", Folder: "/daily"}
}

// billedTwin is a subscription with an export in the columns of FOCUS, January to March.
func billedTwin() *azuretwin.Cloud {
	tw := &azuretwin.Cloud{Page: 2}
	tw.AddExport(exportOf("focus", "FocusCost"))
	tw.AddExport(exportOf("prices", "PriceSheet"))
	for m := 1; m <= 3; m++ {
		runOf("focus", "FocusCost", m, "older").deliver(tw)
		newest := runOf("focus", "FocusCost", m, fmt.Sprint("first of ", m), fmt.Sprint("second of ", m))
		newest.id, newest.at = newest.id+"b", newest.at.Add(8*time.Hour)
		newest.deliver(tw)
	}
	return tw
}

func openBills(t *testing.T, tw *azuretwin.Cloud, set cloud.BillSettings) cloud.Biller {
	t.Helper()
	a := principal(azuretwin.Secret)
	a.Billing = set
	return open(t, tw, a).(cloud.Biller)
}

func TestBills_OverTheTwinKeepTheContract(t *testing.T) {
	tw := billedTwin()
	tw.TellCosts(`[[12.123456789012345,"EUR"]]`)
	deny := func(op, code string) func(bool) {
		return func(on bool) {
			tw.EndFaults()
			if on {
				tw.AddFault(azuretwin.Fault{
					Op: op, Code: code,
					Message: "This request is not authorized to perform this operation using this permission.",
					Status:  403, Times: -1,
				})
			}
		}
	}
	const exports = "Microsoft.CostManagement/exports/read"
	const blobs = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read"
	last, deliveries := runOf("focus", "FocusCost", 3), 0
	var names []string
	cloudtest.RunBills(t, openBills(t, tw, cloud.BillSettings{}).(cloud.Conn), cloudtest.Bills{
		From: month(2),
		Content: map[time.Time][]string{
			month(2): {"first of 2", "second of 2"},
			month(3): {"first of 3", "second of 3"},
		},
		Totals: map[time.Time][2]string{month(3): {"12.123456789012345", "EUR"}},
		Empty:  month(9),
		Deliver: func(contents ...string) {
			deliveries++
			last.id, last.at, last.contents = fmt.Sprint("g", deliveries), month(4).AddDate(0, 0, deliveries), contents
			names = last.deliver(tw)
		},
		Replace: func() { tw.PutBlob(inCosts+names[0], []byte("replaced"), month(5)) },
		Lose:    func() { tw.RemoveBlob(inCosts + names[1]) },
		Deny: map[string]func(bool){
			exports: deny(exports, "AuthorizationFailed"),
			blobs:   deny(blobs, "AuthorizationPermissionMismatch"),
			"the application needs the role Storage Blob Data Reader in the storage a": deny(blobs,
				"AuthorizationPermissionMismatch"),
		},
		Cut: tw.CutBlobs,
		Break: func(on bool) {
			tw.EndFaults()
			if on {
				tw.AddFault(azuretwin.Fault{Op: "*", Lost: true, Times: -1})
			}
		},
	})
}

func TestDeliveries_PreferFOCUSThenThePairThenActual(t *testing.T) {
	tw := billedTwin()
	tw.AddExport(exportOf("actual", "ActualCost"))
	tw.AddExport(exportOf("amortized", "AmortizedCost"))
	for _, m := range []int{3, 4, 5} {
		runOf("actual", "ActualCost", m, "a").deliver(tw)
	}
	runOf("amortized", "AmortizedCost", 3, "b").deliver(tw)
	runOf("amortized", "AmortizedCost", 4, "b").deliver(tw)
	got, err := openBills(t, tw, cloud.BillSettings{}).Deliveries(t.Context(), month(3))
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	if got[0].Form != cloud.FOCUSForm || len(got[0].Files) != 2 || got[0].Rows != 21 || got[0].Files[1].Rows != 11 {
		t.Errorf("%+v; want FOCUS in March, with its rows", got[0])
	}
	if f := got[1].Files; len(f) != 2 || f[0].Form != cloud.AzureActualForm || f[1].Form != cloud.AzureAmortizedForm ||
		got[1].Rows != 42 {
		t.Errorf("%+v; want both in April, each file in its own form", got[1])
	}
	if f := got[2].Files; len(f) != 1 || got[2].Form != "" || f[0].Form != "" {
		t.Errorf("%+v; want what there is in May, of no form: alone it tells what is billed and what is effective",
			got[2])
	}
}

// Months before the export was made are had by one run over several months.
func TestDeliveries_OfARunOverSeveralMonths(t *testing.T) {
	tw := &azuretwin.Cloud{}
	tw.AddExport(exportOf("focus", "FocusCost"))
	r := runOf("focus", "FocusCost", 1, "a")
	r.to, r.at = month(4).AddDate(0, 0, -1), month(4)
	r.deliver(tw)
	got, err := openBills(t, tw, cloud.BillSettings{}).Deliveries(t.Context(), month(2))
	if err != nil || len(got) != 2 || !got[0].Shared || got[0].Period != month(2) || got[1].Period != month(3) ||
		got[0].Fingerprint == got[1].Fingerprint {
		t.Errorf("%+v, %v; want February and March, of files that hold January too", got, err)
	}
}

func TestDeliveries_OfAFailedExportSaySo(t *testing.T) {
	tw := &azuretwin.Cloud{}
	e := exportOf("focus", "FocusCost")
	e.Failed = "The storage account was not found."
	tw.AddExport(e)
	_, err := openBills(t, tw, cloud.BillSettings{}).Deliveries(t.Context(), month(2))
	if err == nil || !strings.Contains(err.Error(), "The storage account was not found.") {
		t.Errorf("%v; want why the export has failed", err)
	}
	runOf("focus", "FocusCost", 2, "a").deliver(tw)
	got, err := openBills(t, tw, cloud.BillSettings{}).Deliveries(t.Context(), month(2))
	if err != nil || !strings.Contains(got[0].Notice, "not found") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestDeliveries_WithAManifestThatIsNone(t *testing.T) {
	tw := billedTwin()
	tw.PutBlob(inCosts+"daily/focus/20260301-20260331/x/manifest.json", []byte("{"), month(4))
	got, err := openBills(t, tw, cloud.BillSettings{}).Deliveries(t.Context(), month(3))
	if err != nil || len(got) != 1 || !got[0].Broken ||
		!strings.Contains(got[0].Notice, "20260301-20260331/x/manifest.json") {
		t.Errorf("%+v, %v; want the run before, and the manifest named", got, err)
	}
	tw.PutBlob(inCosts+"daily/focus/20260301-20260331/x/manifest.json", []byte("{"), month(3).Add(time.Hour))
	got, err = openBills(t, tw, cloud.BillSettings{}).Deliveries(t.Context(), month(3))
	if err != nil || len(got) != 1 || got[0].Broken {
		t.Errorf("%+v, %v; want no word of a manifest that a newer run replaces", got, err)
	}
}

// Each month whose newest manifest cannot be read fails by itself, also when the export has a problem of its own.
func TestDeliveries_WithSeveralManifestsThatAreNoneNameEach(t *testing.T) {
	tw := &azuretwin.Cloud{}
	e := exportOf("focus", "FocusCost")
	e.Failed = "The storage account was not found."
	tw.AddExport(e)
	for m := 1; m <= 4; m++ {
		runOf("focus", "FocusCost", m, "a").deliver(tw)
	}
	for _, days := range []string{"20260101-20260131", "20260301-20260331", "20260501-20260531"} {
		tw.PutBlob(inCosts+"daily/focus/"+days+"/x/manifest.json", []byte("{"), month(6))
	}
	got, err := openBills(t, tw, cloud.BillSettings{}).Deliveries(t.Context(), month(1))
	if err != nil || len(got) != 5 {
		t.Fatalf("%+v, %v; want January to May", got, err)
	}
	for i, want := range []struct {
		files  int
		notice string
	}{
		{1, "20260101-20260131/x/manifest.json"},
		{1, "not found"},
		{1, "20260331/x/manifest.json"},
		{1, "not found"},
		{0, "20260501-20260531/x/manifest.json"},
	} {
		d := got[i]
		if isBroken := strings.Contains(want.notice, "manifest"); d.Period != month(i+1) || d.Broken != isBroken ||
			!strings.Contains(d.Notice, want.notice) || len(d.Files) != want.files {
			t.Errorf("%+v; want %+v", d, want)
		}
	}
}

// Cost Management names three quotas. The call must wait for the one that is exhausted the longest.
func TestControlTotal_WaitsForTheLongestOfThree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tw := billedTwin()
		tw.TellCosts(`[[1,"EUR"]]`)
		o := options(tw)
		o.Limits = map[string]azure.Limit{"": {PerSecond: 1000, Burst: 1000}}
		c, err := azure.New(o).Connect(t.Context(), principal(azuretwin.Secret))
		if err != nil {
			t.Fatal(err)
		}
		tw.AskToWait(map[string]string{
			"x-ms-ratelimit-microsoft.costmanagement-qpu-retry-after":    "4",
			"x-ms-ratelimit-microsoft.costmanagement-entity-retry-after": "37",
			"x-ms-ratelimit-microsoft.costmanagement-tenant-retry-after": "9",
		})
		tw.ThrottleCalls(1)
		asked := time.Now()
		_, _, ok, err := c.(cloud.Biller).ControlTotal(t.Context(), month(3))
		if spent := time.Since(asked); err != nil || !ok || spent < 37*time.Second || spent > 39*time.Second {
			t.Errorf("asked again after %v, %v; want 37 seconds", spent, err)
		}
	})
}

// dataFolder returns the folder of the sample bills. It skips the test if the folder is missing.
func dataFolder(t *testing.T) string {
	t.Helper()
	root := os.Getenv("LAMPLIGHTER_DATA")
	if root == "" {
		root = "../../../../shared/data"
	}
	path := filepath.Join(root, "azure-export")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED: the sample bills are not there: %v", err)
	}
	return path
}

// Its manifest dates from before manifests named their run, and names one blob of 490 rows.
func TestBills_OfASampleContainerAreRead(t *testing.T) {
	folder, tw := dataFolder(t), &azuretwin.Cloud{}
	const blob = "cost/partitioned/20230101-20230131/202301041442/73746dc5-5dcc-4b83-b340-bb1bd2b1ca30/"
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	want := read("ms_EA_ActualCost_Small.csv")
	at := time.Date(2023, 1, 4, 15, 0, 0, 0, time.UTC)
	tw.PutBlob(inCosts+blob+"manifest.json", read("koku_manifest.json"), at)
	tw.PutBlob(inCosts+blob+"000001.csv", want, at)
	bills := openBills(t, tw,
		cloud.BillSettings{StorageAccount: "acmecosts", Container: "bills", Prefix: "cost", Export: "partitioned"})
	got, err := bills.Deliveries(t.Context(), time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil || len(got) != 1 || got[0].Rows != 490 || got[0].Period.Format("2006-01") != "2023-01" ||
		got[0].Files[0].Size != int64(len(want)) {
		t.Fatalf("%+v, %v", got, err)
	}
	r, err := bills.OpenBill(t.Context(), got[0], got[0].Files[0])
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(r); err != nil || string(text) != string(want) {
		t.Errorf("%d bytes, %v; want the %d of the file", len(text), err, len(want))
	}
}
