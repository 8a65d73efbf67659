package aws

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// manifest holds the fields that are read of a manifest: of Data Exports (dataFiles), or of a Cost and Usage Report
// (reportKeys).
type manifest struct {
	DataFiles  []manifestFile `json:"dataFiles"`
	ReportKeys []manifestFile `json:"reportKeys"`
	AssemblyID string         `json:"assemblyId"`
	Execution  string         `json:"executionId"`
	Columns    []struct {
		Category string `json:"category"`
		Name     string `json:"name"`
	} `json:"columns"`
	Period struct {
		Start string `json:"start"`
	} `json:"billingPeriod"`
}

// manifestFile is a file as a manifest names it: a key, the key in an object, or the address "s3://bucket/key".
type manifestFile string

// UnmarshalJSON accepts each of these forms, and refuses any other.
func (f *manifestFile) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*f = manifestFile(text)
		return nil
	}
	var object struct {
		Key string `json:"key"`
	}
	if err := json.Unmarshal(b, &object); err != nil || object.Key == "" {
		return fmt.Errorf("%.100q is neither the key of a file nor an object with one", b)
	}
	*f = manifestFile(object.Key)
	return nil
}

// key returns the file's key in the manifest's bucket. A file in another bucket is an error.
func (f manifestFile) key(bucket string) (string, error) {
	rest, isURL := strings.CutPrefix(string(f), "s3://")
	if !isURL {
		return string(f), nil
	}
	in, key, _ := strings.Cut(rest, "/")
	if in != bucket || key == "" {
		return "", fmt.Errorf("it lists the file %.300q, which is not in the bucket %s", f, bucket)
	}
	return key, nil
}

// parseManifest reads a manifest. A manifest that lists no files is an error, because no documentation says how to
// read it.
func parseManifest(b []byte) (manifest, error) {
	var m manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("it is not a manifest: %w", err)
	}
	if len(m.DataFiles)+len(m.ReportKeys) == 0 {
		return m, errors.New("it lists no files: neither dataFiles nor reportKeys")
	}
	return m, nil
}

// files returns the keys of the files, each once, in order.
func (m manifest) files(bucket string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, f := range append(m.DataFiles, m.ReportKeys...) {
		key, err := f.key(bucket)
		if err != nil {
			return nil, err
		}
		if !seen[key] {
			out = append(out, key)
		}
		seen[key] = true
	}
	return out, nil
}

// period returns the month that the manifest states; the zero time if it states none.
func (m manifest) period() time.Time {
	for _, layout := range []string{"20060102T150405.000Z", time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, m.Period.Start); err == nil {
			return monthOf(at)
		}
	}
	return time.Time{}
}

// form returns the form of the files by their columns; "" when no column decides.
func (m manifest) form() cloud.BillForm {
	for _, c := range m.Columns {
		switch {
		case c.Name == "BilledCost":
			return cloud.FOCUSForm
		case c.Name == "line_item_unblended_cost":
			return cloud.CUR2Form
		case c.Category == "lineItem" && c.Name == "UnblendedCost":
			return cloud.LegacyCURForm
		}
	}
	return ""
}

// isImmutable reports whether the delivery has a folder of its own. No later delivery writes into it.
func (m manifest) isImmutable(key string) bool {
	for _, id := range []string{m.AssemblyID, m.Execution} {
		if id != "" && strings.Contains(key, id+"/") {
			return true
		}
	}
	return false
}

func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}
