package billfile

import (
	"strings"

	"lamplighter.dev/shared/domain/bill"
)

// The columns that our exports of line items add to those of FOCUS.
const (
	// USDRateColumn is the value of one unit of BillingCurrency in US dollars.
	USDRateColumn = "x_UsdRate"
	// EscapeColumn has the value EscapedByApostrophe in CSV files. In their texts an apostrophe precedes a first
	// character that a spreadsheet takes for the beginning of a formula, and a first apostrophe.
	EscapeColumn        = "x_TextEscape"
	EscapedByApostrophe = "apostrophe"
)

// unescape removes the apostrophes from the texts of a charge that were escaped as rest.PlainCells does.
func unescape(c *bill.Charge) {
	for _, s := range bill.Texts(c) {
		if rest, escaped := strings.CutPrefix(*s, "'"); escaped && rest != "" &&
			strings.ContainsRune("=+-@'\t\r\n", rune(rest[0])) {
			*s = rest
		}
	}
}
