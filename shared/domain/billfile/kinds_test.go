package billfile_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

func workbook(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range []string{"[Content_Types].xml", "xl/workbook.xml"} {
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// columnsOf returns a header of these columns and an empty row.
func columnsOf(columns ...string) string {
	return strings.Join(columns, ",") + "\n" + strings.Repeat(",", len(columns)-1) + "\n"
}

func TestRead_FilesOfOtherKindsAreNamed(t *testing.T) {
	columns := "BilledCost;EffectiveCost;BillingCurrency\n1,5;1,5;EUR\n"
	parquet := string(writeParquet(t, sampleCharges(t)))
	for name, c := range map[string]struct{ content, says string }{
		"a PDF":                 {"%PDF-1.7\n%\xe2\xe3", "it is a PDF document"},
		"an HTML page":          {"\n <!DOCTYPE html><html>", "it is an HTML or XML page"},
		"a JSON array":          {"\ufeff[\n{\"BilledCost\": 1}]", "it is a JSON array; deliver one JSON object"},
		"semicolons":            {columns, "its columns are separated by semicolons"},
		"semicolons, quoted":    {`"BilledCost";"Effective, cost";"BillingCurrency"` + "\n", "separated by semicolons"},
		"tabs":                  {strings.ReplaceAll(columns, ";", "\t"), "its columns are separated by tabs"},
		"a line for Excel":      {"sep=;\n" + columns, `its first line is "sep=;"`},
		"an old Excel workbook": {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "it is an Excel workbook; save its sheet as CSV"},
		"Zstandard":             {"\x28\xb5\x2f\xfd\x04\x00", "it is packed with Zstandard; deliver it unpacked, or"},
		"bzip2":                 {"BZh91AY&SY", "it is packed with bzip2"},
		"7-Zip":                 {"7z\xbc\xaf\x27\x1c", "it is packed with 7-Zip"},
		"an image":              {"\x89PNG\r\n\x1a\n", "it is an image"},
		"Avro":                  {"Obj\x01\x04", "it is an Avro file; deliver it as Parquet"},
		"a program":             {"\x7fELF\x02\x00\x00", "it is neither text in UTF-8 nor a Parquet file"},
		"an archive of tar":     {"bill.csv\x00\x00\x00\x00" + columns, "it is neither text in UTF-8 nor a Parquet"},
		"columns are missing":   {"BilledCost,EffectiveCost\n1,1\n", "columns are missing: BillingCurrency"},
		"columns of no FOCUS":   {"a,b\n1,2\n", "it has none of the columns of FOCUS, but a, b; deliver"},
		"JSON of something else": {
			`{"data":{"a":1}}`, "it has none of the columns of FOCUS, but data, data.a; deliver",
		},
		"AWS's own report": {
			columnsOf("identity/LineItemId", "lineItem/LineItemType", "lineItem/UnblendedCost"),
			"it is a Cost and Usage Report of AWS; connect the account, which imports its reports, or upload an export",
		},
		"Azure's own export": {
			columnsOf("SubscriptionId", "CostInBillingCurrency", "MeterCategory"),
			"it is an export of actual or amortized cost of Azure; connect the account",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, content := range [][]byte{[]byte(c.content), gzipped(t, []byte(c.content))} {
				refuses(t, content, c.says)
			}
		})
	}
	refuses(t, []byte(workbook(t)), "it is an Excel workbook; save its sheet as CSV UTF-8")
	packed := "it is a Parquet file within another packing; deliver the Parquet file itself, which is packed already"
	refuses(t, gzipped(t, []byte(parquet)), packed)
	refuses(t, zipArchive(t, []byte(parquet)), packed)
	refuses(t, gzipped(t, gzipped(t, fixture(t, "focus.csv"))), "it is packed twice; deliver it packed once")
}

func refuses(t *testing.T, content []byte, says string) {
	t.Helper()
	_, _, err := readAll(cloud.UploadForm, "f", content)
	if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.Message(err), says) {
		t.Errorf("%v; want %q", err, says)
	}
}

// The checks take no ordinary file for another one.
func TestRead_FilesThatLookLikeOtherKinds(t *testing.T) {
	for name, header := range map[string]string{
		"many semicolons in one name": "\"a;b;c;d\",BilledCost,EffectiveCost,BillingCurrency,ChargeCategory," +
			"BillingPeriodStart,ChargePeriodStart",
		"a name that begins like bzip2": "BZh,BilledCost,EffectiveCost,BillingCurrency,ChargeCategory," +
			"BillingPeriodStart,ChargePeriodStart",
	} {
		content := header + "\nx,1,1,USD,Usage,2026-03-01,2026-03-02\n"
		if _, totals, err := readAll(cloud.UploadForm, "f", []byte(content)); err != nil || totals.Rows != 1 {
			t.Errorf("%s: %d rows, %v", name, totals.Rows, err)
		}
	}
}
