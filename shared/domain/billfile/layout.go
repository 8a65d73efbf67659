package billfile

import (
	"maps"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

// layout is a form of bills: the columns that it needs, and the conversion of a row into charges.
type layout interface {
	// bindings returns the bound columns. The layout holds the values of the current row.
	bindings(columns []string) []binding
	// emit passes the charges of the row to to.
	emit(to *reading) error
}

// forms are the layouts by form.
var forms = map[cloud.BillForm]func() layout{
	cloud.FOCUSForm:          newFOCUSLayout,
	cloud.LegacyCURForm:      newCURLayout,
	cloud.CUR2Form:           newCURLayout,
	cloud.AzureActualForm:    func() layout { return &azureLayout{billed: true} },
	cloud.AzureAmortizedForm: func() layout { return &azureLayout{effective: true} },
	cloud.GoogleForm:         newGoogleLayout,
}

// The signs of FOCUS and of Google's export.
var (
	focusSign  = []string{"BilledCost", "ChargePeriodStart"}
	googleSign = []string{"cost", "usage_start_time", "currency"}
)

// signs are columns that only one form has. FOCUS is checked first, because some vendors' own exports have its columns
// as well.
var signs = []struct {
	create  func() layout
	columns []string
	own     string // names a provider's own form, which cannot be uploaded
}{
	{newFOCUSLayout, focusSign, ""},
	{newCURLayout, []string{"lineItem/LineItemType", "lineItem/UnblendedCost"}, awsOwn},
	{newGoogleLayout, googleSign, ""},
	{newAzureLayout, []string{"CostInBillingCurrency", "MeterCategory"}, azureOwn},
	{newAzureLayout, []string{"Cost", "MeterCategory"}, azureOwn},
	{newAzureLayout, []string{"PreTaxCost", "MeterCategory"}, azureOwn},
}

const (
	awsOwn   = "a Cost and Usage Report of AWS"
	azureOwn = "an export of actual or amortized cost of Azure"
)

// newLayout returns the layout of a form, or of the columns when the form is empty, bound to the table.
func newLayout(form cloud.BillForm, t table) (layout, error) {
	columns, open := t.columns()
	if form == cloud.UploadForm {
		var err error
		if form, err = uploadedForm(columns); err != nil {
			return nil, err
		}
	}
	create, known := forms[form]
	if form == "" {
		create, known = detect(columns)
	}
	if !known {
		return nil, fault.New(
			fault.Invalid, "columns of no known bill: %s; deliver one of %s", listed(columns), formNames())
	}
	l := create()
	bindings := l.bindings(columns)
	if err := place(bindings, columns, open); err != nil {
		return nil, err
	}
	return l, t.bind(bindings)
}

// uploadedForm returns the form of an uploaded file: that of Google's export if its columns are, else FOCUS, whose
// missing columns are told. It returns an error for a file of another form.
func uploadedForm(columns []string) (cloud.BillForm, error) {
	has := plainNames(columns)
	switch {
	case has.all(focusSign[:1]), has.all(focusSign[1:]):
		return cloud.FOCUSForm, nil
	case has.all(googleSign):
		return cloud.GoogleForm, nil
	}
	for _, s := range signs {
		if s.own != "" && has.all(s.columns) {
			return "", fault.New(fault.Invalid, "it is %s; connect the account, which imports its reports, or upload "+
				"an export in the columns of FOCUS", s.own)
		}
	}
	return "", fault.New(fault.Invalid, "it has none of the columns of FOCUS, but %s; deliver an export in the "+
		"columns of FOCUS, such as BilledCost and ChargePeriodStart", listed(columns))
}

// detect returns the first layout whose sign columns all exist.
func detect(columns []string) (create func() layout, known bool) {
	has := plainNames(columns)
	for _, s := range signs {
		if has.all(s.columns) {
			return s.create, true
		}
	}
	return nil, false
}

// nameSet is the names of columns, without differences of spelling.
type nameSet map[string]bool

func plainNames(columns []string) nameSet {
	has := nameSet{}
	for _, c := range columns {
		has[plainName(c)] = true
	}
	return has
}

// all reports whether the set has all of the columns.
func (s nameSet) all(columns []string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return !s[plainName(c)] })
}

func listed(columns []string) string {
	return fault.CleanText(strings.Join(columns[:min(len(columns), 12)], ", "), 300)
}

func formNames() string {
	names := slices.Sorted(maps.Keys(forms))
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return strings.Join(out, ", ")
}
