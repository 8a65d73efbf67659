package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
)

// tollgate is a proxy in front of moto that counts the calls by operation.
type tollgate struct {
	*httptest.Server
	mu    sync.Mutex
	calls map[string]int
}

func newTollgate(t testing.TB, to string) *tollgate {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	g := &tollgate{calls: map[string]int{}}
	proxy := httputil.NewSingleHostReverseProxy(u)
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		op := operationOf(r)
		proxy.ServeHTTP(w, r)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.calls[op]++
	}))
	t.Cleanup(g.Close)
	return g
}

// take returns the number of calls since the last take, by operation.
func (g *tollgate) take() map[string]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := g.calls
	g.calls = map[string]int{}
	return out
}

// fleetSizes returns the fleet sizes of the test: 200 instances, or the sizes in LAMPLIGHTER_FLEET for measurements:
// "1000,10000".
func fleetSizes(t *testing.T) (sizes []int) {
	t.Helper()
	names := os.Getenv("LAMPLIGHTER_FLEET")
	if names == "" {
		return []int{200}
	}
	for name := range strings.SplitSeq(names, ",") {
		n, err := strconv.Atoi(name)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, n)
	}
	return sizes
}

// TestAFleetOnMotoIsDiscoveredAndStoppedInFewCalls discovers instances in one region and stops them all, verified and
// recorded. It counts calls and descriptions, because moto answers one call at a time and takes some milliseconds for
// each instance that it describes.
func TestAFleetOnMotoIsDiscoveredAndStoppedInFewCalls(t *testing.T) {
	for _, size := range fleetSizes(t) {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			g := newTollgate(t, newMoto(t).url)
			m, e := moto{t, g.URL}, testenv.Start(t, testenv.Setup{Sync: true})
			// moto loads each service at its first call, which takes seconds
			m.connectFleet(e, e.NewOwner("glinda@example.com"), "eu-west-1")
			m.launch(size)
			c := e.NewOwner("dorothy@example.com")
			g.take()
			before := measureProcesses()
			began := time.Now()
			m.connectFleet(e, c, "us-east-1")
			discovered, listing := time.Since(began), g.take()
			bulk := m.stopAll(e, c)
			took, acting := time.Since(began), g.take()
			t.Logf("%d instances: discovered in %.1f s, stopped, verified and recorded after %.1f s; listing %v, "+
				"acting %v; %s",
				size, discovered.Seconds(), took.Seconds(), listing, acting, before.since())
			if bulk.Completed != size || bulk.Failed != 0 {
				t.Fatalf("%+v", bulk)
			}
			if n := len(m.instancesIn("stopped")); n < min(size, 1000) {
				t.Errorf("moto says that %d are stopped", n)
			}
			thousands := (size + 999) / 1000
			for op, most := range map[string]int{
				"DescribeInstances": 1 + thousands, "DescribeVolumes": 2 * thousands,
				"StopInstances": 2 * thousands, "DescribeInstanceStatus": 11 * thousands,
				"DescribeSnapshots": 2 * thousands,
			} {
				if n := listing[op] + acting[op]; n > most {
					t.Errorf("%d calls of %s for %d instances; want at most %d", n, op, size, most)
				}
			}
			m.compareCustodian(g, size)
		})
	}
}

// launch starts instances, a thousand in each zone after the other. The subnet of a zone has 4,000 addresses, and
// moto takes longer to find a free one the fewer are left.
func (m moto) launch(size int) {
	m.t.Helper()
	for n := 0; n < size; n += 1000 {
		m.call("ec2", "us-east-1",
			fmt.Sprintf("Action=RunInstances&MinCount=%[1]d&MaxCount=%[1]d&ImageId=ami-12c6146b&"+
				"InstanceType=t3.micro&Placement.AvailabilityZone=us-east-1%[2]c",
				min(size-n, 1000), 'a'+n/1000%6))
	}
}

// connectFleet connects moto's account with one region and waits for its discovery, however long that takes.
func (m moto) connectFleet(e *testenv.Env, c *testenv.Client, region string) {
	m.t.Helper()
	var account struct{ ID, JobID string }
	c.Call(http.MethodPost, "/cloud-accounts", m.account(region), &account)
	m.awaitLong(e)
	c.WaitDiscovered(account.ID, account.JobID)
}

// awaitLong waits up to ten minutes for all work to end. moto takes minutes for some of it.
func (m moto) awaitLong(e *testenv.Env) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), 10*time.Minute)
	defer cancel()
	if err := e.AwaitIdle(ctx); err != nil {
		m.t.Fatal(err)
	}
	e.WaitSettled()
}

// bulkOutcome is a bulk action that has ended.
type bulkOutcome struct {
	ID                       string `json:"bulkActionID"`
	Status                   string `json:"status"`
	Total, Completed, Failed int
}

// stopAll stops every instance by a dynamic group.
func (m moto) stopAll(e *testenv.Env, c *testenv.Client) (b bulkOutcome) {
	m.t.Helper()
	var made struct {
		ID string `json:"id"`
	}
	c.Call(http.MethodPost, "/resource-groups",
		map[string]any{"name": "Fleet", "selector": map[string]string{"type": "aws-ec2"}}, &made)
	c.Call(http.MethodPost, "/actions/bulk", map[string]string{"type": "stop", "groupID": made.ID}, &b)
	m.awaitLong(e)
	c.Call(http.MethodGet, "/actions/bulk/"+b.ID, nil, &b)
	return b
}

// operationOf returns the Action of a form, or the target of a JSON call. The body is left to be read again.
func operationOf(r *http.Request) string {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		return target[strings.LastIndex(target, ".")+1:]
	}
	return formAction(r)
}

func formAction(r *http.Request) string {
	body, _ := io.ReadAll(r.Body) // a body that breaks off is moto's to refuse
	r.Body = io.NopCloser(bytes.NewReader(body))
	form, _ := url.ParseQuery(string(body))
	if a := form.Get("Action"); a != "" {
		return a
	}
	return r.Method + " " + r.URL.Path
}
