package simulated

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

func TestMetrics_ShowIdleBusyAndNightlyUseFromTheSeed(t *testing.T) {
	monday := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	use := func(seed string) map[string]int {
		p := New(tabletest.New(t), clock.NewManual(monday.AddDate(0, 0, 1)))
		c := apitest.Value(p.Connect(t.Context(),
			account(map[string]string{
				"size": "300", "kinds": "aws-ec2", "regions": "eu-west-1", "stopped": "0",
				"seed": seed,
			})))(t)
		list := apitest.Value(c.List(t.Context(), "aws-ec2", "eu-west-1", ""))(t)
		var uids []string
		for _, r := range list.Resources {
			uids = append(uids, r.UID)
		}
		got := apitest.Value(c.(cloud.Metered).Metrics(t.Context(), cloud.MetricRequest{
			Type: "aws-ec2", Region: "eu-west-1", UIDs: uids,
			Measures: []cloud.Measure{{Namespace: "AWS/EC2", Metric: "CPUUtilization", Statistic: "Average"}},
			Period:   time.Hour, From: monday, To: monday.AddDate(0, 0, 1),
		}))(t)
		if got.Calls != 1 || got.Queries != 300 || len(got.Points) != 300 {
			t.Fatalf("%d calls, %d queries, %d series; want 1, 300, 300", got.Calls, got.Queries, len(got.Points))
		}
		out := map[string]int{}
		for _, p := range got.Points {
			out[fmt.Sprint("night ", p.Values[3] < 5, ", noon ", p.Values[12] < 5)]++
		}
		return out
	}
	got := use("1")
	if got["night true, noon true"] < 30 || got["night true, noon false"] < 60 ||
		got["night false, noon false"] < 100 || len(got) != 3 {
		t.Errorf("used at night and at noon: %v; want idle, nightly and busy ones", got)
	}
	if fmt.Sprint(got) != fmt.Sprint(use("1")) || fmt.Sprint(got) == fmt.Sprint(use("2")) {
		t.Error("the same seed makes other use, or another one the same")
	}
}

func TestMetrics_WhatIsOffHasNoPoints(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	p := New(tabletest.New(t), clock.NewManual(noon))
	c := apitest.Value(p.Connect(t.Context(),
		account(map[string]string{"size": "20", "kinds": "aws-rds", "regions": "eu-west-1", "stopped": "1"})))(t)
	list := apitest.Value(c.List(t.Context(), "aws-rds", "eu-west-1", ""))(t)
	got, err := c.(cloud.Metered).Metrics(t.Context(), cloud.MetricRequest{
		Type: "aws-rds", Region: "eu-west-1", UIDs: []string{list.Resources[0].UID},
		Measures: cloud.MeasuresOf("aws-rds"),
		Period:   time.Hour, From: noon.Add(-12 * time.Hour), To: noon,
	})
	if err != nil || len(got.Points) != 0 {
		t.Errorf("%+v, %v; want none", got, err)
	}
}

// Every type that is measured has idle, nightly and busy ones, in the units of its provider.
func TestMetrics_OfAllProvidersShowIdleBusyAndNightlyUse(t *testing.T) {
	monday := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	providers := map[string]int{}
	for _, k := range kinds {
		if len(cloud.MetricsOf(k.Type)) == 0 || strings.HasPrefix(k.Type, "kubernetes-") { // they have a test
			continue
		}
		providers[k.Type[:3]]++
		p := New(tabletest.New(t), clock.NewManual(monday.AddDate(0, 0, 1)))
		c := apitest.Value(p.Connect(t.Context(),
			account(map[string]string{"size": "100", "kinds": k.Type, "regions": "eu-west-1", "stopped": "0"})))(t)
		uids := []string{}
		for page := ""; ; {
			list := apitest.Value(c.List(t.Context(), k.Type, "eu-west-1", page))(t)
			for _, r := range list.Resources {
				uids = append(uids, r.UID)
			}
			if page = list.Next; page == "" {
				break
			}
		}
		r := cloud.MetricRequest{
			Type: k.Type, Region: "eu-west-1", UIDs: uids, Measures: cloud.MeasuresOf(k.Type), Period: time.Hour,
			From: monday, To: monday.AddDate(0, 0, 1),
		}
		got := apitest.Value(c.(cloud.Metered).Metrics(t.Context(), r))(t)
		patterns := map[string]bool{}
		for _, p := range got.Points {
			at := map[int]float64{}
			for i, when := range p.Times {
				at[when.Hour()] = p.Values[i]
				unit, factor := unitOf(k.Type, r.Measures[p.Measure])
				if v := p.Values[i] * factor; v < 0 || unit == "%" && v > 100 || unit == "0..1" && v > 1 {
					t.Fatalf("%s: %+v is %g %s", k.Type, r.Measures[p.Measure], v, unit)
				}
			}
			night, noon := at[3], at[12]
			patterns[strconv.FormatBool(moved(night, noon))] = true
		}
		if !patterns["true"] || !patterns["false"] {
			t.Errorf("%s: %v; want some that are used at noon and not at night, and some that are used alike", k.Type,
				patterns)
		}
	}
	if providers["aws"] < 10 || providers["azu"] < 5 || providers["gcp"] < 5 {
		t.Errorf("measured types by provider: %v", providers)
	}
}

// moved reports whether one of two values is several times the other.
func moved(a, b float64) bool { return a > 4*b || b > 4*a }
