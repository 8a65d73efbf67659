package aws_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

func readLines(t *testing.T, b cloud.Biller, d cloud.Delivery) []string {
	t.Helper()
	r, err := b.OpenBill(t.Context(), d, d.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// dataFolder returns the folder of the sample bills. It skips the test if the folder is missing.
func dataFolder(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("LAMPLIGHTER_DATA")
	if root == "" {
		root = "../../../../shared/data"
	}
	path := filepath.Join(root, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED: the sample bills are not there: %v", err)
	}
	return path
}

// putReport puts the files of a sample bucket into the folder of the report with that name.
func putReport(t *testing.T, put func(key string, text []byte)) {
	t.Helper()
	root := dataFolder(t, "aws-cur/legacy_cur_koku-local")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		in, _ := filepath.Rel(root, path)
		put("koku-local/"+filepath.ToSlash(in), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// readsTheSample requires that the one period of the sample bucket is found and its one file can be opened.
func readsTheSample(t *testing.T, bills cloud.Biller) {
	t.Helper()
	got, err := bills.Deliveries(t.Context(), time.Date(2018, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil || len(got) != 1 || got[0].Period.Format("2006-01") != "2018-08" ||
		got[0].Form != cloud.LegacyCURForm || len(got[0].Files) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	r, err := bills.OpenBill(t.Context(), got[0], got[0].Files[0])
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil || int64(len(text)) != got[0].Files[0].Size || r.Size() != got[0].Files[0].Size || text[0] != 0x1f {
		t.Errorf("%d bytes of %+v, %v", len(text), got[0].Files[0], err)
	}
}

func TestBills_OfASampleBucketAreRead(t *testing.T) {
	tw := &awstwin.Cloud{}
	tw.AddBucket(awstwin.Bucket{Name: bucket, Region: bucketRegion})
	putReport(t, func(key string, text []byte) { tw.PutObject(bucket, key, text, today) })
	readsTheSample(t,
		openBills(t, tw, cloud.BillSettings{Source: cloud.CostReport, Bucket: bucket, Export: "koku-local"}))
	readsTheSample(t, openBills(t, tw, cloud.BillSettings{Source: cloud.CostReport, Bucket: bucket}))
}
