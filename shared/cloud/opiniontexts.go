package cloud

import (
	"encoding/json"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// These constants limit texts of opinions, in characters. The longest native id in use is Azure's, with some 500.
const (
	maxOpinionText = 300
	maxOpinionName = 100
	maxOpinionID   = 600
)

// mostOpined limits the amount of a saving, in units of its currency. A larger one is no amount of a month's bill.
var mostOpined = money.FromInt(1_000_000_000_000)

// clean shortens texts, removes control characters from them, and drops an amount or a time that cannot be right.
func (o *Opinion) clean() {
	o.ID, o.ResourceUID = fault.CleanText(o.ID, maxOpinionID), fault.CleanText(o.ResourceUID, maxOpinionID)
	for _, text := range []*string{&o.Current, &o.Recommended} {
		*text = strings.TrimSpace(fault.CleanText(*text, maxOpinionText))
	}
	for _, text := range []*string{&o.Type, &o.Region, &o.Native, &o.Target, &o.Origin} {
		*text = strings.TrimSpace(fault.CleanText(*text, maxOpinionName))
	}
	if year := o.RefreshedAt.Year(); year < 2000 || year > 2200 {
		o.RefreshedAt = time.Time{}
	}
	o.Currency = strings.ToUpper(o.Currency)
	if o.Saving != nil && (o.Saving.Abs().Cmp(mostOpined) > 0 || !isCurrency(o.Currency)) {
		o.Saving = nil
	}
	if o.Saving == nil {
		o.Currency = ""
	}
}

// isCurrency reports whether a text is a currency code of ISO 4217 by its form.
func isCurrency(s string) bool {
	return len(s) == 3 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// OpinedAmount returns the amount of a JSON value that is a number or a text with a number, exactly; nil for any other.
func OpinedAmount(raw json.RawMessage) *money.Amount {
	text := strings.Trim(strings.TrimSpace(string(raw)), `"`)
	if text == "" || len(text) > 60 {
		return nil
	}
	a, err := money.Parse(text)
	if err != nil {
		return nil
	}
	return &a
}
