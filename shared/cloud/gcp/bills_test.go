package gcp_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

func month(m int) time.Time { return time.Date(2026, time.Month(m), 1, 0, 0, 0, 0, time.UTC) }

const (
	detailed = "gcp_billing_export_resource_v1_01AB"
	standard = "gcp_billing_export_v1_01AB"
)

func usage(m, day, cost string) gcptwin.BillingRow {
	return gcptwin.BillingRow{
		Month: m, Partition: day, Exported: day + "T23:06:07.000000Z", Day: day, Project: gcptwin.Project,
		Service: "Compute Engine", SKU: "E2", Region: region,
		Resource: "//compute.googleapis.com/projects/acme/vm-1", Currency: "EUR", CostType: "regular", Cost: cost,
		Labels: `[{"key":"team","value":"a"}]`,
	}
}

// billedTwin is a project with the detailed export, and the standard one beside it, January to March.
func billedTwin() *gcptwin.Cloud {
	tw := &gcptwin.Cloud{}
	columns := []string{
		"billing_account_id", "service", "sku", "labels", "cost", "credits", "currency", "export_time",
		"invoice", "cost_type",
	}
	tw.AddBillingTable(gcptwin.BillingTable{Project: gcptwin.Project, Dataset: "sales", Location: "US", ID: "orders"})
	tw.AddBillingTable(gcptwin.BillingTable{
		Project: gcptwin.Project, Dataset: "billing", Location: "EU", ID: standard,
		Columns: columns,
	})
	tw.AddBillingTable(gcptwin.BillingTable{
		Project: gcptwin.Project, Dataset: "billing", Location: "EU", ID: detailed,
		Columns: append(columns, "resource", "cost_at_list", "tags"),
	})
	march := usage("202603", "2026-03-02", "2.5")
	march.Credits = map[string]string{"Sustained use": "-0.5"}
	tax := march
	tax.CostType, tax.Cost, tax.Resource, tax.Credits, tax.Partition = "tax", "0.07", "", nil, "2026-04-03"
	tw.AddBillingRows(detailed, usage("202601", "2026-01-05", "9"), usage("202602", "2026-02-05", "1.000000001"), march,
		usage("202603", "2026-03-02", "0.25"), tax)
	tw.AddBillingRows(standard, usage("202602", "2026-02-05", "77"))
	return tw
}

func openBills(t *testing.T, tw *gcptwin.Cloud, set cloud.BillSettings) cloud.Biller {
	t.Helper()
	a := keyAccount(gcptwin.KeyFile())
	a.Billing = set
	return open(t, tw, a).(cloud.Biller)
}

// line is the line of JSON that the twin's rows of a day become.
func line(day, category, about, resource, cost string) string {
	at, _ := time.Parse(time.DateOnly, day)
	month := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	fields := map[string]string{
		"BilledCost": cost, "BillingAccountId": "01-AB", "BillingCurrency": "EUR",
		"BillingPeriodEnd":   month.AddDate(0, 1, 0).Format(time.RFC3339),
		"BillingPeriodStart": month.Format(time.RFC3339), "ChargeCategory": category, "ChargeClass": "",
		"ChargeDescription": about, "ChargeFrequency": "", "ChargePeriodEnd": at.AddDate(0, 0, 1).Format(time.RFC3339),
		"ChargePeriodStart": at.Format(time.RFC3339), "EffectiveCost": cost, "InvoiceIssuerName": "Google Cloud",
		"ListCost": cost, "PricingCategory": "", "PricingQuantity": "0", "ProviderName": "Google Cloud",
		"PublisherName": "Google Cloud", "RegionId": "europe-west1", "ResourceId": resource,
		"ServiceName": "Compute Engine", "SkuId": "E2", "SubAccountId": "acme-prod",
		"Tags": `[{"namespace":"","key":"team","value":"a"}]`, "x_CurrencyConversionRate": "",
	}
	switch category {
	case "Usage":
		fields["ChargeFrequency"], fields["PricingCategory"] = "Usage-Based", "Standard"
	case "Credit":
		fields["ListCost"], fields["PricingUnit"] = "0", ""
	}
	text, _ := json.Marshal(fields) // cannot fail: texts by texts
	return string(text) + "\n"
}

const vm = "//compute.googleapis.com/projects/acme/vm-1"

func TestBills_OverTheTwinKeepTheContract(t *testing.T) {
	tw := billedTwin()
	deny := func(op string) func(bool) {
		return func(on bool) {
			tw.EndFaults()
			if on {
				tw.AddFault(gcptwin.Fault{
					Op: op, Reason: "accessDenied",
					Message: "Access Denied: Project acme-prod: User does not have permission", Status: 403, Times: -1,
				})
			}
		}
	}
	cloudtest.RunBills(t, openBills(t, tw, cloud.BillSettings{}).(cloud.Conn), cloudtest.Bills{
		From: month(2),
		Content: map[time.Time][]string{
			month(2): {line("2026-02-05", "Usage", "E2", vm, "1.000000001")},
			month(3): {line("2026-03-02", "Credit", "Sustained use", vm, "-0.5") + line("2026-03-02", "Tax", "E2", "",
				"0.07") + line("2026-03-02", "Usage", "E2", vm, "2.75")},
		},
		Empty: month(9),
		Deny: map[string]func(bool){
			"bigquery.datasets.get": deny("bigquery.datasets.list"),
			"bigquery.tables.list":  deny("bigquery.tables.list"),
			"bigquery.tables.get":   deny("bigquery.tables.get"), "bigquery.jobs.create": deny("bigquery.jobs.query"),
		},
		Break: func(on bool) {
			tw.EndFaults()
			if on {
				tw.AddFault(gcptwin.Fault{Op: "*", Lost: true, Times: -1})
			}
		},
	})
}

// A row may come long after its month: the month is another delivery then, and asked for up to the day of the row.
func TestDeliveries_ChangeWithTheRowsOfTheirMonth(t *testing.T) {
	tw := billedTwin()
	bills := openBills(t, tw, cloud.BillSettings{Dataset: "billing"})
	before, err := bills.Deliveries(t.Context(), month(2))
	if err != nil || len(before) != 2 || !strings.Contains(before[1].Files[0].Name, "from=2026-03-02") ||
		!strings.Contains(before[1].Files[0].Name, "to=2026-04-03") {
		t.Fatalf("%+v, %v", before, err)
	}
	tw.AddBillingRows(detailed, usage("202602", "2026-04-20", "-1"))
	after, err := bills.Deliveries(t.Context(), month(2))
	if err != nil || after[0].Fingerprint == before[0].Fingerprint || after[1].Fingerprint != before[1].Fingerprint ||
		!after[0].DeliveredAt.After(before[0].DeliveredAt) {
		t.Errorf("%+v, %v after %+v", after, err, before)
	}
	if spent := bills.(cloud.BillSpender).Spent(); spent.Bytes != 2048 || spent.USD <= 0 {
		t.Errorf("%+v; want what was scanned told", spent)
	}
}

func TestBills_OfPagesAndQueriesThatTakeTime(t *testing.T) {
	tw := billedTwin()
	tw.Page, tw.Slow = 1, true
	bills := openBills(t, tw, cloud.BillSettings{})
	got, err := bills.Deliveries(t.Context(), month(1))
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	r, err := bills.OpenBill(t.Context(), got[2], got[2].Files[0])
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil || strings.Count(string(text), "\n") != 3 {
		t.Errorf("%s, %v; want the lines of three pages", text, err)
	}
}

func TestDeliveries_OfADatasetOfAnotherProject(t *testing.T) {
	tw := &gcptwin.Cloud{}
	tw.AddBillingTable(gcptwin.BillingTable{
		Project: "acme-finance", Dataset: "all_bills", Location: "US", ID: standard,
		Columns: []string{"cost"},
	})
	tw.AddBillingRows(standard, usage("202602", "2026-02-05", "77"))
	if _, err := openBills(t, tw, cloud.BillSettings{}).Deliveries(t.Context(), month(1)); err == nil ||
		!strings.Contains(err.Error(), "billing.dataset") {
		t.Errorf("%v; want what to do", err)
	}
	got, err := openBills(t, tw, cloud.BillSettings{Dataset: "acme-finance.all_bills"}).Deliveries(t.Context(),
		month(1))
	if err != nil || len(got) != 1 || got[0].Export != "acme-finance.all_bills."+standard ||
		!strings.Contains(got[0].Notice, "names no resources") {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = openBills(t, tw, cloud.BillSettings{Dataset: "a`; DROP"}).Deliveries(t.Context(), month(1))
	wantClass(t, "a dataset that is none", err, cloud.Invalid)
}

func TestOpenBill_TakesNothingButNamesAndDaysIntoAQuestion(t *testing.T) {
	bills := openBills(t, billedTwin(), cloud.BillSettings{})
	for _, name := range []string{
		"", "s3://bucket/key", "bigquery://acme-prod/billing/orders?month=2026-03&from=2026-03-01&to=2026-03-02",
		"bigquery://acme-prod/billing/" + detailed + "?month=2026-03&from=2026-03-01'&to=2026-03-02",
		"bigquery://acme-prod/bill`ing/" + detailed + "?month=2026-03&from=2026-03-01&to=2026-03-02",
	} {
		_, err := bills.OpenBill(t.Context(), cloud.Delivery{}, cloud.BillFile{Name: name})
		wantClass(t, name, err, cloud.Invalid)
	}
}
