package aws_test

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// allowed returns f with the owner's tag that permits a stop.
func allowed(f awstwin.Function) awstwin.Function {
	f.Name, f.Region = "jobs", region
	f.Tags = map[string]string{"lamplighter:allow-stop": "true", "team": "data"}
	return f
}

// concurrency describes a function's concurrency: "reserved 5, provisioned map[live:3], tags map[…]".
func concurrency(f *awstwin.Function) string {
	reserved := "none"
	if f.Reserved != nil {
		reserved = strconv.Itoa(*f.Reserved)
	}
	provisioned := maps.Clone(f.Provisioned)
	if provisioned == nil {
		provisioned = map[string]int{}
	}
	return fmt.Sprintf("reserved %s, provisioned %v, tags %v", reserved, provisioned, f.Tags)
}

func TestLambda_AStartGivesBackExactlyWhatWasReservedOrThatNothingWas(t *testing.T) {
	for name, f := range map[string]awstwin.Function{
		"a reservation":           {Reserved: new(7)},
		"the absence of one":      {},
		"a reservation of 1":      {Reserved: new(1)},
		"provisioned concurrency": {Provisioned: map[string]int{"live": 2}},
		"provisioned of aliases, within": {
			Reserved:    new(9),
			Provisioned: map[string]int{"live": 5, "canary": 1, "12": 3},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tw, c := connect(t)
			fn := tw.AddFunction(allowed(f))
			before := concurrency(fn)
			remembered := state(t, c, cloud.AWSLambda, fn.ARN()).Snapshot
			if err := act(t, c, cloud.Stop, cloud.AWSLambda, cloud.Target{UID: fn.ARN()}); err != nil {
				t.Fatal(err)
			}
			if s := state(t, c, cloud.AWSLambda, fn.ARN()); s.Status != cloud.Stopped || *fn.Reserved != 0 ||
				len(fn.Provisioned) != 0 {
				t.Errorf("stopped: %+v, %s", s, concurrency(fn))
			}
			// our snapshot, and the mark on the function
			for _, target := range []cloud.Target{{UID: fn.ARN(), Snapshot: remembered}, {UID: fn.ARN()}} {
				_ = act(t, c, cloud.Stop, cloud.AWSLambda, cloud.Target{UID: fn.ARN()})
				if err := act(t, c, cloud.Start, cloud.AWSLambda, target); err != nil {
					t.Fatal(err)
				}
				if len(fn.Provisioned) > 0 && state(t, c, cloud.AWSLambda, fn.ARN()).Status != cloud.Starting {
					t.Errorf("while environments are made: %+v", state(t, c, cloud.AWSLambda, fn.ARN()))
				}
				tw.SettleAll()
				if s := state(t, c, cloud.AWSLambda, fn.ARN()); s.Status != cloud.Running || concurrency(fn) != before {
					t.Errorf("started: %s, %s; want %s", s.Status, concurrency(fn), before)
				}
			}
		})
	}
}

// A stop or start that is interrupted after any of its calls neither counts as done nor loses anything: it is done
// again.
func TestLambda_WhatEndsHalfwayIsDoneAgain(t *testing.T) {
	for calls := range 5 {
		for _, verb := range []cloud.Verb{cloud.Stop, cloud.Start} {
			t.Run(fmt.Sprintf("%s after %d changes", verb, calls), func(t *testing.T) {
				tw, c := connect(t)
				fn := tw.AddFunction(allowed(awstwin.Function{
					Reserved:    new(6),
					Provisioned: map[string]int{"live": 2, "next": 1},
				}))
				before := concurrency(fn)
				if verb == cloud.Start {
					if err := act(t, c, cloud.Stop, cloud.AWSLambda, cloud.Target{UID: fn.ARN()}); err != nil {
						t.Fatal(err)
					}
				}
				cut := open(t, tw, keys(awstwin.AccessKey))
				left := calls
				tw.Refuse = func(op string) bool {
					if strings.HasPrefix(op, "lambda:Get") || strings.HasPrefix(op, "lambda:List") {
						return false
					}
					left--
					return left < 0
				}
				err := act(t, cut, verb, cloud.AWSLambda, cloud.Target{UID: fn.ARN()})
				tw.Refuse = nil
				tw.SettleAll()
				s := state(t, c, cloud.AWSLambda, fn.ARN())
				if _, failed := errors.AsType[*cloud.Error](err); failed && calls > 0 &&
					s.Status == verb.WantedStatus() && concurrency(fn) != before {
					t.Errorf("half done it is taken for %s: %s", s.Status, concurrency(fn))
				}
				if s.Snapshot != nil &&
					!strings.Contains(string(s.Snapshot), `{"reserved":6,"provisioned":{"live":2,"next":1}}`) {
					t.Errorf("half done it would be remembered as %s", s.Snapshot)
				}
				for _, v := range []cloud.Verb{verb, cloud.Start} {
					if err := act(t, c, v, cloud.AWSLambda, cloud.Target{UID: fn.ARN()}); err != nil {
						t.Errorf("%s, done again: %v", v, err)
					}
				}
				if tw.SettleAll(); concurrency(fn) != before {
					t.Errorf("it came back with %s; want %s", concurrency(fn), before)
				}
			})
		}
	}
}

func TestLambda_OnlyWhatItsOwnerAllowsIsStopped(t *testing.T) {
	for name, tags := range map[string]map[string]string{
		"no tags": nil, "another tag": {"team": "data"}, "not true": {"lamplighter:allow-stop": "false"},
		"yes is not true": {"lamplighter:allow-stop": "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			tw, c := connect(t)
			fn := tw.AddFunction(awstwin.Function{Name: "checkout", Region: region, Tags: tags})
			wantClass(t, "stop", act(t, c, cloud.Stop, cloud.AWSLambda, cloud.Target{UID: fn.ARN()}), cloud.Unsupported)
			page, err := c.List(t.Context(), cloud.AWSOthers, region, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page.Resources {
				if r.UID == fn.ARN() && !strings.Contains(r.Unschedulable, "lamplighter:allow-stop is true") {
					t.Errorf("listed as %+v", r)
				}
			}
			for _, k := range tw.Calls("") {
				if strings.Contains(k.Op, "Put") || strings.Contains(k.Op, "Delete") ||
					strings.Contains(k.Op, "TagResource") {
					t.Errorf("%s was called", k.Op)
				}
			}
		})
	}
}

func TestLambda_AMarkThatSomebodyChangedIsNotGuessedAt(t *testing.T) {
	tw, c := connect(t)
	f := allowed(awstwin.Function{Reserved: new(0)})
	f.Tags["lamplighter:stopped"] = "reserved=many"
	fn := tw.AddFunction(f)
	wantClass(t, "start", act(t, c, cloud.Start, cloud.AWSLambda, cloud.Target{UID: fn.ARN()}), cloud.Invalid)
	if *fn.Reserved != 0 {
		t.Errorf("%d are reserved", *fn.Reserved)
	}
}

// A function that its owner throttled to 0 starts without a reservation: no earlier value is known.
func TestLambda_WhatOthersStoppedStartsUnreserved(t *testing.T) {
	tw, c := connect(t)
	fn := tw.AddFunction(allowed(awstwin.Function{Reserved: new(0)}))
	if err := act(t, c, cloud.Start, cloud.AWSLambda, cloud.Target{UID: fn.ARN()}); err != nil || fn.Reserved != nil {
		t.Errorf("%v: %s", err, concurrency(fn))
	}
}
