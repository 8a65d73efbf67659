package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/cloud/simulated"
)

// largeAccount returns the size of the account of the benchmarks below. LAMPLIGHTER_SIZES=500000,13 sets the number of
// resources and of months with bills; 0 months are no bills.
func largeAccount() (resources, months int) {
	resources, months = 2000, 2
	// the defaults stay when it is unset
	_, _ = fmt.Sscanf(os.Getenv("LAMPLIGHTER_SIZES"), "%d,%d", &resources, &months)
	return resources, months
}

// BenchmarkLargeAccount connects an account with bills, and tells when its first page is there, when it is discovered,
// when its bills are in, and the most memory until then. MB-own is the memory of the process itself, MB-resident also
// has the pages of the store's file that are mapped.
func BenchmarkLargeAccount(b *testing.B) {
	resources, months := largeAccount()
	of := testenv.FastCloud(resources).WithBills(max(months, 1))
	if months == 0 {
		of = of.WithoutBills()
	}
	if kinds := os.Getenv("LAMPLIGHTER_KINDS"); kinds != "" {
		of = of.WithSetting("kinds", kinds)
	}
	for b.Loop() {
		e := testenv.Start(b, testenv.Setup{Sync: true, Dir: os.Getenv("ZZ_DIR")})
		c := e.NewOwner("bench@example.com")
		before, began := cpu(b), time.Now()
		account, job := connectLarge(c, of)
		m := watchMemory(b)
		tell := func(what string) {
			b.ReportMetric(time.Since(began).Seconds(), "s-"+what)
			b.ReportMetric((cpu(b) - before).Seconds(), "cpu-s-"+what)
			b.ReportMetric(m.own(), "MB-own-"+what)
			b.ReportMetric(m.resident(), "MB-resident-"+what)
		}
		waitFor(b, func() bool { return countResources(c) > 0 })
		b.ReportMetric(time.Since(began).Seconds(), "s-first-resources")
		waitFor(b, func() bool { return jobStatus(c, account, job) == "succeeded" })
		tell("discovered")
		at := time.Now()
		c.Call(http.MethodGet, "/resources?limit=20", nil, nil)
		b.ReportMetric(time.Since(at).Seconds(), "s-page")
		b.ReportMetric(float64(countResources(c)), "resources")
		if err := e.AwaitIdle(context.Background()); err != nil {
			b.Fatal(err)
		}
		tell("billed")
		at = time.Now()
		c.Call(http.MethodGet, "/resources?limit=20", nil, nil)
		b.ReportMetric(time.Since(at).Seconds(), "s-page-2")
		if months > 0 {
			if err := e.JudgeCosts(context.Background()); err != nil {
				b.Fatal(err)
			}
			tell("judged")
		}
		e.Stop()
	}
}

// connectLarge connects an account and returns its id and that of its discovery.
func connectLarge(c *testenv.Client, of testenv.Cloud) (account, job string) {
	var made struct {
		ID    string `json:"id"`
		JobID string `json:"jobID"`
	}
	c.Call(http.MethodPost, "/cloud-accounts", map[string]any{
		"provider": simulated.Name, "authMethod": simulated.AuthMethod, "cloudAccountID": "111122223333",
		"name": "Large", "permissionLevel": "read_write", "credentials": of,
	}, &made)
	return made.ID, made.JobID
}

func jobStatus(c *testenv.Client, account, job string) string {
	var of struct {
		Status string `json:"status"`
		Error  string `json:"error"`
	}
	c.Call(http.MethodGet, "/cloud-accounts/"+account+"/discover/"+job, nil, &of)
	return of.Status + of.Error
}

func countResources(c *testenv.Client) int {
	var sum struct {
		Total int `json:"total"`
	}
	c.Call(http.MethodGet, "/resources/summary", nil, &sum)
	return sum.Total
}

// waitFor calls done each second. An organization has 100 requests a minute.
func waitFor(b *testing.B, done func() bool) {
	b.Helper()
	for !done() {
		time.Sleep(time.Second)
	}
}

// memory is the most memory of this process.
type memory struct {
	most map[string]float64
	ask  chan chan map[string]float64
}

func watchMemory(b *testing.B) *memory {
	b.Helper()
	m := &memory{map[string]float64{}, make(chan chan map[string]float64)}
	go func() {
		for {
			for name, mb := range readMemory(b, os.Getpid()) {
				if name == "RssAnon" && mb > m.most["dumped"]+60 && mb > 240 && os.Getenv("ZZ_HEAP") != "" {
					m.most["dumped"] = mb
					f, _ := os.Create(fmt.Sprintf("%s.%04.0f", os.Getenv("ZZ_HEAP"), mb))
					var ms runtime.MemStats
					runtime.ReadMemStats(&ms)
					fmt.Fprintf(os.Stderr, "HEAP anon=%.0f alloc=%d inuse=%d idle=%d released=%d sys=%d next=%d numgc=%d stack=%d\n", mb, ms.HeapAlloc>>20, ms.HeapInuse>>20, ms.HeapIdle>>20, ms.HeapReleased>>20, ms.Sys>>20, ms.NextGC>>20, ms.NumGC, ms.StackInuse>>20)
					pprof.Lookup("heap").WriteTo(f, 0)
					f.Close()
				}
				m.most[name] = max(m.most[name], mb)
			}
			select {
			case <-b.Context().Done():
				return
			case to := <-m.ask:
				to <- map[string]float64{"RssAnon": m.most["RssAnon"], "VmRSS": m.most["VmRSS"]}
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return m
}

func (m *memory) read(name string) float64 {
	to := make(chan map[string]float64)
	m.ask <- to
	return (<-to)[name]
}

func (m *memory) own() float64 { return m.read("RssAnon") }

func (m *memory) resident() float64 { return m.read("VmRSS") }

var _ = strconv.Itoa
var _ = strings.Contains
