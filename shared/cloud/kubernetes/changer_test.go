package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// stage is a cluster in which objects are changed: the twin or a real one.
type stage interface {
	changer() cloud.Changer
	uidOf(p planted) string
	add(p planted)
	// spec returns what undo must give back: the definition of an object without its status and its versions.
	spec(p planted) fields
	settle()
}

// twinStage is the twin as a stage.
type twinStage struct{ *fixture }

func (s twinStage) changer() cloud.Changer { return s.conn.(cloud.Changer) }

func (s twinStage) uidOf(p planted) string { return uidOf(kubernetestwin.UID, p) }

func uidOf(cluster string, p planted) string {
	if p.resource == "namespaces" {
		return cluster + "/" + p.name()
	}
	return strings.Join([]string{cluster, p.ns(), p.resource, p.name()}, "/")
}

func (s twinStage) add(p planted) { s.Add(p.resource, copied(p.object)) }

func (s twinStage) at(p planted) string {
	if p.ns() == "" {
		return p.name()
	}
	return p.ns() + "/" + p.name()
}

func (s twinStage) spec(p planted) fields { return definitionOf(s.Get(p.resource, s.at(p))) }

func (s twinStage) settle() { s.Settle() }

func copied(o fields) fields {
	var out fields
	b, _ := json.Marshal(o)
	_ = json.Unmarshal(b, &out)
	return out
}

// definitionOf returns an object without what a cluster sets, and without the label of a restored one.
func definitionOf(o fields) fields {
	out := copied(o)
	delete(out, "status")
	m, _ := out["metadata"].(fields)
	for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"} {
		delete(m, name)
	}
	labels, _ := m["labels"].(fields)
	if delete(labels, cloud.RestoredTag); len(labels) == 0 {
		delete(m, "labels")
	}
	if notes, _ := m["annotations"].(fields); notes != nil {
		for name := range notes {
			domain, _, _ := strings.Cut(name, "/")
			if slices.Contains([]string{"deployment.kubernetes.io", "pv.kubernetes.io"}, domain) ||
				strings.HasPrefix(name, "deprecated.daemonset") {
				delete(notes, name)
			}
		}
		if len(notes) == 0 {
			delete(m, "annotations")
		}
	}
	return out
}

const changeToken = "wf_1-0"

func (c changeCase) change(s stage) cloud.Change {
	region := "cluster"
	return cloud.Change{
		Verb: c.verb, Kind: c.kind, Region: region, UID: s.uidOf(c.of), Token: changeToken, Want: c.want,
		Steps: c.steps(),
	}
}

func (c changeCase) steps() []string {
	switch {
	case c.verb != cloud.Delete:
		return nil
	case c.kind == "kubernetes-persistentvolumeclaim":
		return []string{cloud.StepCopy, cloud.StepSelf}
	}
	return []string{cloud.StepSelf}
}

// plan plans a change of a case.
func (c changeCase) plan(t *testing.T, s stage) cloud.ChangePlan {
	t.Helper()
	p, err := s.changer().PlanChange(t.Context(), c.change(s))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range c.want {
		if c.after != nil {
			want = *c.after
		}
		if p.After[name] != want || p.Before[name] == want {
			t.Errorf("%s: the plan sets %q to %q, want %q", name, p.Before[name], p.After[name], want)
		}
	}
	return p
}

// apply makes the calls of a change, and waits until each has reached its values.
func apply(t *testing.T, s stage, want cloud.Change, after cloud.Values) {
	t.Helper()
	for _, step := range want.Calls(after) {
		call := cloud.ChangeCall{Change: want, Set: step.Set}
		if err := s.changer().ApplyChange(t.Context(), call); err != nil {
			t.Fatalf("%s: %v", step.Name, err)
		}
		reach(t, s, call)
	}
}

// reach waits until the values of a call are there.
func reach(t *testing.T, s stage, call cloud.ChangeCall) {
	t.Helper()
	var now cloud.Values
	for range 100 {
		reached, is, err := s.changer().CheckChange(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		if reached {
			return
		}
		now = is
		s.settle()
	}
	t.Fatalf("it has %v, want %v", now, call.Set)
}

// run plans a change, makes it, checks it, gives it back, and compares the definition with the one before.
func (c changeCase) run(t *testing.T, s stage) {
	t.Helper()
	for _, p := range append(slices.Clone(c.beside), c.of) {
		s.add(p)
	}
	s.settle()
	before := s.spec(c.of)
	p := c.plan(t, s)
	if now := s.spec(c.of); fmt.Sprint(now) != fmt.Sprint(before) {
		t.Errorf("the plan has changed it: %v", now)
	}
	want := c.change(s)
	apply(t, s, want, p.After)
	if err := s.changer().ApplyChange(t.Context(), cloud.ChangeCall{Change: want, Set: p.After}); err != nil {
		t.Errorf("the same call again: %v", err)
	}
	s.settle()
	err := s.changer().ApplyChange(t.Context(), cloud.ChangeCall{Change: want, Set: p.Before, Native: p.Native})
	if c.lost {
		if cloud.ClassOf(err) != cloud.Unsupported {
			t.Errorf("undo of what nothing gives back: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatalf("undo: %v", err)
	}
	reach(t, s, cloud.ChangeCall{Change: want, Set: p.Before})
	if now := s.spec(c.of); encoded(now) != encoded(before) {
		t.Errorf("after the undo it is\n%s\nwant\n%s", encoded(now), encoded(before))
	}
}

func encoded(o fields) string {
	b, _ := json.Marshal(o)
	return string(b)
}

func TestChanger_EachChangeIsPlannedMadeAndGivenBack(t *testing.T) {
	for name, c := range changeCases() {
		t.Run(name, func(t *testing.T) { c.run(t, newTwinStage(t)) })
	}
}

func newTwinStage(t *testing.T) twinStage {
	t.Helper()
	f := newFixture(t)
	f.Add("namespaces", fields{"metadata": fields{"name": "changes"}})
	return twinStage{f}
}

// Each call of a change is a permission of its line in the catalogue.
func TestChanger_TheCatalogueNamesAllPermissions(t *testing.T) {
	for name, c := range changeCases() {
		t.Run(name, func(t *testing.T) {
			s := newTwinStage(t)
			if _, err := s.conn.Identify(t.Context()); err != nil {
				t.Fatal(err)
			}
			of, _ := cloud.ChangeOf(c.kind, c.verb)
			s.Allow(append(slices.Clone(of.Needs), "get namespaces")...)
			c.run(t, s)
			for _, call := range s.Calls("") {
				discovers := strings.HasPrefix(call.Op, "get .") || call.Op == "get "
				if op := call.Op; !discovers && op != "get namespaces" && !slices.Contains(of.Needs, op) {
					t.Errorf("it calls %s, which is not declared", op)
				}
			}
		})
	}
}

// Each value of the catalogue has a case here, and each case a line there.
func TestChanger_TheCatalogueAndTheCasesAgree(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range changeCases() {
		for name := range c.want {
			tested[fmt.Sprint(c.kind, c.verb, name)] = true
		}
		if c.verb == cloud.Delete {
			tested[fmt.Sprint(c.kind, c.verb)] = true
		}
	}
	for _, of := range cloud.ChangesOf("kubernetes") {
		if of.Verb == cloud.Delete && !tested[fmt.Sprint(of.Type, of.Verb)] {
			t.Errorf("%s of %s is not tested", of.Verb, of.Type)
		}
		for _, name := range of.Sets {
			if !tested[fmt.Sprint(of.Type, of.Verb, name)] {
				t.Errorf("%s of %s: %s is not tested", of.Verb, of.Type, name)
			}
		}
		if of.Undo == "" || len(of.Needs) == 0 || of.Call == "" {
			t.Errorf("%+v", of)
		}
	}
}
