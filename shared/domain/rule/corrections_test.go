package rule

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// row is a line of a table by the names of its columns.
type row map[string]string

// readCSV reads a table.
func readCSV(t *testing.T, path string) []row {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it is read
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []row
	for _, cells := range lines[1:] {
		r := row{}
		for i, name := range lines[0] {
			r[name] = cells[i]
		}
		out = append(out, r)
	}
	return out
}

// sharedTable reads a table of the shared data, or skips the test without it.
func sharedTable(t *testing.T, name string) []row {
	t.Helper()
	folder := os.Getenv("LAMPLIGHTER_DATA")
	if folder == "" {
		folder = "../../../../shared/data"
	}
	path := filepath.Join(folder, "rules", name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("THE RULES ARE NOT COMPARED: %v; LAMPLIGHTER_DATA names the folder of the shared data", err)
	}
	return readCSV(t, path)
}

// correction is a difference between our copy and the shared copy.
type correction struct{ rule, column, shared, ours string }

// readCorrections reads corrections.csv. Each has a reason, stands once, and changes something.
func readCorrections(t *testing.T) map[correction]string {
	t.Helper()
	out, places := map[correction]string{}, map[string]bool{}
	for _, r := range readCSV(t, "corrections.csv") {
		c := correction{r["rule"], r["column"], r["shared"], r["ours"]}
		place := c.rule + " " + c.column
		if len(r["reason"]) < 12 || places[place] || c.shared == c.ours || ByID(c.rule) == nil {
			t.Errorf("%+v, %q: a correction has a rule, a difference and a reason, and stands once", c, r["reason"])
		}
		out[c], places[place] = r["reason"], true
	}
	return out
}

// same are the columns that our copy has as the shared one, unless corrected.
var same = []string{
	"provider", "resource_type", "category", "severity", "title", "condition_cel", "effort", "risk", "remediation",
	"autonomous", "source",
}

// Our copy is the shared one with the corrections: each difference is one of them, and each of them is a difference.
func TestCorrections_AreTheDifferencesToTheSharedRules(t *testing.T) {
	found := append(ruleDifferences(t), metricDifferences(t)...)
	open := readCorrections(t)
	for _, r := range All() {
		found = append(found, correction{r.ID, "version", "1", "2"},
			correction{r.ID, "confirm", "", strings.Join(r.Confirm, " ")})
	}
	for _, c := range found {
		if _, is := open[c]; !is && c.column != "version" && c.column != "confirm" {
			t.Errorf("%+v: a difference without a line in corrections.csv", c)
		}
		delete(open, c)
	}
	for c := range open {
		t.Errorf("%+v: a correction that makes no difference", c)
	}
}

// ruleDifferences lists the differences of all rules.
func ruleDifferences(t *testing.T) (out []correction) {
	t.Helper()
	shared, verb := map[string]row{}, map[string]string{}
	for _, r := range sharedTable(t, "rules.csv") {
		shared[r["id"]] = r
	}
	for _, r := range sharedTable(t, "verbs.csv") {
		verb[r["rule"]] = strings.TrimSuffix(r["verb"], " (new kind)")
	}
	for _, ours := range readCSV(t, "rules.csv") {
		if theirs := shared[ours["id"]]; theirs != nil {
			out = append(out, differences(ours, theirs, verb[ours["id"]])...)
			delete(shared, ours["id"])
			continue
		}
		t.Errorf("%s is no shared rule", ours["id"])
	}
	for id := range shared {
		t.Errorf("%s is missing", id)
	}
	return out
}

// differences lists the differences of one rule.
func differences(ours, theirs row, verb string) (out []correction) {
	id := ours["id"]
	add := func(column, a, b string) { out = append(out, correction{id, column, a, b}) }
	for _, column := range same {
		if ours[column] != theirs[column] {
			add(column, theirs[column], ours[column])
		}
	}
	if a, b := compact(theirs["default_params"]), ours["default_params"]; a != b {
		add("default_params", a, b)
	}
	if ours["verb"] != verb {
		add("verb", verb, ours["verb"])
	}
	if !saysTheSame(theirs["savings_basis"], ours["savings"]) {
		add("savings", theirs["savings_basis"], ours["savings"])
	}
	return out
}

// compact writes a JSON object without spaces and in the order of its names.
func compact(object string) string {
	var v map[string]any
	if err := json.Unmarshal([]byte(object), &v); err != nil {
		return object
	}
	out, err := json.Marshal(v)
	if err != nil {
		return object
	}
	return string(out)
}

// saysTheSame reports whether savings in machine form are what the shared text says: a price difference is the price
// of a target, of a class of charges, or an amount that a fact has.
func saysTheSame(text, form string) bool {
	switch text {
	case "full price":
		return form == "all"
	case "hours outside schedule":
		return form == "hours"
	case "discount rate":
		return form == "rate"
	case "none":
		return form == "none"
	}
	if form == "part:requests" { // the cost of removed nodes, not the price of a request
		return false
	}
	kind, _, named := strings.Cut(form, ":")
	return strings.HasPrefix(text, "price difference to ") && named &&
		slices.Contains([]string{"to", "part", "fact"}, kind)
}

// metricDifferences lists the metrics whose measure differs from the shared one, as a difference of each rule that
// reads it.
func metricDifferences(t *testing.T) (out []correction) {
	t.Helper()
	shared := map[string]row{}
	for _, r := range sharedTable(t, "metrics.csv") {
		shared[r["resource_type"]+"."+r["name"]] = r
	}
	for _, ours := range readCSV(t, "metrics.csv") {
		name := ours["resource_type"] + "." + ours["name"]
		theirs := shared[name]
		delete(shared, name)
		if theirs == nil {
			t.Errorf("%s is no shared metric", name)
			continue
		}
		if theirs["metric"] != ours["metric"] {
			out = append(out, readersOf(ours, theirs["metric"])...)
			theirs["metric"] = ours["metric"]
		}
		if !reflect.DeepEqual(theirs, ours) {
			t.Errorf("%s is %v; the shared metric is %v", name, ours, theirs)
		}
	}
	for name := range shared {
		t.Errorf("metric %s is missing", name)
	}
	return out
}

// readersOf lists the rules that read a metric, with its difference.
func readersOf(metric row, shared string) (out []correction) {
	for _, r := range ForType(metric["resource_type"]) {
		if slices.Contains(ReferencesOf(r.Condition).Metrics, metric["name"]) {
			out = append(out, correction{r.ID, "metric:" + metric["name"], shared, metric["metric"]})
		}
	}
	return out
}

// The declared facts are the shared ones, and those that a corrected condition reads or a target sets.
func TestFacts_AreTheSharedOnesAndOurs(t *testing.T) {
	shared := map[string]row{}
	for _, r := range sharedTable(t, "facts.csv") {
		shared[r["resource_type"]+"."+r["fact"]] = r
	}
	for _, ours := range readCSV(t, "facts.csv") {
		name := ours["resource_type"] + "." + ours["fact"]
		theirs := shared[name]
		delete(shared, name)
		if (theirs != nil) != (ours["origin"] == string(OfRules)) {
			t.Errorf("%s has origin %q; the shared fact is %v", name, ours["origin"], theirs)
		} else if theirs != nil && (theirs["type"] != ours["kind"] || theirs["unit"] != ours["unit"] ||
			theirs["source_api_field"] != ours["source"]) {
			t.Errorf("%s is %v; the shared fact is %v", name, ours, theirs)
		}
	}
	for name := range shared {
		t.Errorf("fact %s is missing", name)
	}
}

// Every line of the review is answered: its rule has a correction.
func TestCorrections_AnswerEveryLineOfTheReview(t *testing.T) {
	columns := map[string]string{}
	for c := range readCorrections(t) {
		columns[c.rule] += c.column + " "
	}
	review := sharedTable(t, "review.csv")
	if len(review) != 139+4 {
		t.Errorf("the review has %d lines; want 143, of which 4 rules stand twice", len(review))
	}
	rules := map[string]bool{}
	for _, line := range review {
		rules[line["rule"]] = true
		if columns[line["rule"]] == "" {
			t.Errorf("%s: %s: no correction answers it", line["rule"], line["problem"])
		}
		if strings.HasPrefix(line["problem"], "savings_basis") && !strings.Contains(columns[line["rule"]], "savings ") {
			t.Errorf("%s: its savings are not corrected", line["rule"])
		}
		if line["fix"] == "not autonomous" && ByID(line["rule"]).Autonomous {
			t.Errorf("%s is still autonomous", line["rule"])
		}
	}
	t.Logf("%d lines about %d rules; %d rules are corrected", len(review), len(rules), len(columns))
}

// A rule is of version 2 if and only if a correction changed it, so that rows of the shared version are judged anew.
func TestCorrections_RaiseTheVersion(t *testing.T) {
	corrected := map[string]bool{}
	for c := range readCorrections(t) {
		corrected[c.rule] = true
	}
	for _, r := range All() {
		if (r.Version == 2) != corrected[r.ID] || r.Version > 2 {
			t.Errorf("%s has version %d and is corrected: %v", r.ID, r.Version, corrected[r.ID])
		}
	}
}
