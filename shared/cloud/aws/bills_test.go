package aws_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

// The place of the tests' bills. The bucket is in another region than the account's home region.
const (
	bucket       = "acme-bills"
	bucketRegion = "eu-south-1"
)

func month(m int) time.Time { return time.Date(2026, time.Month(m), 1, 0, 0, 0, 0, time.UTC) }

// today is the date of the tests of bills.
var today = time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC)

// delivery is a delivery of Data Exports: its files, then its manifest. Without an id it overwrites the previous
// delivery.
type delivery struct {
	export, prefix, id string
	period             time.Time
	at                 time.Time
	contents           []string
	list               func(key string) any // the manifest's name of a file; nil is its key
}

// deliver puts a delivery into the bucket, and returns the keys of its files.
func (d delivery) deliver(tw *awstwin.Cloud) []string {
	root, in := d.prefix+"/"+d.export, "BILLING_PERIOD="+d.period.Format("2006-01")+"/"
	if d.id != "" {
		in += d.at.Format("2006-01-02T150405.000Z-") + d.id + "/"
	}
	if d.list == nil {
		d.list = func(key string) any { return key }
	}
	var keys []string
	var files []any
	for i, text := range d.contents {
		key := fmt.Sprintf("%s/data/%s%s-%05d.csv.gz", root, in, d.export, i+1)
		tw.PutObject(bucket, key, []byte(text), d.at)
		keys, files = append(keys, key), append(files, d.list(key))
	}
	m, err := json.Marshal(map[string]any{
		"dataFiles": files, "executionId": d.id,
		"columns": []map[string]string{{"name": "BilledCost"}},
	})
	if err != nil {
		panic(err)
	}
	tw.PutObject(bucket, root+"/metadata/"+in+d.export+"-Manifest.json", m, d.at)
	return keys
}

func focusExport(period int, contents ...string) delivery {
	return delivery{
		export: "focus", prefix: "exports", id: fmt.Sprint("e", period), period: month(period),
		at: month(period).AddDate(0, 0, 3), contents: contents,
	}
}

// billedTwin is an account with an export in the columns of FOCUS, January to March.
func billedTwin() *awstwin.Cloud {
	tw := &awstwin.Cloud{Page: 2}
	tw.AddBucket(awstwin.Bucket{Name: bucket, Region: bucketRegion})
	tw.AddExport(awstwin.Export{
		Name: "focus", Query: "SELECT BilledCost FROM FOCUS_1_2_AWS", Bucket: bucket,
		Prefix: "exports", Region: bucketRegion,
	})
	for m := 1; m <= 3; m++ {
		focusExport(m, fmt.Sprint("older than ", m)).deliver(tw)
		newest := focusExport(m, fmt.Sprint("first of ", m), fmt.Sprint("second of ", m))
		newest.id, newest.at = "f", newest.at.Add(8*time.Hour)
		newest.deliver(tw)
	}
	return tw
}

func openBills(t *testing.T, tw *awstwin.Cloud, set cloud.BillSettings) cloud.Biller {
	t.Helper()
	o := options(tw)
	o.Clock = clock.NewManual(today)
	a := keys(awstwin.AccessKey)
	a.Billing = set
	c, err := aws.New(o).Connect(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return c.(cloud.Biller)
}

func TestBills_OverTheTwinKeepTheContract(t *testing.T) {
	tw := billedTwin()
	day := func(day, amount string) awstwin.Cost {
		return awstwin.Cost{
			Day: day, Account: awstwin.Account, Service: "Amazon EC2", Region: region,
			Unblended: amount,
			Amortized: amount,
		}
	}
	tw.AddCost(day("2026-03-01", "1.10"))
	tw.AddCost(day("2026-03-31", "0.0000000001"))
	tw.AddCost(day("2026-04-01", "7"))
	deny := func(op, message string) func(bool) {
		return func(on bool) {
			tw.EndFaults()
			if on {
				tw.AddFault(awstwin.Fault{Op: op, Code: "AccessDenied", Message: message, Status: 403, Times: -1})
			}
		}
	}
	last, deliveries := focusExport(3), 0
	var keys []string
	cloudtest.RunBills(t, openBills(t, tw, cloud.BillSettings{Source: cloud.DataExport}).(cloud.Conn), cloudtest.Bills{
		From: month(2),
		Content: map[time.Time][]string{
			month(2): {"first of 2", "second of 2"},
			month(3): {"first of 3", "second of 3"},
		},
		Totals: map[time.Time][2]string{month(3): {"1.1000000001", "USD"}, month(4): {"7", "USD"}},
		Empty:  month(9),
		Deliver: func(contents ...string) {
			deliveries++
			last.id, last.at, last.contents = fmt.Sprint("g", deliveries), month(4).AddDate(0, 0, deliveries), contents
			keys = last.deliver(tw)
		},
		Replace: func() { tw.PutObject(bucket, keys[0], []byte("replaced"), today) },
		Lose:    func() { tw.RemoveObject(bucket, keys[1]) },
		Deny: map[string]func(bool){
			"bcm-data-exports:ListExports": deny("bcm-data-exports:ListExports",
				"User is not authorized to perform: bcm-data-exports:ListExports"),
			"bcm-data-exports:GetExport": deny("bcm-data-exports:GetExport", "User is not authorized"),
			"s3:ListBucket":              deny("s3:ListObjectsV2", "Access Denied"),
			"s3:GetObject":               deny("s3:GetObject", "Access Denied"),
		},
		Cut: tw.CutObjects,
		Break: func(on bool) {
			tw.EndFaults()
			if on {
				tw.AddFault(awstwin.Fault{Lost: true, Times: -1})
			}
		},
	})
}

func TestDeliveries_AreOfTheBestSourceThatHasThePeriod(t *testing.T) {
	tw := billedTwin()
	tw.AddExport(awstwin.Export{
		Name: "cur2", Query: "SELECT line_item_unblended_cost FROM COST_AND_USAGE_REPORT",
		Bucket: bucket, Prefix: "exports", Region: bucketRegion,
	})
	tw.AddExport(awstwin.Export{
		Name: "carbon", Query: "SELECT a FROM CARBON_EMISSIONS", Bucket: bucket,
		Prefix: "exports",
		Region: bucketRegion,
	})
	tw.AddExport(awstwin.Export{
		Name: "part", Query: "SELECT BilledCost FROM FOCUS_1_2_AWS WHERE SubAccountId = '1'",
		Bucket: bucket, Prefix: "exports", Region: bucketRegion,
	})
	tw.AddReport(awstwin.Report{Name: "daily", Bucket: bucket, Prefix: "cur", Region: bucketRegion})
	for _, name := range []string{"cur2", "part"} {
		old := delivery{
			export: name, prefix: "exports", period: time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC),
			at: month(1), contents: []string{"x"},
		}
		old.deliver(tw)
		old.period = month(2)
		old.at = month(3)
		old.deliver(tw)
	}
	report := func(folder string) {
		tw.PutObject(bucket, "cur/daily/"+folder+"/a-1/daily-1.csv.gz", []byte("x"), today)
		tw.PutObject(bucket, "cur/daily/"+folder+"/daily-Manifest.json",
			[]byte(`{"assemblyId":"a-1","reportKeys":["cur/daily/`+folder+`/a-1/daily-1.csv.gz"]}`), month(1))
	}
	report("20251101-20251201")
	report("20251201-20260101")
	got, err := openBills(t, tw, cloud.BillSettings{}).Deliveries(t.Context(),
		time.Date(2025, 10, 5, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, d := range got {
		told = append(told, d.Period.Format("2006-01 ")+d.Export+" "+string(d.Form))
	}
	want := "2025-10 Cost Explorer focus, 2025-11 daily cur, 2025-12 cur2 cur2, 2026-01 focus focus, 2026-02 focus " +
		"focus, 2026-03 focus focus, 2026-04 Cost Explorer focus"
	if strings.Join(told, ", ") != want {
		t.Errorf("%s\nwant %s", strings.Join(told, ", "), want)
	}
	named, err := openBills(t, tw, cloud.BillSettings{Source: cloud.DataExport, Export: "part"}).Deliveries(t.Context(),
		month(2))
	if err != nil || len(named) != 1 || named[0].Export != "part" {
		t.Errorf("%+v, %v; want the one that was named, though it leaves rows out", named, err)
	}
}

func TestDeliveries_TakeEachFormOfAManifest(t *testing.T) {
	for name, list := range map[string]func(string) any{
		"keys":      func(key string) any { return key },
		"objects":   func(key string) any { return map[string]string{"key": key} },
		"addresses": func(key string) any { return "s3://" + bucket + "/" + key },
	} {
		t.Run(name, func(t *testing.T) {
			tw := billedTwin()
			d := focusExport(4, "a", "b")
			d.list = list
			d.deliver(tw)
			got, err := openBills(t, tw, cloud.BillSettings{}).Deliveries(t.Context(), month(4))
			if err != nil || len(got) != 1 || len(got[0].Files) != 2 || got[0].Files[1].Size != 1 ||
				got[0].Files[1].Version == "" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	for name, list := range map[string]func(string) any{
		"a number":         func(string) any { return 7 },
		"another bucket":   func(key string) any { return "s3://elsewhere/" + key },
		"an object of not": func(string) any { return map[string]string{"path": "x"} },
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			tw := billedTwin()
			d := focusExport(4, "a")
			d.list = list
			d.deliver(tw)
			_, err := openBills(t, tw, cloud.BillSettings{Source: cloud.DataExport}).Deliveries(t.Context(), month(4))
			wantClass(t, name, err, cloud.Invalid)
			if err == nil || !strings.Contains(err.Error(), "BILLING_PERIOD=2026-04") {
				t.Errorf("%v; want the manifest named", err)
			}
		})
	}
}

// In overwrite mode the manifest is the same in every delivery; only the versions of its files tell the deliveries
// apart.
func TestDeliveries_OverwrittenInPlace(t *testing.T) {
	tw := billedTwin()
	d := delivery{
		export: "focus", prefix: "exports", period: month(4), at: month(4).Add(time.Hour),
		contents: []string{"a", "b"},
	}
	keys := d.deliver(tw)
	bills := openBills(t, tw, cloud.BillSettings{Source: cloud.DataExport})
	first, err := bills.Deliveries(t.Context(), month(4))
	if err != nil {
		t.Fatal(err)
	}
	tw.PutObject(bucket, keys[0], []byte("c"), d.at.Add(time.Hour)) // the next delivery is under way
	_, err = bills.Deliveries(t.Context(), month(4))
	wantClass(t, "while a delivery is under way", err, cloud.Moving)
	d.at, d.contents = d.at.Add(2*time.Hour), []string{"c", "d"}
	d.deliver(tw)
	second, err := bills.Deliveries(t.Context(), month(4))
	if err != nil || second[0].Fingerprint == first[0].Fingerprint ||
		!second[0].DeliveredAt.After(first[0].DeliveredAt) {
		t.Errorf("%+v, %v after %+v", second, err, first)
	}
}

func TestDeliveries_OfAnUnhealthyExportSaySo(t *testing.T) {
	tw := billedTwin()
	tw.RemoveExports()
	tw.AddExport(awstwin.Export{
		Name: "focus", Query: "SELECT * FROM FOCUS_1_2_AWS", Bucket: bucket, Prefix: "exports",
		Region: bucketRegion, Unhealthy: "INSUFFICIENT_PERMISSION",
	})
	got, err := openBills(t, tw, cloud.BillSettings{}).Deliveries(t.Context(), month(3))
	if err != nil || !strings.Contains(got[0].Notice, "INSUFFICIENT_PERMISSION") {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = openBills(t, tw, cloud.BillSettings{Source: cloud.DataExport}).Deliveries(t.Context(), month(4))
	if err == nil || !strings.Contains(err.Error(), "unhealthy") {
		t.Errorf("%v; want why nothing was delivered", err)
	}
}

func TestCostExplorer_StandsInWhereNoExportIs(t *testing.T) {
	tw := &awstwin.Cloud{Page: 1}
	for _, k := range []awstwin.Cost{
		{
			Day: "2026-03-01", Account: awstwin.Account, Service: "Amazon EC2", Region: region, Unblended: "1.5",
			Amortized: "1.25",
		},
		{
			Day: "2026-03-01", Account: awstwin.Account, Service: "Tax", Region: "NoRegion", Unblended: "0.30",
			Amortized: "0.3",
		},
		{
			Day: "2026-03-02", Account: "222233334444", Service: "Amazon EC2", Region: region, Unblended: "2",
			Amortized: "2",
		},
	} {
		tw.AddCost(k)
	}
	bills := openBills(t, tw, cloud.BillSettings{})
	got, err := bills.Deliveries(t.Context(), month(1).AddDate(-3, 0, 0))
	if err != nil || len(got) != 14 || len(tw.Calls("ce:GetCostAndUsage")) > 0 {
		t.Fatalf("%d deliveries, %v, %d requests; want 13 whole months and this one, for nothing", len(got), err,
			len(tw.Calls("ce:GetCostAndUsage")))
	}
	for _, d := range got {
		if d.DeliveredAt.Before(d.Period) || d.DeliveredAt.After(d.Period.Add(24*time.Hour)) {
			t.Errorf("%s is of %s; want the first hours of the month, so that any export replaces it", d.Period,
				d.DeliveredAt)
		}
		if closed := d.Period.Before(month(3)); d.Final != closed {
			t.Errorf("%s final %v; AWS may change a month for 15 days", d.Period, d.Final)
		}
	}
	lines := readLines(t, bills, got[12])
	want := []string{
		`{"BillingAccountId":"111122223333","SubAccountId":"111122223333","ProviderName":"AWS","PublisherName":"AWS",` +
			`"InvoiceIssuerName":"AWS","BillingPeriodStart":"2026-03-01T00:00:00Z",` +
			`"BillingPeriodEnd":"2026-04-01T00:00:00Z","ChargePeriodStart":"2026-03-01T00:00:00Z",` +
			`"ChargePeriodEnd":"2026-03-02T00:00:00Z","ChargeCategory":"Usage","ServiceName":"Amazon EC2",` +
			`"RegionId":"eu-west-1","BillingCurrency":"USD","BilledCost":"1.5","EffectiveCost":"1.25"}`,
		`"ChargeCategory":"Tax","ServiceName":"Tax","RegionId":"","BillingCurrency":"USD","BilledCost":"0.3"`,
		`"ChargePeriodStart":"2026-03-02T00:00:00Z"`,
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines of 3 pages: %v", len(lines), lines)
	}
	for i := range want {
		if !strings.Contains(lines[i], want[i]) {
			t.Errorf("line %d is %s\nwant %s", i, lines[i], want[i])
		}
	}
	if spent := bills.(cloud.BillSpender).Spent(); spent.Requests != 3 || spent.USD != 0.03 {
		t.Errorf("%+v; want each page counted", spent)
	}
}

func TestCostExplorer_TellsAccountsToWhoPaysForThem(t *testing.T) {
	tw := organisationTwin()
	tw.AddCost(awstwin.Cost{
		Day: "2026-03-02", Account: "222233334444", Service: "Amazon EC2", Region: region,
		Unblended: "2", Amortized: "2",
	})
	bills := openBills(t, tw, cloud.BillSettings{Source: cloud.CostExplorer})
	got, err := bills.Deliveries(t.Context(), month(3))
	if err != nil {
		t.Fatal(err)
	}
	lines := readLines(t, bills, got[0])
	if len(lines) != 1 || !strings.Contains(lines[0], `"SubAccountId":"222233334444"`) ||
		!strings.Contains(lines[0], `"RegionId":""`) {
		t.Errorf("%v", lines)
	}
}

func TestControlTotal_TellsNothingOfWhatWasNamed(t *testing.T) {
	tw := billedTwin()
	for name, set := range map[string]cloud.BillSettings{"a bucket": {Bucket: bucket}, "an export": {Export: "part"}} {
		if _, _, ok, err := openBills(t, tw, set).ControlTotal(t.Context(), month(3)); ok || err != nil ||
			len(tw.Calls("ce:GetCostAndUsage")) > 0 {
			t.Errorf("of %s: %v, %v; want nothing asked, it may be of other accounts too", name, ok, err)
		}
	}
}

func TestCostExplorer_SaysWhyThereIsNoExport(t *testing.T) {
	tw := billedTwin()
	tw.AddFault(awstwin.Fault{
		Op: "bcm-data-exports:ListExports", Code: "AccessDeniedException",
		Message: "not authorized",
		Status:  400, Times: -1,
	})
	bills := openBills(t, tw, cloud.BillSettings{})
	got, err := bills.Deliveries(t.Context(), month(3))
	if err != nil || got[0].Source != cloud.CostExplorer ||
		!strings.Contains(got[0].Notice, "bcm-data-exports:ListExports") {
		t.Errorf("%+v, %v", got, err)
	}
	tw.AddFault(awstwin.Fault{
		Op: "ce:GetCostAndUsage", Code: "AccessDeniedException",
		Message: "not authorized to perform ce:GetCostAndUsage", Status: 400, Times: -1,
	})
	if _, _, ok, err := bills.ControlTotal(t.Context(), month(3)); ok || err != nil {
		t.Errorf("%v, %v; who may not ask is told nothing", ok, err)
	}
	r, err := bills.OpenBill(t.Context(), got[0], got[0].Files[0])
	if err == nil {
		_, err = io.ReadAll(r)
	}
	wantClass(t, "read", err, cloud.Denied)
}

// The calls that read bills need exactly the permissions that customers are told to grant.
func TestBills_AreReadByWhatTheySayTheyNeed(t *testing.T) {
	tw := billedTwin()
	bills := openBills(t, tw, cloud.BillSettings{})
	got, err := bills.Deliveries(t.Context(), month(3))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range got {
		readLines(t, bills, d)
	}
	if _, _, _, err = bills.ControlTotal(t.Context(), month(3)); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{
		"s3:HeadBucket": "s3:ListBucket", "s3:ListObjectsV2": "s3:ListBucket",
		"s3:HeadObject": "s3:GetObject",
	}
	called := map[string]bool{}
	for _, k := range tw.Calls("") {
		if named, ok := names[k.Op]; ok {
			k.Op = named
		}
		if !strings.HasPrefix(k.Op, "sts:") {
			called[k.Op] = true
		}
	}
	if got, want := slices.Sorted(maps.Keys(called)), aws.ListRequiredActions().Billing; !slices.Equal(got, want) {
		t.Errorf("called are %v; needed %v", got, want)
	}
}
