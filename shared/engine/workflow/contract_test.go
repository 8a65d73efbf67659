package workflow_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/testkit/workflowtest"
)

func TestTheEmbeddedEngineKeepsTheContract(t *testing.T) {
	workflowtest.Run(t, workflowtest.Target{
		Open: func(t *testing.T, machines map[string]string, handlers map[string]workflow.Handler) workflow.Engine {
			t.Helper()
			files := fstest.MapFS{}
			for name, definition := range machines {
				files[name+".asl.json"] = &fstest.MapFile{Data: []byte(definition)}
			}
			ms, err := workflow.LoadMachines(files, nil)
			if err != nil {
				t.Fatal(err)
			}
			return openEngine(t, workflow.Parts{Machines: ms, Handlers: handlers})
		},
	})
}

// motoLacks are the cases that moto 5.2.1 cannot pass.
var motoLacks = map[string]string{
	"an execution tells why it was stopped":                "moto forgets the cause of StopExecution",
	"a task calls its function":                            "moto runs Lambdas in Docker",
	"a function's failure carries the name of its Go type": "moto runs Lambdas in Docker",
	"a signal answers a task that waits":                   "moto runs Lambdas in Docker",
	"a signal fails a task that waits":                     "moto runs Lambdas in Docker",
}

func TestStepFunctionsOnMotoKeepsTheContract(t *testing.T) {
	if os.Getenv("LAMPLIGHTER_PEERS") != "1" {
		t.Skip("SKIPPED: LAMPLIGHTER_PEERS=1 runs the contract against Step Functions as moto_server has it")
	}
	endpoint := startMoto(t)
	workflowtest.Run(t, workflowtest.Target{
		Lacks: motoLacks,
		Open: func(t *testing.T, machines map[string]string, _ map[string]workflow.Handler) workflow.Engine {
			t.Helper()
			postJSON(t, endpoint+"/moto-api/reset", "") // moto runs only one execution; the next would fail
			postJSON(t, endpoint+"/moto-api/config", `{"stepfunctions":{"execute_state_machine":true}}`)
			return onMoto(t, endpoint, machines)
		},
	})
}

// onMoto creates the machines and returns the engine.
func onMoto(t *testing.T, endpoint string, machines map[string]string) workflow.Engine {
	t.Helper()
	client := sfn.New(sfn.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	})
	arns := map[string]string{}
	for name, definition := range machines {
		out, err := client.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
			Name: &name, Definition: &definition, RoleArn: aws.String("arn:aws:iam::123456789012:role/workflow"),
		})
		if err != nil {
			t.Fatal(err)
		}
		arns[name] = *out.StateMachineArn
	}
	return workflow.StepFunctions(client, arns)
}

// startMoto starts moto_server and returns its address.
func startMoto(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("moto_server")
	if err != nil {
		t.Skip("SKIPPED: moto_server is not installed (pip install 'moto[server,stepfunctions]')")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, "-H", host, "-p", port) //nolint:gosec // a program that the tester installed
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	endpoint := "http://" + net.JoinHostPort(host, port)
	for range 200 {
		if r, err := http.Get(endpoint + "/moto-api/"); err == nil { //nolint:noctx,gosec // our own child, on localhost
			_ = r.Body.Close()
			return endpoint
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("moto_server does not answer")
	return ""
}

func postJSON(t *testing.T, url, body string) {
	t.Helper()
	r, err := http.Post(url, "application/json", bytes.NewBufferString(body)) //nolint:noctx,gosec // as above
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode >= 300 {
		t.Fatalf("%s: %s", url, r.Status)
	}
}
