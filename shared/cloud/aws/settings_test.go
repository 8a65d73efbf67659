package aws_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// settingCase is a change of values of a resource that the twin holds: its answers by operation, and the values before
// and after.
type settingCase struct {
	kind          string
	verb          cloud.ChangeVerb
	resource      string // what follows the account in its ARN, with the service: "dynamodb:table/orders"
	held          map[string]string
	want          cloud.Values
	before, after string
}

func (c settingCase) change() cloud.Change {
	service, rest, _ := strings.Cut(c.resource, ":")
	account := awstwin.Account
	if service == "apigateway" {
		account = ""
	}
	return cloud.Change{
		Verb: c.verb, Kind: c.kind, Region: changedRegion, Token: "rem_1-0", Want: c.want,
		UID: "arn:aws:" + service + ":" + changedRegion + ":" + account + ":" + rest,
	}
}

// open returns a twin that holds the resource, and a changer for it.
func (c settingCase) open(t *testing.T) (*awstwin.Cloud, cloud.Changer) {
	t.Helper()
	tw, conn := connect(t)
	for op, answer := range c.held {
		tw.Hold(op, strings.ReplaceAll(answer, "ARN!", c.change().UID))
	}
	return tw, conn.(cloud.Changer)
}

// Each kind of the tables is planned, changed and given back: after it, AWS answers exactly as before. Each write is
// made once, and no plan writes.
func TestSettings_AreSetOnceAndGivenBackExactly(t *testing.T) {
	for _, c := range settingCases() {
		t.Run(fmt.Sprint(c.kind, " ", c.verb, " ", c.want), func(t *testing.T) {
			tw, changer := c.open(t)
			held, change := tw.Held(), c.change()
			p, err := changer.PlanChange(t.Context(), change)
			if err != nil {
				t.Fatal(err)
			}
			if got := tw.Held(); !maps.Equal(got, held) {
				t.Errorf("the plan has changed %v", got)
			}
			if b, a := fmt.Sprint(p.Before), fmt.Sprint(p.After); b != "map["+c.before+"]" || a != "map["+c.after+"]" {
				t.Errorf("before %s, after %s", b, a)
			}
			tw.ForgetCalls()
			call := cloud.ChangeCall{Change: change, Set: p.After}
			for range 2 { // the second makes no call
				if err = changer.ApplyChange(t.Context(), call); err != nil {
					t.Fatal(err)
				}
			}
			reached(t, changer, call)
			undo(t, changer, change, p)
			if got := tw.Held(); !maps.Equal(got, held) {
				t.Errorf("after the undo %v,\nbefore %v", got, held)
			}
			of, _ := cloud.ChangeOf(c.kind, c.verb)
			if writes := writesIn(tw, of); len(writes) != 2 {
				t.Errorf("the writes are %v", writes)
			}
		})
	}
}

// writesIn returns the calls that are no reads.
func writesIn(tw *awstwin.Cloud, of cloud.KindChange) []string {
	var out []string
	for _, call := range tw.Calls("") {
		name := permission(call.Op)
		_, op, _ := strings.Cut(name, ":")
		isRead := slices.ContainsFunc([]string{"Describe", "Get", "GET", "List"}, func(w string) bool {
			return strings.HasPrefix(op, w)
		})
		if !isRead && slices.Contains(of.Needs, name) {
			out = append(out, name)
		}
	}
	return out
}

// The changes of a kind and verb make exactly the calls that the catalogue declares.
func TestSettings_TheCatalogueDeclaresExactlyTheCalls(t *testing.T) {
	made := map[string][]string{}
	for _, c := range settingCases() {
		key := c.kind + " " + string(c.verb)
		tw, changer := c.open(t)
		change := c.change()
		p, err := changer.PlanChange(t.Context(), change)
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		for _, call := range []cloud.ChangeCall{
			{Change: change, Set: p.After}, {Change: change, Set: p.Before, Native: p.Native},
		} {
			if err = changer.ApplyChange(t.Context(), call); err != nil {
				t.Fatalf("%s: %v", key, err)
			}
		}
		for _, call := range tw.Calls("") {
			if call.Op != "sts:GetCallerIdentity" {
				made[key] = append(made[key], permission(call.Op))
			}
		}
	}
	for key, calls := range made {
		kind, verb, _ := strings.Cut(key, " ")
		of, _ := cloud.ChangeOf(kind, cloud.ChangeVerb(verb))
		want := slices.DeleteFunc(slices.Clone(of.Needs), func(n string) bool { return n == passRole })
		slices.Sort(calls)
		if calls = slices.Compact(calls); !slices.Equal(calls, want) {
			t.Errorf("%s calls %v, and declares %v", key, calls, want)
		}
	}
}

// A value that AWS does not state is not changed: nothing could set it back.
func TestSettings_WhatIsNotStatedIsNotChanged(t *testing.T) {
	c := settingCases()[0]
	tw, changer := c.open(t)
	tw.Hold("dynamodb:DescribeTable", `{"Table":{"TableName":"orders","TableStatus":"ACTIVE"}}`)
	c.want = cloud.Values{"rcu": "5", "wcu": "5"}
	change := c.change()
	change.Verb = cloud.Resize
	if _, err := changer.PlanChange(t.Context(), change); cloud.ClassOf(err) != cloud.Unsupported {
		t.Error(err)
	}
}

// A resource that is being changed waits.
func TestSettings_AResourceBetweenTwoStatesWaits(t *testing.T) {
	c := settingCases()[0]
	tw, changer := c.open(t)
	tw.Hold("dynamodb:DescribeTable", strings.Replace(c.held["dynamodb:DescribeTable"], "ACTIVE", "UPDATING", 1))
	if _, err := changer.PlanChange(t.Context(), c.change()); cloud.ClassOf(err) != cloud.Moving {
		t.Error(err)
	}
}

// Another resource of the same name, and none, are not found.
func TestSettings_AMissingResourceIsNotFound(t *testing.T) {
	c := settingCases()[0]
	_, changer := c.open(t)
	change := c.change()
	change.UID += "-old"
	if _, err := changer.PlanChange(t.Context(), change); cloud.ClassOf(err) != cloud.NotFound {
		t.Error(err)
	}
}
