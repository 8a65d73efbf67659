package workflow

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"lamplighter.dev/shared/engine/workflow/asl"
	"lamplighter.dev/shared/foundation/fault"
)

// sfnLimit limits a call of Step Functions with all its retries; the SDK tries three times.
const sfnLimit = 20 * time.Second

// stepFunctions runs state machines in AWS.
type stepFunctions struct {
	client    *sfn.Client
	arns      map[string]string
	qualifier string // suffix of the ARN of a machine that is started; the ARN of an execution has none
}

// StepFunctions returns the engine in AWS. arns holds the ARN of each machine by name; see ARNs.
func StepFunctions(client *sfn.Client, arns map[string]string) Engine {
	return &stepFunctions{client: client, arns: arns}
}

// ARNs returns the ARNs of machines with a common prefix:
// "arn:aws:states:eu-west-1:123456789012:stateMachine:lamplighter-prod-" and "action" give "…:lamplighter-prod-action".
func ARNs(prefix string, machines ...string) map[string]string {
	out := make(map[string]string, len(machines))
	for _, m := range machines {
		out[m] = prefix + m
	}
	return out
}

// machineARN returns the ARN of a machine.
func (s *stepFunctions) machineARN(name string) (string, error) {
	arn := s.arns[name]
	if arn == "" {
		return "", fault.New(fault.Internal, "there is no state machine %q", name)
	}
	return arn, nil
}

// executionARN returns the ARN of an execution: that of the machine, followed by the name.
func (s *stepFunctions) executionARN(machine, name string) (*string, error) {
	arn, err := s.machineARN(machine)
	if err != nil {
		return nil, err
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	return aws.String(strings.Replace(arn, ":stateMachine:", ":execution:", 1) + ":" + name), nil
}

// Start starts an execution. Step Functions accepts the same start again while the execution runs, so Start makes one
// call only: StartExecution is limited to 150 or 300 calls a second, DescribeExecution to 10 or 15 (Step Functions
// Developer Guide, "Quotas", "Quotas related to API action throttling", 2022-06: by region).
func (s *stepFunctions) Start(ctx context.Context, machine, name string, input any) error {
	r := ref{machine, name}
	arn, err := s.machineARN(machine)
	if err != nil {
		return err
	}
	if err := checkName(name); err != nil {
		return err
	}
	raw, err := sortedInput(input)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sfnLimit)
	defer cancel()
	_, err = s.client.StartExecution(ctx, &sfn.StartExecutionInput{
		StateMachineArn: aws.String(arn + s.qualifier), Name: &name, Input: aws.String(string(raw)),
	})
	if errorCode(err) == "ExecutionAlreadyExists" {
		return fault.NewWithCause(fault.Conflict, err,
			"the execution %s has already run and ended, or runs with another input", r)
	}
	return classifyError("start "+r.String(), err)
}

// sortedInput returns the input of an execution as JSON with sorted members. Step Functions recognizes a repeated start
// by the text of its input, and the store may return members in another order.
func sortedInput(input any) (json.RawMessage, error) {
	raw, err := encodeInput(input)
	if err != nil {
		return nil, err
	}
	return asl.SortMembers(raw)
}

// Stop aborts an execution.
func (s *stepFunctions) Stop(ctx context.Context, machine, name, cause string) error {
	arn, err := s.executionARN(machine, name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sfnLimit)
	defer cancel()
	_, err = s.client.StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: arn, Cause: &cause})
	return classifyError("stop "+ref{machine, name}.String(), err)
}

// Describe reads an execution.
func (s *stepFunctions) Describe(ctx context.Context, machine, name string) (Execution, error) {
	arn, err := s.executionARN(machine, name)
	if err != nil {
		return Execution{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, sfnLimit)
	defer cancel()
	out, err := s.client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: arn})
	if err != nil {
		return Execution{}, classifyError("describe "+ref{machine, name}.String(), err)
	}
	x := Execution{
		Machine: machine, Name: name, Status: Status(out.Status), Input: []byte(aws.ToString(out.Input)),
		Error: aws.ToString(out.Error), Cause: aws.ToString(out.Cause),
		Started: aws.ToTime(out.StartDate).UTC(), Stopped: aws.ToTime(out.StopDate).UTC(),
	}
	if out.StopDate == nil {
		x.Stopped = time.Time{}
	}
	if out.Output != nil {
		x.Output = []byte(*out.Output)
	}
	return x, nil
}

// Signal answers a task.
func (s *stepFunctions) Signal(ctx context.Context, token string, output any, failure *TaskError) error {
	ctx, cancel := context.WithTimeout(ctx, sfnLimit)
	defer cancel()
	if failure != nil {
		_, err := s.client.SendTaskFailure(ctx, &sfn.SendTaskFailureInput{
			TaskToken: &token, Error: &failure.Name, Cause: &failure.Cause,
		})
		return classifyError("fail task", err)
	}
	a, err := newAnswer(output, nil)
	if err != nil {
		return err
	}
	_, err = s.client.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{
		TaskToken: &token, Output: aws.String(string(a.Output)),
	})
	return classifyError("answer task", err)
}

var _ Engine = (*stepFunctions)(nil)
