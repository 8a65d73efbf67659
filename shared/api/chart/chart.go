// Package chart describes a chart, and lets a worker draw it. The drawing library is too large for functions that
// answer requests.
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

// Type is the content type of a drawing.
const Type = "image/svg+xml"

// Kind is the kind of a chart.
type Kind string

// The kinds.
const (
	Lines  Kind = "lines"  // a line for each series; the labels are days, for example
	Stacks Kind = "stacks" // a column for each label, with all series stacked
	Bars   Kind = "bars"   // a bar for each label, from top to bottom
)

// The limits of a chart.
const (
	MaxLabels = 800
	MaxSeries = 12
	maxText   = 120 // characters
)

// Chart is a chart of amounts in USD.
type Chart struct {
	Kind     Kind     `json:"kind"`
	Title    string   `json:"title"`
	Subtitle string   `json:"subtitle"`
	Labels   []string `json:"labels"`
	Series   []Series `json:"series"` // each has an amount for each label
}

// Series is a series of amounts.
type Series struct {
	Name    string         `json:"name"`
	Amounts []money.Amount `json:"amounts"`
	Open    bool           `json:"open,omitempty"` // the amounts may still change: drawn lighter
}

// Dollars formats an amount with thousands separators: "1234.50" gives "$1,234.50".
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

// Drawing is the worker's answer.
type Drawing struct {
	SVG string `json:"svg"`
}

// Check returns fault.Invalid for a chart that is too large to be read, and an error for one whose series do not match
// its labels.
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

// Shorten returns text that fits into a chart.
func Shorten(text string) string {
	if r := []rune(text); len(r) > maxText {
		return string(r[:maxText-1]) + "…"
	}
	return text
}

// Draw lets the worker draw a chart.
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
