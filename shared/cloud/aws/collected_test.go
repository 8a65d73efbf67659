package aws_test

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// indexed lists all resources without a kind of their own, by uid.
func indexed(t *testing.T, c cloud.Conn) map[string]cloud.Resource {
	t.Helper()
	found := map[string]cloud.Resource{}
	for page := ""; ; {
		got, err := c.List(t.Context(), cloud.AWSOthers, region, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got.Resources {
			found[r.UID] = r
		}
		if page = got.Next; page == "" {
			return found
		}
	}
}

// The index finds collected resources but has no states. Each service is asked for the states of its resources, if it
// has any.
func TestCollected_AreListedWithTheirLiveStates(t *testing.T) {
	tw, c := connect(t)
	tw.Explore(true)
	want := map[string]cloud.Status{}
	for service, off := range map[string]string{
		"workspaces": "STOPPED", "apprunner": "PAUSED", "lightsail": "stopped",
		"synthetics": "STOPPED",
	} {
		want[tw.AddCollected(awstwin.Collected{
			Service: service, ID: "on", Region: region,
			Mode: "AUTO_STOP",
		}).ARN()] = cloud.Running
		want[tw.AddCollected(awstwin.Collected{
			Service: service, ID: "off", Region: region, Mode: "AUTO_STOP",
			State: off,
		}).ARN()] = cloud.Stopped
	}
	found := indexed(t, c)
	for uid, status := range want {
		if r := found[uid]; r.Status != status || r.Unschedulable != "" {
			t.Errorf("%s is listed as %+v; want %s", uid, r, status)
		}
	}
}

func TestCollected_WhatHasNoneOfThemAsksNone(t *testing.T) {
	tw, c := connect(t)
	tw.Explore(true)
	fill(tw)
	indexed(t, c)
	for _, k := range tw.Calls("") {
		if service, _, _ := strings.Cut(k.Op, ":"); service == "workspaces" || service == "apprunner" ||
			service == "lightsail" || service == "synthetics" {
			t.Errorf("%s was called", k.Op)
		}
	}
}

func TestCollected_WhatCannotBeReadIsKeptAndSaysSo(t *testing.T) {
	tw, c := connect(t)
	tw.Explore(true)
	uid := tw.AddCollected(awstwin.Collected{Service: "apprunner", ID: "on", Region: region}).ARN()
	tw.AddFault(awstwin.Fault{
		Op: "apprunner:DescribeService", Code: "AccessDeniedException", Message: "not authorized",
		Status: 400, Times: -1,
	})
	r, ok := indexed(t, c)[uid]
	if !ok || r.Status != cloud.Unknown ||
		!strings.Contains(r.Unschedulable, "cannot be read: apprunner:DescribeService: AccessDeniedException") {
		t.Errorf("listed as %+v", r)
	}
}

// A WorkSpace that AWS does not accept does not prevent the stop of the others.
func TestWorkSpaces_OneThatIsNotTakenIsToldAlone(t *testing.T) {
	tw, c := connect(t)
	var targets []cloud.Target
	for _, w := range []awstwin.Collected{{ID: "a"}, {ID: "b", Mode: "ALWAYS_ON"}, {ID: "c", State: "STARTING"}} {
		w.Service, w.Region = "workspaces", region
		targets = append(targets, cloud.Target{UID: tw.AddCollected(w).ARN()})
	}
	got := c.Act(t.Context(), cloud.Stop, cloud.AWSWorkSpace, region, targets)
	if got[0].Err != nil || len(tw.Calls("workspaces:StopWorkspaces")) != 1 {
		t.Errorf("the first: %v, in %d calls", got[0].Err, len(tw.Calls("workspaces:StopWorkspaces")))
	}
	wantClass(t, "one that runs always", got[1].Err, cloud.Unsupported)
	wantClass(t, "one on its way", got[2].Err, cloud.Moving)
}
