package aws_test

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

// motoAccount is the account that moto serves.
const motoAccount = "123456789012"

// moto starts an emulator for the test and returns its address. It needs moto_server on the PATH.
func moto(t *testing.T) string {
	t.Helper()
	if os.Getenv("LAMPLIGHTER_PEERS") != "1" {
		t.Skip("SKIPPED: set LAMPLIGHTER_PEERS=1 to hold the AWS provider against moto_server")
	}
	bin, err := exec.LookPath("moto_server")
	if err != nil {
		t.Skipf("SKIPPED: moto_server is not installed: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	cmd := exec.CommandContext(t.Context(), bin, "-H", "127.0.0.1", "-p", port)
	// The number of tasks that ECS services run in moto; the default is none.
	cmd.Env = append(os.Environ(), "MOTO_ECS_SERVICE_RUNNING=2")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	url := "http://127.0.0.1:" + port
	awaitMoto(t, url)
	return url
}

func awaitMoto(t *testing.T, url string) {
	t.Helper()
	for range 300 {
		if r, err := http.Get(url + "/moto-api/data.json"); err == nil {
			_ = r.Body.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("moto_server did not answer in 30 s")
}

func motoConfig(url string) sdk.Config {
	return sdk.Config{
		Region: region, BaseEndpoint: &url,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	}
}

func motoOptions() aws.Options {
	return aws.Options{
		Clock: clock.System{}, CustomEndpoints: true, PrivateAddresses: true,
		Limits: map[string]aws.Limit{"": {}},
	}
}

func motoKeys(url string) cloud.Account {
	a := keys("test")
	a.EndpointURL = url
	return a
}

// Redshift is left out: moto does not return the namespace of a cluster, and the ARN is derived from it.
func TestAWSOverMotoKeepsTheContractOfClouds(t *testing.T) {
	url := moto(t)
	s := seeder{t: t, ctx: t.Context(), cfg: motoConfig(url)}
	groups := append(s.clusters(), s.databases(), s.services(), s.nodegroups(), s.groups(), s.notebooks())
	groups = append([]cloudtest.Group{s.instances()}, groups...) // after the instances of the Auto Scaling groups
	cloudtest.Run(t, aws.New(motoOptions()),
		cloudtest.Fixture{Account: motoKeys(url), NativeID: motoAccount, Groups: groups})
}

func TestAutoscaling_OverMotoKeepsTheContract(t *testing.T) {
	url := moto(t)
	s := seeder{t: t, ctx: t.Context(), cfg: motoConfig(url)}
	var scaled []cloudtest.Autoscaled
	for _, g := range []cloudtest.Group{s.groups(), s.services()} { // one of the services has a scalable target
		for i, uid := range g.Free {
			scaled = append(scaled, cloudtest.Autoscaled{
				Kind: g.Kind, Region: region, UID: uid, Missing: g.Missing, Unscaled: cloud.AWSEC2,
				Fixed: g.Kind == cloud.AWSECS && i > 0,
			})
		}
	}
	cloudtest.Run(t, aws.New(motoOptions()),
		cloudtest.Fixture{Account: motoKeys(url), NativeID: motoAccount, Autoscaled: scaled})
}

// Emulators do not check external ids, but they switch accounts.
func TestMotoGivesTheAccountOfAnAssumedRole(t *testing.T) {
	url := moto(t)
	a := motoKeys(url)
	a.AuthMethod = "assume_role"
	a.Credentials = map[string]string{"roleArn": "arn:aws:iam::222233334444:role/lamplighter", "externalID": "ext_1"}
	c, err := aws.New(motoOptions()).Connect(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Identify(t.Context()); got != "222233334444" || err != nil {
		t.Errorf("Identify = %q, %v; want the role's account", got, err)
	}
}

// In moto, too, a batch with a missing instance fails as a whole, and disableApiStop works.
func TestMotoBatchesWithABadInstance(t *testing.T) {
	url := moto(t)
	s := seeder{t: t, ctx: t.Context(), cfg: motoConfig(url)}
	g := s.instances()
	protect(t, s, g.Free[0])
	c, err := aws.New(motoOptions()).Connect(t.Context(), motoKeys(url))
	if err != nil {
		t.Fatal(err)
	}
	var targets []cloud.Target
	for _, u := range append([]string{g.Missing, "i-nonsense"}, g.Free...) {
		targets = append(targets, cloud.Target{UID: u})
	}
	for _, r := range c.Act(t.Context(), cloud.Stop, "aws-ec2", region, targets) {
		switch r.UID {
		case g.Missing, "i-nonsense":
			wantClass(t, "stop of "+r.UID, r.Err, cloud.NotFound)
		case g.Free[0]:
			wantClass(t, "stop of a protected instance", r.Err, cloud.Unsupported)
		default:
			if r.Err != nil || state(t, c, "aws-ec2", r.UID).Status != cloud.Stopped {
				t.Errorf("stop of %s beside bad ones: %v", r.UID, r.Err)
			}
		}
	}
}

func protect(t *testing.T, s seeder, id string) {
	t.Helper()
	s.form("ec2:ModifyInstanceAttribute", ec2Version, "InstanceId", id,
		"DisableApiStop.Value", "true")
}
