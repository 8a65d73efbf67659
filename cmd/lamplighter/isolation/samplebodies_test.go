package isolation

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/platform"
)

// TestSampleBodies_AreOfEveryOperationThatTakesOne also checks that each sample has an operation and that no sample
// is empty.
func TestSampleBodies_AreOfEveryOperationThatTakesOne(t *testing.T) {
	samples := functions.SampleBodies()
	ops := probe.Operations(t, functions.Describe(&platform.Platform{}).YAML())
	delete(samples, "reportEventPlanStatus") // of a worker alone, which operations leaves out
	for _, op := range ops {
		if op.RequestBody == nil {
			continue
		}
		s, ok := samples[op.OperationID]
		if !ok || s.Body == nil && s.Unsendable == "" {
			t.Errorf("%s takes a body and has no sample: add it to functions/samplebodies.json", op.OperationID)
		}
		delete(samples, op.OperationID)
	}
	for id := range samples {
		t.Errorf("functions/samplebodies.json has %s, which is no operation with a body", id)
	}
}

// sampled sends sample bodies as a reader of the interface description would.
type sampled struct {
	*sweep
	values probe.Values
}

// lastSamples end the session or the organization that other samples need.
var lastSamples = []string{"logOut", "deleteOrganisation"}

// TestSampleBodies_AreAccepted sends the sample body of each operation with the caller's own ids in it, and expects
// 2xx.
func TestSampleBodies_AreAccepted(t *testing.T) {
	t.Parallel()
	s := probe.Start(t)
	const email = "reader@example.com"
	me := s.NewCaller(t, s.NewOwner(email))
	v := sampled{&sweep{t: t, mine: me, theirs: me}, me.Settle(t, "reader-1")}
	v.addValues(email)
	v.ops = probe.Operations(v.t, functions.Describe(s.Platform).YAML())
	slices.SortStableFunc(v.ops, func(a, b probe.Operation) int {
		return cmp.Compare(slices.Index(lastSamples, a.OperationID), slices.Index(lastSamples, b.OperationID))
	})
	samples, sent := functions.SampleBodies(), 0
	for _, op := range v.ops {
		if sample := samples[op.OperationID]; op.RequestBody != nil && sample.Unsendable == "" {
			v.send(op, sample.Body)
			sent++
		}
	}
	if sent < 70 {
		t.Errorf("%d samples were sent, want at least 70", sent)
	}
}

// addValues adds the values that only samples need.
func (v sampled) addValues(email string) {
	v.t.Helper()
	var found []struct{ UID, Type, Region, CloudAccountID, ID string }
	v.mine.Call(http.MethodGet, "/resources?type=aws-ec2&status=running&schedulable=true&limit=20", nil, &found)
	var groups []struct{ UID string }
	v.mine.Call(http.MethodGet, "/resources?type=aws-asg&status=running&limit=20", nil, &groups)
	var org struct{ Name string }
	v.mine.Call(http.MethodGet, "/organisation", nil, &org)
	var in struct{ RefreshToken string }
	v.mine.Call(http.MethodPost, "/auth/login", map[string]string{"email": email, "password": testenv.Password}, &in)
	if len(found) < 3 || len(groups) < 3 {
		v.t.Fatalf("%d instances and %d Auto Scaling groups run in the simulated cloud, want 3 of each", len(found),
			len(groups))
	}
	free := found[len(found)-1]
	maps.Copy(v.values, probe.Values{
		"ownEmail": email, "password": testenv.Password, "organisationName": org.Name, "refreshToken": in.RefreshToken,
		"resourceType": free.Type, "region": free.Region, "cloudAccountID": free.CloudAccountID,
		"resourceUID":     free.UID,
		"freeResourceUID": found[len(found)-2].UID, "freeTarget": groups[len(groups)-1].UID, "clusterName": "main",
	})
}

var samplePlaceholder = regexp.MustCompile(`"<([^">]+)>"`)

// send sends a sample to its operation.
func (v sampled) send(op probe.Operation, sample json.RawMessage) {
	v.t.Helper()
	body := samplePlaceholder.ReplaceAllStringFunc(string(sample), func(s string) string {
		return strconv.Quote(v.fill(op, s[2:len(s)-2]))
	})
	path := op.Path
	for _, p := range op.Parameters {
		if p.Value.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", url.PathEscape(v.values.Value(op, p.Value.Name)))
		}
	}
	v.mine.Service.Clock.Advance(2 * time.Second) // some operations limit requests per minute
	answer := v.mine.Ask(v.t, op.Method, path, body)
	if answer.Code/100 != 2 {
		v.t.Errorf("%s: %s %s %s\nis answered %d %s", op.OperationID, op.Method, path, body, answer.Code, answer.Body)
	}
	v.mine.Service.WaitSettled()
}

// fill returns the value for a samplePlaceholder: a time such as "in 2 hours", or an id by its name.
func (v sampled) fill(op probe.Operation, name string) string {
	v.t.Helper()
	var n int
	if words := strings.Fields(name); len(words) == 3 && words[0] == "in" {
		n, _ = strconv.Atoi(words[1])
		unit := map[string]time.Duration{"hour": time.Hour, "day": 24 * time.Hour}[strings.TrimSuffix(words[2], "s")]
		return v.mine.Service.Clock.Now().Add(time.Duration(n) * unit).UTC().Format(time.RFC3339)
	}
	value := v.values.Value(op, name)
	if value == "" {
		v.t.Errorf("%s: nothing is known to put in the place of <%s>", op.OperationID, name)
	}
	return value
}
