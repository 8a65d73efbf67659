package local

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A fresh demo shows recommendations without a day of waiting: its accounts have planted waste, metrics of two weeks
// and bills.
func TestDemo_ShowsRecommendationsOfMostCategories(t *testing.T) {
	s, err := Open(Options{Root: "../../..", Dir: t.TempDir(), NoSync: true, BaseURL: "http://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	srv := httptest.NewServer(s)
	defer srv.Close()
	ctx, client := t.Context(), NewClient(srv.URL)
	demo, err := s.Demo(ctx, srv.URL)
	if err == nil {
		err = s.AwaitIdle(ctx)
	}
	if err == nil {
		err = s.EvaluateRules(ctx)
	}
	if err == nil {
		_, err = client.enter(ctx, demo.Password)
	}
	var got struct {
		Net        string         `json:"net"`
		ByCategory map[string]int `json:"byCategory"`
	}
	if err == nil {
		err = client.Do(ctx, http.MethodGet, "/recommendations/summary", nil, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, category := range []string{"idle", "schedule", "rightsizing", "security", "reliability", "governance"} {
		if got.ByCategory[category] == 0 {
			t.Errorf("no recommendation of category %s among %v", category, got.ByCategory)
		}
	}
	t.Logf("%v, net %s USD a month", got.ByCategory, got.Net)
}
