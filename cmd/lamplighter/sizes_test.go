package main

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/cloud/simulated"
)

// largeCloud returns the account of BenchmarkLargeAccount. LAMPLIGHTER_SIZES=100000,13 sets the number of resources and
// of months with bills; 0 months are no bills.
func largeCloud() (of testenv.Cloud, months int) {
	resources, months := 2000, 2
	// the defaults stay when it is unset
	_, _ = fmt.Sscanf(os.Getenv("LAMPLIGHTER_SIZES"), "%d,%d", &resources, &months)
	if months == 0 {
		return testenv.FastCloud(resources).WithoutBills(), 0
	}
	return testenv.FastCloud(resources).WithBills(months), months
}

// BenchmarkLargeAccount connects an account and reports when it is discovered, when its bills are in and when its costs
// are judged: the time by the clock, the processor time, and the most memory until then. MB-own is the memory of the
// process itself; MB-resident also has mapped pages of the program and of the store's file. s-page is the time of the
// first page of resources after the discovery. docs/performance.md shows the figures.
func BenchmarkLargeAccount(b *testing.B) {
	of, months := largeCloud()
	for b.Loop() {
		e := testenv.Start(b, testenv.Setup{Sync: true})
		c := e.NewOwner("bench@example.com")
		began, used, m := time.Now(), cpu(b), watchMemory(b)
		report := func(what string) {
			b.ReportMetric(time.Since(began).Seconds(), "s-"+what)
			b.ReportMetric((cpu(b) - used).Seconds(), "cpu-s-"+what)
			b.ReportMetric(m.read("RssAnon"), "MB-own-"+what)
			b.ReportMetric(m.read("VmRSS"), "MB-resident-"+what)
		}
		awaitDiscovery(b, c, connectLarge(c, of))
		report("discovered")
		at := time.Now()
		c.Call(http.MethodGet, "/resources?limit=20", nil, nil)
		b.ReportMetric(time.Since(at).Seconds(), "s-page")
		if err := e.AwaitIdle(b.Context()); err != nil {
			b.Fatal(err)
		}
		report("billed")
		if months > 0 {
			if err := e.JudgeCosts(b.Context()); err != nil {
				b.Fatal(err)
			}
			report("judged")
		}
		e.Stop()
	}
}

// connectLarge connects an account and returns the path of its first discovery.
func connectLarge(c *testenv.Client, of testenv.Cloud) string {
	var made struct {
		ID    string `json:"id"`
		JobID string `json:"jobID"`
	}
	c.Call(http.MethodPost, "/cloud-accounts", map[string]any{
		"provider": simulated.Name, "authMethod": simulated.AuthMethod, "cloudAccountID": "111122223333",
		"name": "Large", "permissionLevel": "read_write", "credentials": of,
	}, &made)
	return "/cloud-accounts/" + made.ID + "/discover/" + made.JobID
}

// awaitDiscovery asks each second, because an organization has 100 requests a minute.
func awaitDiscovery(b *testing.B, c *testenv.Client, path string) {
	b.Helper()
	for {
		var job struct {
			Status string `json:"status"`
			Error  string `json:"error"`
		}
		c.Call(http.MethodGet, path, nil, &job)
		switch job.Status {
		case "succeeded":
			return
		case "failed", "partial":
			b.Fatalf("the discovery %s: %s", job.Status, job.Error)
		}
		time.Sleep(time.Second)
	}
}

// memoryWatch samples the memory of this process until the benchmark ends.
type memoryWatch struct{ ask chan chan map[string]float64 }

func watchMemory(b *testing.B) memoryWatch {
	b.Helper()
	m := memoryWatch{make(chan chan map[string]float64)}
	go func() {
		most := map[string]float64{}
		for {
			for name, mb := range readMemory(b, os.Getpid()) {
				most[name] = max(most[name], mb)
			}
			select {
			case <-b.Context().Done():
				return
			case to := <-m.ask:
				to <- map[string]float64{"RssAnon": most["RssAnon"], "VmRSS": most["VmRSS"]}
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return m
}

// read returns the most memory so far in MB, by the name of the system.
func (m memoryWatch) read(name string) float64 {
	to := make(chan map[string]float64)
	m.ask <- to
	return (<-to)[name]
}
