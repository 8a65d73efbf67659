package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// stopByCustodian is a Custodian policy that stops the running instances.
const stopByCustodian = `policies:
  - name: stop-running
    resource: aws.ec2
    filters: [{"State.Name": running}]
    actions: [stop]
`

// compareCustodian starts the fleet again and lets Cloud Custodian, the program in LAMPLIGHTER_CUSTODIAN, stop it on
// the same moto. Custodian neither verifies nor records. The test only measures it. The kernel's figure for its peak
// memory starts at the memory of this process, which forked it, so a lower peak is not visible.
func (m moto) compareCustodian(g *tollgate, size int) {
	m.t.Helper()
	bin := os.Getenv("LAMPLIGHTER_CUSTODIAN")
	if bin == "" {
		return
	}
	m.startAll()
	dir := m.t.TempDir()
	policy := filepath.Join(dir, "policy.yml")
	if err := os.WriteFile(policy, []byte(stopByCustodian), 0o600); err != nil {
		m.t.Fatal(err)
	}
	//nolint:gosec // the developer's own choice
	cmd := exec.CommandContext(m.t.Context(), bin, "run", "--output-dir", dir, "--region", "us-east-1",
		"--cache-period", "0", policy)
	cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+g.URL, "AWS_ACCESS_KEY_ID=testing",
		"AWS_SECRET_ACCESS_KEY=testing", "AWS_DEFAULT_REGION=us-east-1")
	g.take()
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("%s: %v\n%s", bin, err, out)
	}
	took, kilobytes := time.Since(began), cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	m.t.Logf("Cloud Custodian: %d instances: stopped after %.1f s; %v; processor: %.2f s; %d kB of memory at most",
		size, took.Seconds(), g.take(),
		(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), kilobytes)
	if n := len(m.instancesIn("stopped")); n < min(size, 1000) {
		m.t.Errorf("moto says that Cloud Custodian stopped %d of %d", n, size)
	}
}

// startAll starts all stopped instances.
func (m moto) startAll() {
	m.t.Helper()
	var form strings.Builder
	form.WriteString("Action=StartInstances")
	for i, id := range m.instancesIn("stopped") {
		fmt.Fprintf(&form, "&InstanceId.%d=%s", i+1, id)
	}
	m.call("ec2", "us-east-1", form.String())
}

// instancesIn returns the ids of all instances in a state. moto has no pages here.
func (m moto) instancesIn(state string) (ids []string) {
	m.t.Helper()
	answer := m.call("ec2", "us-east-1",
		"Action=DescribeInstanceStatus&IncludeAllInstances=true&Filter.1.Name=instance-state-name&Filter.1.Value.1="+
			state+"&MaxResults=1000")
	for part := range strings.SplitSeq(answer, "<instanceId>") {
		if id, _, found := strings.Cut(part, "</instanceId>"); found {
			ids = append(ids, id)
		}
	}
	return ids
}
