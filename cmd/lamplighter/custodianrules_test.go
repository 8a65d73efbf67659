package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/testkit/tabletest"
)

// custodianPolicies is the number of policies that are compared.
const custodianPolicies = 40

// Cloud Custodian's policies and the same conditions as rules find the same resources in one moto. The times and the
// calls of both are logged.
func TestRules_FindWhatCloudCustodianFinds(t *testing.T) {
	tabletest.WantPeers(t)
	custodian := os.Getenv("LAMPLIGHTER_CUSTODIAN")
	if custodian == "" {
		t.Skip("SKIPPED: LAMPLIGHTER_CUSTODIAN does not name the program of Cloud Custodian (pip install c7n)")
	}
	g := newTollgate(t, newMoto(t).url)
	m := moto{t, g.URL}
	runPython(t, m.url, "python3", filepath.Join("testdata", "custodian", "seed.py"), "40")

	g.take()
	began, out := time.Now(), t.TempDir()
	runPython(t, m.url, custodian, "run", "--region=us-east-1", "--cache=memory", "--output-dir="+out,
		filepath.Join("testdata", "custodian", "policies.yml"))
	theirs := readCustodian(t, out)
	logCalls(t, "Cloud Custodian", began, g)
	ours := findByRules(t, m, g)
	if len(theirs) != custodianPolicies {
		t.Errorf("Cloud Custodian wrote the findings of %d policies, want %d", len(theirs), custodianPolicies)
	}
	for policy, want := range theirs {
		if len(want) == 0 {
			t.Errorf("%s finds nothing: the comparison says nothing", policy)
		}
		if got := ours[policy]; !slices.Equal(got, want) {
			t.Errorf("%s: the rule finds\n%q, Cloud Custodian\n%q", policy, got, want)
		}
	}
}

// logCalls logs how long a part took, and its calls by operation.
func logCalls(t *testing.T, part string, began time.Time, g *tollgate) {
	t.Helper()
	took, calls, sum := time.Since(began), g.take(), 0
	for _, n := range calls {
		sum += n
	}
	t.Logf("%s: %.1f s, %d calls: %v", part, took.Seconds(), sum, calls)
}

// runPython runs a program that calls AWS with the SDK of Python.
func runPython(t *testing.T, endpoint, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+endpoint, "AWS_DEFAULT_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=testing", "AWS_SECRET_ACCESS_KEY=testing")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// custodianIDs are the properties of resources that name them, of which a resource has one first.
var custodianIDs = []string{
	"AutoScalingGroupName", "LoadBalancerArn", "DBSnapshotIdentifier", "DBInstanceIdentifier",
	"DBClusterIdentifier", "SnapshotId", "VolumeId", "InstanceId", "NetworkInterfaceId", "NatGatewayId",
	"AllocationId", "FunctionName", "logGroupName", "AlarmName", "repositoryName", "FileSystemId", "Name",
}

// custodianIDsOf are the properties of types whose resources have others of the list, too.
var custodianIDsOf = map[string]string{
	"eip": "AllocationId", "eni": "NetworkInterfaceId", "nat": "NatGatewayId", "ebs": "VolumeId",
}

// readCustodian returns the names of the resources that each policy found.
func readCustodian(t *testing.T, dir string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "resources.json"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, path := range files {
		var resources []map[string]any
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &resources)
		}
		if err != nil {
			t.Fatal(err)
		}
		policy := filepath.Base(filepath.Dir(path))
		found[policy] = []string{}
		for _, r := range resources {
			found[policy] = append(found[policy], nameOfCustodian(policy, r))
		}
		slices.Sort(found[policy])
	}
	return found
}

func nameOfCustodian(policy string, r map[string]any) string {
	kind, _, _ := strings.Cut(policy, "-")
	for _, property := range append([]string{custodianIDsOf[kind]}, custodianIDs...) {
		if id, is := r[property].(string); is {
			return nameInARN(id)
		}
	}
	return fmt.Sprint("no name: ", r)
}

// arnType is the beginning of an ARN, with the type of the resource. Names of buckets have no type.
var arnType = regexp.MustCompile(`^arn:aws:(s3:::|[a-z0-9-]+:[a-z0-9-]*:[0-9]*:[a-z-]+[:/]|.*autoScalingGroupName/)`)

// nameInARN returns the name of a resource, of its ARN or itself.
func nameInARN(id string) string { return arnType.ReplaceAllString(id, "") }

// findByRules connects moto, applies the rules, evaluates them, and returns the names of the found resources by the
// names of the policies.
func findByRules(t *testing.T, m moto, g *tollgate) map[string][]string {
	t.Helper()
	e := testenv.Start(t, testenv.Setup{})
	c := e.NewOwner("frances@example.com")
	t.Setenv(tokenVariable, c.Token)
	t.Setenv("LAMPLIGHTER_URL", e.URL)
	began := time.Now()
	m.connect(c, "us-east-1")
	logCalls(t, "discovery of everything", began, g)
	began = time.Now()
	out, err := rulesCommand(t, "plan", filepath.Join("testdata", "custodian", "rules.yaml"))
	plan := regexp.MustCompile(`apply (job_\w+)\n$`).FindStringSubmatch(out)
	if err != nil || plan == nil {
		t.Fatalf("%s\n%v", out, err)
	}
	if _, err = rulesCommand(t, "apply", plan[1]); err != nil {
		t.Fatal(err)
	}
	c.Call(http.MethodPost, "/recommendations/refresh", map[string]string{}, nil)
	e.WaitSettled()
	logCalls(t, "plan, version and evaluation", began, g)
	return listFound(c)
}

// listFound reads all recommendations of own rules.
func listFound(c *testenv.Client) map[string][]string {
	found := map[string][]string{}
	for page, seen := 1, 0; ; page++ {
		var answer struct {
			Items []struct{ RuleID, ResourceUid string } //nolint:revive,staticcheck // the name of the interface
			Total int
		}
		c.Call(http.MethodGet, fmt.Sprintf("/recommendations/resources?search=custom-&size=100&page=%d", page), nil,
			&answer)
		for _, r := range answer.Items {
			policy := strings.TrimPrefix(r.RuleID, "custom-")
			found[policy] = append(found[policy], nameInARN(r.ResourceUid))
		}
		if seen += len(answer.Items); seen >= answer.Total || len(answer.Items) == 0 {
			for policy := range found {
				slices.Sort(found[policy])
			}
			return found
		}
	}
}
