package azure

import (
	"encoding/json"
	"path"
	"regexp"
	"time"

	"lamplighter.dev/shared/cloud"
)

// manifest holds the fields that are read of the manifest of an export's run. Manifests before 2024 do not name their
// run.
type manifest struct {
	Export struct {
		Name string `json:"exportName"`
		Type string `json:"type"`
	} `json:"exportConfig"`
	Run struct {
		ID    string `json:"runId"`
		Start string `json:"startDate"`
		End   string `json:"endDate"` // inclusive
	} `json:"runInfo"`
	Rows  *int64 `json:"dataRowCount"`
	Blobs []struct {
		Name string `json:"blobName"`
		Rows *int64 `json:"dataRowCount"`
	} `json:"blobs"`
}

// forms are the types of exports that are bills.
var forms = map[string]cloud.BillForm{
	"FocusCost": cloud.FOCUSForm, "ActualCost": cloud.AzureActualForm,
	"AmortizedCost": cloud.AzureAmortizedForm,
}

// daysInPath are the days that the folder of a run names, the last one included.
var daysInPath = regexp.MustCompile(`/(\d{8})-(\d{8})/`)

// run is a run of an export, by its manifest.
type run struct {
	manifest
	at         blob // its manifest
	form       cloud.BillForm
	id, export string
	first      time.Time // the first month
	last       time.Time // the last one
}

// newRun parses a manifest. Missing fields are taken from the export and from the name of its folder.
func newRun(text []byte, at blob, e billExport) (run, error) {
	r := run{at: at, form: e.form, export: e.name}
	if err := json.Unmarshal(text, &r.manifest); err != nil {
		return r, cloud.ErrInvalid("it is not a manifest: %v", err)
	}
	if r.Export.Type != "" {
		r.form = forms[r.Export.Type]
	}
	if r.Export.Name != "" {
		r.export = r.Export.Name
	}
	if r.id = r.Run.ID; r.id == "" {
		r.id = path.Dir(at.name)
	}
	start, end := r.Run.Start, r.Run.End
	if days := daysInPath.FindStringSubmatch(at.name); start == "" && days != nil {
		start, end = days[1], days[2]
	}
	var err error
	if r.first, err = parseDay(start); err != nil {
		return r, cloud.ErrInvalid("it does not say which days it is of: %v", err)
	}
	if r.last, err = parseDay(end); err != nil {
		r.last = r.first
	}
	return r, nil
}

// parseDay returns the first of the month of a day.
func parseDay(text string) (time.Time, error) {
	var at time.Time
	var err error
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateOnly, "20060102"} {
		if at, err = time.Parse(layout, text); err == nil {
			return monthOf(at), nil
		}
	}
	return at, err
}

func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// isBill reports whether the run contains billed costs. A run without a form counts if it was named by the user; its
// columns then determine the form.
func (r run) isBill(named bool) bool { return r.form != "" || r.Export.Type == "" && named }

// rowCount returns the number of rows of the run; -1 if the manifest does not name it.
func (r run) rowCount() int64 {
	if r.Rows == nil {
		return -1
	}
	return *r.Rows
}
