package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

// The namespaces of the property: one is stopped, changed and started, the other one is changed alone.
const (
	acted     = "acted"
	untouched = "untouched"
)

// land is a cluster of the property test: a twin, or a real one.
type land struct {
	*testing.T
	conn  cloud.Conn
	uid   string
	acted string                                 // the namespace acted, as the cluster has it
	make  func(resource, ns, name string, n int) // n replicas, or suspended if n is 0
	// as somebody else; false when there is no such object
	patch  func(resource, ns, name string, spec map[string]any) bool
	remove func(resource, ns, name string)
	get    func(resource, ns, name string) fields
	settle func()
}

// thing is an object of both namespaces.
type thing struct{ resource, name string }

func (th thing) kind() string {
	return map[string]string{
		"deployments": deployment, "statefulsets": statefulSet,
		"cronjobs": cronJobKind,
	}[th.resource]
}

// property is a land with the snapshots that the executor would remember.
type property struct {
	land
	r        *rand.Rand
	things   []thing
	whole    bool // the namespace is stopped and started as one
	memories map[string]json.RawMessage
	done     []string
}

func newProperty(l land, r *rand.Rand) *property {
	p := &property{land: l, r: r, whole: r.IntN(2) == 0, memories: map[string]json.RawMessage{}}
	for range 3 + r.IntN(6) {
		p.add()
	}
	return p
}

// add adds a thing to both namespaces.
func (p *property) add() {
	th := thing{[]string{"deployments", "statefulsets", "cronjobs"}[p.r.IntN(3)], fmt.Sprint("x", len(p.things))}
	n := p.r.IntN(3)
	for _, ns := range []string{acted, untouched} {
		p.make(th.resource, ns, th.name, n)
	}
	p.things = append(p.things, th)
	p.note("%s %s of %d is made", th.resource, th.name, n)
}

func (p *property) note(format string, args ...any) {
	p.done = append(p.done, fmt.Sprintf(format, args...))
}

// uids returns the uids of the test's objects, by kind.
func (p *property) uids() map[string][]string {
	if p.whole {
		return map[string][]string{namespace: {p.uid + "/" + p.acted}}
	}
	out := map[string][]string{}
	for _, th := range p.things {
		out[th.kind()] = append(out[th.kind()], strings.Join([]string{p.uid, p.acted, th.resource, th.name}, "/"))
	}
	return out
}

// do brings everything to where the verb wants it, and remembers as the executor does: a stop stores the size, or
// that it has found the thing off where nothing is remembered; a start gives it back, and nothing of it is
// remembered any more.
func (p *property) do(v cloud.Verb) {
	p.note("%s (whole: %v)", v, p.whole)
	for kind, uids := range p.uids() {
		for range 2 { // changes that controllers have not observed yet
			p.settle()
		}
		states, err := p.conn.Read(p.Context(), kind, "cluster", uids)
		if err != nil {
			p.Fatal(err)
		}
		for _, s := range states {
			p.doOne(v, kind, s)
		}
	}
}

func (p *property) doOne(v cloud.Verb, kind string, s cloud.State) {
	if v == cloud.Stop && s.Unschedulable != "" {
		return
	}
	_, known := p.memories[s.UID]
	switch {
	case v == cloud.Stop && s.Snapshot != nil:
		p.memories[s.UID] = s.Snapshot
	case v == cloud.Stop && !known && !s.Marked:
		p.memories[s.UID] = cloud.WasOff
		return
	}
	for range 200 {
		got := p.conn.Act(p.Context(), v, kind, "cluster", []cloud.Target{{UID: s.UID, Snapshot: p.memories[s.UID]}})[0]
		if got.Err == nil || cloud.ClassOf(got.Err) != cloud.Moving {
			if got.Err != nil && (v == cloud.Stop || known) {
				p.Errorf("%s %s: %v", v, s.UID, got.Err)
			}
			break
		}
		p.settle()
	}
	if v == cloud.Start {
		delete(p.memories, s.UID)
	}
}

// change changes a thing in both namespaces, as somebody else does. Setting 0 where it is 0 is none that a cluster
// could tell.
func (p *property) change() {
	th := p.things[p.r.IntN(len(p.things))]
	n := 1 + p.r.IntN(3)
	steps := [][]map[string]any{
		{p.size(th, n)},
		{p.size(th, n+1), p.size(th, 0)},
		{{"minReadySeconds": n}},
	}[p.r.IntN(3)]
	if th.resource == "cronjobs" && steps[0]["minReadySeconds"] != nil {
		steps = []map[string]any{{"schedule": fmt.Sprintf("%d 3 * * *", n)}}
	}
	if p.r.IntN(12) == 0 {
		p.note("%s %s is removed", th.resource, th.name)
		p.remove(th.resource, acted, th.name)
		p.remove(th.resource, untouched, th.name)
		return
	}
	p.note("%s %s becomes %v", th.resource, th.name, steps)
	for _, spec := range steps {
		for _, ns := range []string{acted, untouched} {
			p.patch(th.resource, ns, th.name, spec)
		}
		p.settle()
	}
}

func (p *property) size(th thing, n int) map[string]any {
	if th.resource == "cronjobs" {
		return map[string]any{"suspend": n == 0}
	}
	return map[string]any{"replicas": n}
}

// check demands that both namespaces are the same, and that no mark of a stop is left.
func (p *property) check() bool {
	for range 3 {
		p.settle()
	}
	for _, th := range p.things {
		a, b := p.get(th.resource, acted, th.name), p.get(th.resource, untouched, th.name)
		for _, field := range []string{"replicas", "suspend", "minReadySeconds", "schedule"} {
			if x, y := at(a, "spec")[field], at(b, "spec")[field]; fmt.Sprint(x) != fmt.Sprint(y) {
				p.Errorf("%s %s has %s %v; want %v, as by the changes alone", th.resource, th.name, field, x, y)
			}
		}
		for name := range at(a, "metadata", "annotations") {
			if strings.HasPrefix(name, "lamplighter.dev/") {
				p.Errorf("%s %s carries %s after the start", th.resource, th.name, name)
			}
		}
	}
	if p.Failed() {
		p.Logf("what was done:\n%s", strings.Join(p.done, "\n"))
	}
	return !p.Failed()
}

// run stops, changes and starts some times.
func (p *property) run() bool {
	for range 1 + p.r.IntN(3) {
		p.do(cloud.Stop)
		if p.r.IntN(4) == 0 {
			p.do(cloud.Stop)
		}
		for range p.r.IntN(5) {
			p.change()
		}
		if p.r.IntN(3) == 0 {
			p.add()
		}
		p.do(cloud.Start)
		if !p.check() {
			return false
		}
		for range p.r.IntN(3) {
			p.change()
		}
	}
	return true
}

// A stop, changes by somebody else, and a start give the same result as the changes alone.
func TestStopChangeStart_ComeToTheChangeAlone(t *testing.T) {
	race.SkipRepetition(t)
	r := seed.Random(t)
	for range 150 {
		if !newProperty(twinLand(t), r).run() {
			return
		}
	}
}

func twinLand(t *testing.T) land {
	t.Helper()
	f := newFixture(t)
	for _, ns := range []string{acted, untouched} {
		f.Add("namespaces", fields{"metadata": fields{"name": ns}})
	}
	return land{
		T: t, conn: f.conn, uid: kubernetestwin.UID, acted: acted, settle: func() { f.Settle(); f.Settle() },
		make: func(resource, ns, name string, n int) {
			o := kubernetestwin.Named(ns, name, n)
			if resource == "cronjobs" {
				o = cronJob(ns, name, n == 0)
			}
			f.Add(resource, o)
		},
		patch: func(resource, ns, name string, spec map[string]any) bool {
			if f.Get(resource, ns+"/"+name) == nil {
				return false
			}
			f.Change(resource, ns+"/"+name, func(o fields) { maps.Copy(at(o, "spec"), spec) })
			return true
		},
		remove: func(resource, ns, name string) { f.Remove(resource, ns+"/"+name) },
		get:    func(resource, ns, name string) fields { return f.Get(resource, ns+"/"+name) },
	}
}
