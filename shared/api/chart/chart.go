// Package chart says what a picture of figures shows, and has the worker draw it: the library that draws weighs more than a function may
// that answers requests.
package chart

import (
	"context"
	"strings"

	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Worker is the function that draws.
const Worker = "painter"

// Type is the content type of a picture.
const Type = "image/svg+xml"

// Kind is how figures are shown.
type Kind string

// The kinds.
const (
	Lines  Kind = "lines"  // a line for each series over the labels, as of days
	Stacks Kind = "stacks" // a column for each label, of all series one upon another
	Bars   Kind = "bars"   // a bar for each label, from the top down
)

// The bounds of a chart.
const (
	MaxLabels = 800
	MaxSeries = 12
	maxText   = 120 // characters
)

// Chart is what a picture shows: amounts in USD.
type Chart struct {
	Kind     Kind     `json:"kind"`
	Title    string   `json:"title"`
	Subtitle string   `json:"subtitle"`
	Labels   []string `json:"labels"`
	Series   []Series `json:"series"` // each has an amount for each label
}

// Series is a row of amounts.
type Series struct {
	Name    string         `json:"name"`
	Amounts []money.Amount `json:"amounts"`
	Open    bool           `json:"open,omitempty"` // they may still change: drawn lighter
}

// Dollars writes an amount as a picture shows it, with separators of thousands: "1234.50" is "$1,234.50".
func Dollars(amount string) string {
	sign := ""
	if strings.HasPrefix(amount, "-") {
		sign, amount = "-", amount[1:]
	}
	whole, fraction, places := strings.Cut(amount, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if places {
		whole += "." + fraction
	}
	return sign + "$" + whole
}

// Drawing is what the worker answers.
type Drawing struct {
	SVG string `json:"svg"`
}

// Check refuses a chart that is too large to be read, or does not fit together: fault.Invalid.
func (c *Chart) Check() error {
	if len(c.Labels) > MaxLabels || len(c.Series) > MaxSeries {
		return fault.New(fault.Invalid,
			"a picture of %d points in %d series cannot be read; ask for %d points and %d series at most, as by a "+
				"larger granularity",
			len(c.Labels), len(c.Series), MaxLabels, MaxSeries)
	}
	for _, s := range c.Series {
		if len(s.Amounts) != len(c.Labels) {
			return fault.New(fault.Internal, "the series %q has %d amounts for %d labels", s.Name, len(s.Amounts),
				len(c.Labels))
		}
	}
	return nil
}

// Shorten returns text as it fits into a picture.
func Shorten(text string) string {
	if r := []rune(text); len(r) > maxText {
		return string(r[:maxText-1]) + "…"
	}
	return text
}

// Draw has the worker draw a chart.
func Draw(ctx context.Context, workers lambdacall.Invoker, c *Chart) ([]byte, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	var out Drawing
	if err := workers.Invoke(ctx, Worker, c, &out); err != nil {
		return nil, fault.Wrap("draw "+c.Title, err)
	}
	return []byte(out.SVG), nil
}
