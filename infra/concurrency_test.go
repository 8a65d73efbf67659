package main

import (
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"lamplighter.dev/infra/stacks"
)

const (
	accountQuota    = 1_000 // concurrent executions of an account and region (Lambda developer guide, "Lambda quotas")
	leastUnreserved = 100   // of them that Lambda wants left (API reference, PutFunctionConcurrency)
	groupsShare     = 400   // of them that the operation groups are to have between them
)

// shared is a function as a user of the account's concurrent executions. With reserved 0 it uses the unreserved ones.
type shared struct {
	folder   string
	reserved int
	answers  bool // requests of the API reach it
}

// sharing reads the functions of the template; reserve is the parameter ReserveConcurrency.
func sharing(t *testing.T, reserve bool) []shared {
	t.Helper()
	resources, err := stacks.ReadResources[struct {
		Properties struct {
			CodeURI  string   `yaml:"CodeUri"`
			Reserved []string `yaml:"ReservedConcurrentExecutions"` // !If [condition, number, otherwise]
		} `yaml:"Properties"`
	}]("..")
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.ReadFile("../" + stacks.Root)
	if err != nil {
		t.Fatal(err)
	}
	var out []shared
	for id, r := range resources {
		folder, ok := stacks.ParseFolder(r.Properties.CodeURI)
		if !ok {
			continue
		}
		f := shared{folder: folder, answers: strings.Contains(string(root), "${Stage}-"+folder+":live/invocations")}
		if reserve && len(r.Properties.Reserved) > 0 {
			f.reserved = number(t, id, r.Properties.Reserved)
		}
		out = append(out, f)
	}
	return out
}

// number returns the number of executions that a function reserves if the condition holds.
func number(t *testing.T, id string, written []string) int {
	t.Helper()
	var n int
	if err := yaml.Unmarshal([]byte(written[1]), &n); err != nil || len(written) != 3 ||
		written[0] != "ReservesConcurrency" || written[2] != "AWS::NoValue" {
		t.Fatalf("%s: ReservedConcurrentExecutions is %v, want !If [ReservesConcurrency, <number>, !Ref "+
			"AWS::NoValue]; %v", id, written, err)
	}
	return n
}

// pool is the account's concurrent executions, divided as Lambda divides them.
type pool struct {
	free    int            // unreserved executions
	room    map[string]int // the rest of each reservation
	without map[string]bool
}

func newPool(fs []shared) *pool {
	p := &pool{free: accountQuota, room: map[string]int{}, without: map[string]bool{}}
	for _, f := range fs {
		p.free -= f.reserved
		p.room[f.folder], p.without[f.folder] = f.reserved, f.reserved == 0
	}
	return p
}

// take begins an execution and reports whether there was room. Without room Lambda throttles.
func (p *pool) take(folder string) bool {
	if p.without[folder] {
		p.free--
		return p.free >= 0
	}
	p.room[folder]--
	return p.room[folder] >= 0
}

func TestConcurrency_LeavesEachItsShare(t *testing.T) {
	left := accountQuota
	for _, f := range sharing(t, true) {
		left -= f.reserved
		if worker := !f.answers && f.folder != "authorizer"; worker && f.reserved == 0 {
			t.Errorf("the worker %s is not capped: it can take all concurrent executions of the account", f.folder)
		}
		if f.answers && f.reserved > 0 {
			t.Errorf("%s reserves %d: operation groups share what is unreserved", f.folder, f.reserved)
		}
	}
	if left < max(leastUnreserved, groupsShare) {
		t.Errorf("of %d concurrent executions %d are unreserved, where the operation groups are to have %d and "+
			"Lambda wants %d", accountQuota, left, groupsShare, leastUnreserved)
	}
	for _, f := range sharing(t, false) {
		if f.reserved != 0 {
			t.Errorf("%s reserves %d although ReserveConcurrency is false: a new account has 10 in all", f.folder,
				f.reserved)
		}
	}
}

// A wave of work, as when each organization is discovered at once, must not delay the authorizer or the answers to
// requests.
func TestConcurrency_AWaveOfWorkLeavesRequestsAlone(t *testing.T) {
	fs := sharing(t, true)
	p := newPool(fs)
	for _, f := range fs {
		for range 5_000 {
			if !f.answers && f.folder != "authorizer" {
				p.take(f.folder)
			}
		}
	}
	for range 100 {
		if !p.take("authorizer") || !p.take("actions") || !p.take("resources") {
			t.Fatal("a request was throttled: the gateway answers 500")
		}
	}
}
