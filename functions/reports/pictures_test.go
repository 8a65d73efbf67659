package reports

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/chart"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

// TestReports_AreDrawn uses a painter that records its charts. functions/painter tests the drawing.
func TestReports_AreDrawn(t *testing.T) {
	a := newFixture(t)
	var asked chart.Chart
	a.Workers = lambdacall.Local{chart.Worker: func(_ context.Context, in json.RawMessage) (any, error) {
		asked = chart.Chart{}
		return chart.Drawing{SVG: "<svg/>"}, json.Unmarshal(in, &asked)
	}}
	a.Mount(Operations)
	total := func() money.Amount { return money.Sum(asked.Series[0].Amounts...) }
	for path, labels := range map[string]int{
		"/reports/trends.svg?period=2026-02": 28, "/reports/costs/breakdown.svg?dims=resource_uid,region": 7,
		"/reports/costs/breakdown.svg?dims=resource_uid&limit=3": 4,
	} {
		got := a.get(path).Want(http.StatusOK, "<svg/>")
		a.Equal("content type", got.Header.Get("Content-Type"), "image/svg+xml")
		a.Equal("labels of "+path, len(asked.Labels), labels)
		a.Equal("amounts of "+path, total().Fixed(2), march)
	}
	for accept, picture := range map[string]bool{
		"image/svg+xml": true, "image/avif,image/webp,image/svg+xml,image/*,*/*;q=0.8": true,
		"application/json, image/svg+xml": false, "*/*": false, "": false,
	} {
		for _, path := range []string{"/reports/trends", "/reports/costs/breakdown"} {
			r := httptest.NewRequestWithContext(a.Context(), http.MethodGet, path, nil)
			r.Header.Set("Accept", accept)
			got := a.Serve(apitest.Caller(ours, "ada", "viewer"), r).Want(http.StatusOK)
			if drawn := got.Body == "<svg/>"; drawn != picture || !drawn && !strings.HasPrefix(got.Body, `{"data":`) {
				t.Errorf("%s of %s: %.80s", accept, path, got.Body)
			}
		}
	}
	a.as("viewer team:"+a.web, "/reports/trends.svg").Want(http.StatusOK)
	// ten days: 9 February is one of the last 30 days
	a.Equal("what a scoped caller sees", total().Fixed(2), "30.10")
	a.as("resources:read", "/reports/trends.svg").Want(http.StatusForbidden)
	a.get("/reports/trends.svg?from=2026-01-01&to=2026-04-01&granularity=month").Want(http.StatusOK)
	a.Equal("months", strings.Join(asked.Labels, " "), "2026-01 2026-02 2026-03")
	if open := asked.Series[1]; !open.Open || asked.Series[0].Amounts[2] != (money.Amount{}) ||
		open.Amounts[2].IsZero() || !open.Amounts[1].IsZero() || !strings.Contains(open.Name, "not over") {
		t.Errorf("a month that is not over is drawn as others: %+v", asked.Series)
	}
	a.Equal("subtitle", asked.Subtitle, "$663.80 billed, 2026-01-01 until before 2026-04-01")
	a.onCrooked()
	a.get("/reports/trends.svg").Want(http.StatusInternalServerError)
}
