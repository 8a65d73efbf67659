package simulated

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

// others lists everything that is collected of an account in its regions.
func others(t *testing.T, settings map[string]string) []cloud.Resource {
	t.Helper()
	p := New(tabletest.New(t), clock.NewManual(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)))
	c := apitest.Value(p.Connect(t.Context(), account(settings)))(t)
	var out []cloud.Resource
	for _, region := range apitest.Value(c.Regions(t.Context()))(t) {
		for page := ""; ; {
			got, err := c.List(t.Context(), cloud.CollectiveOf(Name).Type, region, page)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, got.Resources...)
			if page = got.Next; page == "" {
				break
			}
		}
	}
	return out
}

func TestOthers_AnAccountHasThemWhenItsKindsNameThem(t *testing.T) {
	if got := others(t, map[string]string{"size": "1000"}); len(got) != 0 {
		t.Errorf("%d by default; want none", len(got))
	}
	providers, facts, unused := map[string]int{}, 0, 0
	uids := map[string]bool{}
	for _, r := range others(t, map[string]string{"size": "6000", "kinds": "*", "pageSize": "37"}) {
		provider, _, _ := strings.Cut(r.Type, "-")
		providers[provider]++
		if uids[r.UID] {
			t.Fatalf("%s is listed twice", r.UID)
		}
		if uids[r.UID] = true; len(r.Facts) > 0 {
			facts++
		}
		if r.Facts.TellSince() {
			unused++
		}
		if k, ok := cloud.KindOf(r.Type); !ok || !k.Actionable && r.Status != cloud.Running {
			t.Errorf("%+v: want a type of the catalogue, and one that cannot be stopped to run", r)
		}
	}
	for _, p := range []string{"aws", "azure", "gcp", "kubernetes"} {
		if providers[p] < 100 {
			t.Errorf("%d resources of %s", providers[p], p)
		}
	}
	if facts < 1000 || unused < facts/20 {
		t.Errorf("%d with facts, %d of them of no use; want enough of both", facts, unused)
	}
}

func TestOthers_AreTheSameAgain(t *testing.T) {
	settings := map[string]string{"size": "500", "kinds": "aws-ebs,azure-*"}
	a, b := others(t, settings), others(t, settings)
	if fmt.Sprint(a) != fmt.Sprint(b) || len(a) != 500 {
		t.Errorf("%d and %d resources; want the same 500", len(a), len(b))
	}
	settings["seed"] = "2"
	if fmt.Sprint(a) == fmt.Sprint(others(t, settings)) {
		t.Error("another seed makes the same cloud")
	}
}

func TestOthers_WhatCannotBeStoppedSaysSo(t *testing.T) {
	p := New(tabletest.New(t), clock.System{})
	c := apitest.Value(p.Connect(t.Context(),
		account(map[string]string{"kinds": "aws-ebs", "regions": "eu-west-1"})))(t)
	list := apitest.Value(c.List(t.Context(), "aws-ebs", "eu-west-1", ""))(t)
	got := c.Act(t.Context(), cloud.Stop, "aws-ebs", "eu-west-1", []cloud.Target{{UID: list.Resources[0].UID}})
	if cloud.ClassOf(got[0].Err) != cloud.Unsupported {
		t.Errorf("stop of a volume: %v", got[0].Err)
	}
}

// As at AWS, the owner of a function says with a tag that it may be stopped.
func TestOthers_FunctionsAreStoppedByOptInAlone(t *testing.T) {
	allowed, refused := 0, 0
	for _, r := range others(t, map[string]string{"size": "3000", "kinds": "*", "regions": "1"}) {
		if r.Type != cloud.AWSLambda {
			continue
		}
		in, why := r.Tags["lamplighter:allow-stop"] == "true", r.Unschedulable
		if in != (why == "") || !in && !strings.Contains(why, "lamplighter:allow-stop") {
			t.Errorf("%s with %v: %q", r.UID, r.Tags, why)
		}
		if in {
			allowed++
		} else {
			refused++
		}
	}
	if allowed == 0 || refused == 0 {
		t.Errorf("%d may be stopped, %d may not; want some of both", allowed, refused)
	}
}
