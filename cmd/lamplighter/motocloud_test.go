package main

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/testkit/tabletest"
)

// motoNumber is the account id that moto uses for callers that do not assume a role.
const motoNumber = "123456789012"

// moto is an AWS cloud that moto_server emulates. The test calls it with the form-encoded requests that AWS takes,
// not through the SDK: only shared/cloud/aws links the SDK, and an independent reader checks the service's answers.
type moto struct {
	t   *testing.T
	url string
}

// versions are the API versions of the services.
var versions = map[string]string{
	"ec2": "2016-11-15", "rds": "2014-10-31", "autoscaling": "2011-01-01", "sts": "2011-06-15",
}

// newMoto starts moto and calls the services that the connection of an account calls. moto loads each service at its
// first call, which takes longer on a busy machine than a connection waits for a cloud.
func newMoto(t *testing.T) moto {
	t.Helper()
	m := moto{t, tabletest.StartMoto(t)}
	m.call("sts", "us-east-1", "Action=GetCallerIdentity")
	m.call("ec2", "us-east-1", "Action=DescribeRegions")
	return m
}

// call makes a call of a service in a region and returns the body of the answer. moto checks no signature; it reads
// service and region from the credential.
func (m moto) call(service, region, form string) string {
	m.t.Helper()
	body := strings.NewReader(form + "&Version=" + versions[service])
	r, err := http.NewRequestWithContext(m.t.Context(), http.MethodPost, m.url+"/", body)
	if err != nil {
		m.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=testing/20260101/"+region+"/"+service+"/aws4_request")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		m.t.Fatalf("moto: %s: %s %v\n%s", form, res.Status, err, b)
	}
	return string(b)
}

// under returns the texts of an answer's elements whose path ends with the given one, such as "instanceState/name".
func under(t *testing.T, answer, path string) []string {
	t.Helper()
	var at, found []string
	for d := xml.NewDecoder(strings.NewReader(answer)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			at = append(at, x.Name.Local)
		case xml.EndElement:
			at = at[:len(at)-1]
		case xml.CharData:
			if strings.HasSuffix("/"+strings.Join(at, "/"), "/"+path) {
				found = append(found, string(x))
			}
		}
	}
}

// furnish starts moto with an instance, a database and an Auto Scaling group of two in us-east-1, and a database in
// eu-west-1. The owner of the group has suspended two of its processes.
func furnish(t *testing.T) moto {
	t.Helper()
	m := newMoto(t)
	const image = "ImageId=ami-12c6146b&InstanceType=t3.micro" // one of those that moto has from the start
	m.call("ec2", "us-east-1", "Action=RunInstances&MinCount=1&MaxCount=1&"+image)
	for region, name := range map[string]string{"us-east-1": "orders", "eu-west-1": "reports"} {
		m.call("rds", region, "Action=CreateDBInstance&DBInstanceClass=db.t3.micro&Engine=postgres&AllocatedStorage=20"+
			"&MasterUsername=root&MasterUserPassword=password-1&DBInstanceIdentifier="+name)
	}
	m.call("autoscaling", "us-east-1", "Action=CreateLaunchConfiguration&LaunchConfigurationName=web&"+image)
	m.call("autoscaling", "us-east-1",
		"Action=CreateAutoScalingGroup&AutoScalingGroupName=web&LaunchConfigurationName=web"+
			"&AvailabilityZones.member.1=us-east-1a&MinSize=1&MaxSize=4&DesiredCapacity=2")
	m.call("autoscaling", "us-east-1", "Action=SuspendProcesses&AutoScalingGroupName=web"+
		"&ScalingProcesses.member.1=AZRebalance&ScalingProcesses.member.2=AlarmNotification")
	return m
}

// words returns moto's own words for the state of a resource.
func (m moto) words(r testenv.Resource) string {
	m.t.Helper()
	switch r.Type {
	case "aws-ec2":
		out := m.call("ec2", r.Region, "Action=DescribeInstances&InstanceId.1="+r.UID)
		return strings.Join(under(m.t, out, "instanceState/name"), " ")
	case "aws-rds":
		return strings.Join(under(m.t, m.call("rds", r.Region, "Action=DescribeDBInstances"),
			"DBInstance/DBInstanceStatus"), " ")
	default:
		out := m.call("autoscaling", r.Region, "Action=DescribeAutoScalingGroups")
		said := slices.Concat(under(m.t, out, "member/MinSize"), under(m.t, out, "member/MaxSize"),
			under(m.t, out, "member/DesiredCapacity"))
		suspended := under(m.t, out, "SuspendedProcesses/member/ProcessName")
		slices.Sort(suspended)
		return strings.Join(append(said, suspended...), " ")
	}
}

// lit and unlit are moto's words for running and for stopped resources, by type. A stop of the group suspends the
// processes that would raise it.
var (
	lit = map[string]string{
		"aws-ec2": "running", "aws-rds": "available",
		"aws-asg": "1 4 2 AZRebalance AlarmNotification",
	}
	unlit = map[string]string{
		"aws-ec2": "stopped", "aws-rds": "stopped",
		"aws-asg": "0 0 0 AZRebalance AlarmNotification ScheduledActions",
	}
)

// holds compares the service's status of resources, and moto's words for them, with the expected ones.
func (m moto) holds(c *testenv.Client, status string, words map[string]string, rs []testenv.Resource) {
	m.t.Helper()
	for _, r := range rs {
		var now testenv.Resource
		if c.Call(http.MethodGet, "/resources/"+r.ID, nil, &now); now.Status != status {
			m.t.Errorf("%s %s is %s, want %s", r.Type, r.UID, now.Status, status)
		}
		if got := m.words(r); got != words[r.Type] {
			m.t.Errorf("moto says of %s: %q, want %q", r.UID, got, words[r.Type])
		}
	}
}
