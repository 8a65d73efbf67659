// Package painter is the worker that draws charts as SVG, on white and with labelled axes, so that they are readable
// in a mail.
package painter

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-analyze/charts"

	"lamplighter.dev/shared/api/chart"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// The size of a picture in pixels.
const (
	width     = 900
	height    = 420
	barHeight = 28 // of each bar of a picture of bars
	barFrame  = 130
)

// Handler draws the chart in its input.
func Handler(_ context.Context, input json.RawMessage) (any, error) {
	var c chart.Chart
	if err := json.Unmarshal(input, &c); err != nil {
		return nil, fault.NewWithCause(fault.Internal, err, "the painter was sent no chart")
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	svg, err := draw(&c)
	return chart.Drawing{SVG: svg}, fault.Wrap("draw a chart", err)
}

func draw(c *chart.Chart) (string, error) {
	h := height
	if c.Kind == chart.Bars {
		h = max(200, barFrame+barHeight*len(c.Labels))
	}
	p := charts.NewPainter(charts.PainterOptions{
		OutputFormat: charts.ChartOutputSVG, Width: width, Height: h,
		Theme: charts.GetTheme(charts.ThemeLight),
	})
	var err error
	if c.Kind == chart.Bars { // the library begins at the bottom
		slices.Reverse(c.Labels)
		for i := range c.Series {
			slices.Reverse(c.Series[i].Amounts)
		}
	}
	switch c.Kind {
	case chart.Lines:
		err = p.LineChart(lines(c))
	case chart.Stacks, chart.Bars:
		err = p.BarChart(bars(c))
	default:
		err = fault.New(fault.Internal, "the painter knows no chart %q", c.Kind)
	}
	if err != nil {
		return "", err
	}
	if isEmpty(c) {
		p.Text("Nothing to show", width/2-60, h/2, 0,
			charts.FontStyle{FontSize: 12, FontColor: charts.ColorRGB(90, 90, 90)})
	}
	b, err := p.Bytes()
	sized := fmt.Sprintf(`<svg width="%d" height="%d" `, width, h) // mail programs do not take a size from a viewBox
	return strings.Replace(string(b), "<svg ", sized, 1), err
}

// theme returns the colour of each series. An open series, whose costs may still change, is lighter than the one
// before it.
func theme(c *chart.Chart) charts.ColorPalette {
	t := charts.GetTheme(charts.ThemeLight)
	colors := make([]charts.Color, len(c.Series))
	for i := range c.Series {
		if colors[i] = t.GetSeriesColor(i); c.Series[i].Open {
			of := t.GetSeriesColor(max(i-1, 0))
			colors[i] = charts.ColorRGB(lighter(of.R), lighter(of.G), lighter(of.B))
		}
	}
	if len(colors) == 0 {
		return t
	}
	return t.WithSeriesColors(colors)
}

// lighter returns a component of a colour, moved most of the way to white. It avoids transparency, because some mail
// programs do not draw it.
func lighter(part uint8) uint8 { return 255 - uint8(int(255-part)*2/5) }

// isEmpty reports whether all amounts are 0.
func isEmpty(c *chart.Chart) bool {
	for _, s := range c.Series {
		for _, a := range s.Amounts {
			if !a.IsZero() {
				return false
			}
		}
	}
	return true
}

// longestBar is the most characters of a bar's label. A longer label would leave no room for the bars.
const longestBar = 40

// clip shortens a long label in the middle, because the ends of a native ID are the most distinctive.
func clip(label string) string {
	r := []rune(label)
	if len(r) <= longestBar {
		return label
	}
	return string(r[:longestBar/2-1]) + "…" + string(r[len(r)-longestBar/2:])
}

func lines(c *chart.Chart) charts.LineChartOption {
	o := charts.NewLineChartOptionWithData(values(c))
	o.Theme = theme(c)
	o.Title, o.Legend = title(c), legend(c)
	o.XAxis.LabelFontStyle = charts.FontStyle{FontSize: 9}
	o.XAxis.Labels, o.XAxis.BoundaryGap = texts(c.Labels), new(false)
	o.ValueFormatter, o.Symbol.Shape = dollars, charts.SymbolNone
	o.Padding, o.YAxis = margin, axis(c)
	if len(c.Series) == 1 {
		o.FillArea, o.FillOpacity = new(true), 40
	}
	return o
}

// crowded is the most columns that each have a label.
const crowded = 13

func bars(c *chart.Chart) charts.BarChartOption {
	o := charts.NewBarChartOptionWithData(values(c))
	o.Theme = theme(c)
	o.Title, o.Legend = title(c), legend(c)
	o.CategoryAxis.LabelFontStyle = charts.FontStyle{FontSize: 9}
	o.CategoryAxis.Labels, o.ValueFormatter, o.Padding = texts(c.Labels), dollars, margin
	o.ValueAxis = axis(c)
	o.StackSeries = new(len(c.Series) > 1)
	if n := len(c.Labels); n > crowded && c.Kind == chart.Stacks {
		o.CategoryAxis.LabelCount = 6
	} else if n < 6 && c.Kind == chart.Stacks {
		o.BarSize = 0.12 * float64(n) // a single column would be as wide as the picture
	}
	if o.Horizontal = c.Kind == chart.Bars; o.Horizontal {
		o.ValueAxis[0].LabelCount = 5 // the last two of more would stand in each other
		for i, label := range o.CategoryAxis.Labels {
			o.CategoryAxis.Labels[i] = clip(label)
		}
		for i := range o.SeriesList {
			o.SeriesList[i].Label.Show = new(len(c.Series) == 1)
			o.SeriesList[i].Label.ValueFormatter = dollars
		}
	}
	return o
}

// axis starts at 0 if no amount is negative. Otherwise a small change would look large.
func axis(c *chart.Chart) []charts.ValueAxisOption {
	o := charts.ValueAxisOption{LabelFontStyle: charts.FontStyle{FontSize: 9}} // each label begins with the dollar
	lowest := 0.0
	for _, row := range values(c) {
		for _, f := range row {
			lowest = min(lowest, f)
		}
	}
	if lowest == 0 {
		o.Min = new(0.0)
	}
	return []charts.ValueAxisOption{o}
}

var margin = charts.NewBox(16, 16, 24, 16)

// title returns the title and the subtitle in one line at the left. The library would centre one above the other.
func title(c *chart.Chart) charts.TitleOption {
	return charts.TitleOption{Text: text(c.Title + ": " + c.Subtitle), FontStyle: charts.FontStyle{FontSize: 12}}
}

// legend names the series if there are several.
func legend(c *chart.Chart) charts.LegendOption {
	o := charts.LegendOption{
		Show:   new(len(c.Series) > 1),
		Offset: charts.OffsetStr{Left: charts.PositionLeft, Top: "28"}, FontStyle: charts.FontStyle{FontSize: 9},
	}
	for _, s := range c.Series {
		o.SeriesNames = append(o.SeriesNames, text(s.Name))
	}
	return o
}

// text removes invalid characters from a client's text; the library escapes it.
func text(s string) string { return strings.ToValidUTF8(chart.Shorten(s), "") }

func texts(all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = text(s)
	}
	return out
}

// values returns the amounts as floats for the library. Their precision suffices for drawing.
func values(c *chart.Chart) [][]float64 {
	out := make([][]float64, len(c.Series))
	for i, s := range c.Series {
		out[i] = make([]float64, len(s.Amounts))
		for n, a := range s.Amounts {
			out[i][n] = float(a)
		}
	}
	return out
}

func float(a money.Amount) float64 {
	f, err := strconv.ParseFloat(a.String(), 64)
	if err != nil { // a decimal always is a float
		panic(err)
	}
	return f
}

// dollars formats an amount at an axis with enough decimals to differ from its neighbours.
func dollars(f float64) string {
	sign := ""
	if f < 0 {
		sign, f = "-", -f
	}
	places := 0
	if f < 100 && f != float64(int64(f)) {
		places = 2
	}
	return sign + chart.Dollars(strconv.FormatFloat(f, 'f', places, 64))
}
