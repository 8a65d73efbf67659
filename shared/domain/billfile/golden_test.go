package billfile_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestRead_EachForm shows the charges of each kind of row in each form.
func TestRead_EachForm(t *testing.T) {
	cases := []struct {
		name, file string
		form       cloud.BillForm
	}{
		{"a legacy report has every type of line", "cur.csv", ""},
		{"net costs have the discounts in them", "cur_net.csv", cloud.LegacyCURForm},
		{"CUR 2.0 has maps", "cur2.csv", cloud.CUR2Form},
		{"Azure alone costs what it says", "azure.csv", ""},
		{"actual cost of Azure is what is billed", "azure.csv", cloud.AzureActualForm},
		{"amortized cost of Azure is what is effective", "azure.csv", cloud.AzureAmortizedForm},
		{"Google's credits are charges of their own", "google.json", ""},
		{"FOCUS in lines of JSON", "focus.ndjson", ""},
		{"FOCUS in CSV", "focus.csv", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			charges, totals, err := readAll(c.form, c.file, b)
			if err != nil {
				t.Fatal(err)
			}
			compareGolden(t, describe(totals)+"\n"+lines(t, charges))
		})
	}
}

// lines formats charges, one on each line, without empty fields.
func lines(t *testing.T, charges []bill.Charge) string {
	t.Helper()
	var out strings.Builder
	for i := range charges {
		b, err := json.Marshal(charges[i])
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(b, &fields); err != nil {
			t.Fatal(err)
		}
		for name, value := range fields {
			if value == "" || value == "0" || value == nil || value == "0001-01-01T00:00:00Z" {
				delete(fields, name)
			}
		}
		b, _ = json.Marshal(fields)
		out.Write(append(b, '\n'))
	}
	return out.String()
}

func compareGolden(t *testing.T, got string) {
	t.Helper()
	_, name, _ := strings.Cut(t.Name(), "/")
	path := filepath.Join("testdata", "golden", strings.ReplaceAll(name, "'", "")+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant (%s, -update writes it)\n%s", got, path, want)
	}
}
