package budgets

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"lamplighter.dev/shared/api/chart"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/testkit/apitest"
)

// TestStatus_IsDrawn uses a painter that records its charts. functions/painter tests the drawing.
func TestStatus_IsDrawn(t *testing.T) {
	f := newFixture(t)
	var asked chart.Chart
	f.Workers = lambdacall.Local{chart.Worker: func(_ context.Context, in json.RawMessage) (any, error) {
		asked = chart.Chart{}
		return chart.Drawing{SVG: "<svg/>"}, json.Unmarshal(in, &asked)
	}}
	f.Mount(Operations)
	b := f.make("All of it", budgeting.Org, "", "1500")
	path := "/budgets/" + b.ID + "/status"
	f.Equal("type", f.Call(ada, "GET "+path+".svg").Want(http.StatusOK, "<svg/>").Header.Get("Content-Type"),
		chart.Type)
	st := f.stand(b.ID)
	last := len(st.BurnDown) - 1
	f.Equal("labels", len(asked.Labels), 31)
	f.Equal("spent and expected", asked.Series[0].Amounts[last].Fixed(2), st.BurnDown[last].SpentUSD)
	f.Equal("planned at the end", asked.Series[1].Amounts[last].Fixed(2), "1500.00")
	r := httptest.NewRequestWithContext(f.Context(), http.MethodGet, path, nil)
	r.Header.Set("Accept", chart.Type)
	f.Serve(ada, r).Want(http.StatusOK, "<svg/>")
	f.Call(apitest.Caller(apitest.OtherOrg, "eve", "owner"), "GET "+path+".svg").Want(http.StatusNotFound)
}
