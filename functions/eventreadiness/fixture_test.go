package eventreadiness

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/functions/executor/rehearsal"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const ours, theirs = apitest.Org, apitest.OtherOrg

// connector answers as the connector does, of groups.
type connector struct {
	mu      sync.Mutex
	groups  map[string]cloud.Autoscaling
	granted []cloud.Permission
	set     int // changes that were asked for
	down    bool
}

func (c *connector) answer(_ context.Context, in json.RawMessage) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var q inventory.Question
	if err := json.Unmarshal(in, &q); err != nil {
		return nil, err
	}
	if q.Ask == inventory.AskSetAutoscaling {
		c.set++
	}
	if c.down {
		return nil, fault.New(fault.Unavailable, "the cloud did not answer, try again")
	}
	if q.Ask == inventory.AskPermissions {
		return c.granted, nil
	}
	a, ok := c.groups[q.Autoscaling.UID]
	if !ok {
		return nil, fault.New(fault.NotFound, "the cloud has no aws-asg %s", q.Autoscaling.UID)
	}
	return a, nil
}

// rehearse answers as the executor does.
func rehearse(ctx context.Context, in json.RawMessage) (any, error) {
	c, err := workflow.ReadCall("executor", in)
	if err != nil {
		return nil, err
	}
	return workflow.RunTask(ctx, c, rehearsal.Run)
}

// engine records the executions that were started.
type engine struct {
	apitest.Idle
	mu      sync.Mutex
	started []string
}

func (e *engine) Start(_ context.Context, machine, name string, _ any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.started = append(e.started, machine+" "+name)
	return nil
}

// fixture is our organization with policies asp_web and asp_api on groups of an account, and asp_watch, which only
// monitors.
type fixture struct {
	*apitest.Fixture
	cloud  *connector
	engine *engine
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{apitest.New(t), &connector{groups: map[string]cloud.Autoscaling{}}, &engine{}}
	f.Workflow = f.engine
	f.Workers = lambdacall.Local{inventory.Connector: f.cloud.answer, readiness.Executor: rehearse}
	f.Mount(Operations)
	inventorytest.Discover(f.Fixture, ours, cloud.AWSASG,
		cloud.Resource{
			UID: "web", Name: "web", Type: cloud.AWSASG, Region: "eu-west-1", Status: cloud.Running,
			InstanceType: "m5.large",
		},
		cloud.Resource{
			UID: "api", Name: "api", Type: cloud.AWSASG, Region: "eu-west-1", Status: cloud.Running,
			InstanceType: "x9.unknown",
		})
	for _, uid := range []string{"web", "api", "watch"} {
		f.addPolicy(uid, readiness.Autopilot)
	}
	f.addPolicy("watch", readiness.Monitor)
	return f
}

func (f *fixture) addPolicy(uid string, mode readiness.Mode) {
	f.cloud.groups[uid] = cloud.Autoscaling{Min: 2, Max: 10, Desired: 4}
	f.Put(readiness.PolicyKey(ours, "asp_"+uid), readiness.Policy{
		ID: "asp_" + uid, Mode: mode, CloudAccountID: inventorytest.Account, TargetCPUPercent: 70,
		Target: readiness.PolicyTarget{Type: cloud.AWSASG, UID: uid, Region: "eu-west-1"},
	})
}

func (f *fixture) call(request string, body ...any) apitest.Answer {
	f.Helper()
	return f.Call(apitest.Caller(ours, "ada", "event-readiness:read,event-readiness:write,actions:execute"), request,
		body...)
}

// planBody is that of a plan that begins in a day and takes eight hours.
func (f *fixture) planBody(policies ...string) map[string]any {
	targets := []map[string]any{}
	for _, id := range policies {
		targets = append(targets, map[string]any{"policyId": id})
	}
	start := f.Clock.Now().Add(24 * time.Hour)
	return map[string]any{
		"name": "Black Friday", "eventStart": start.Format(time.RFC3339),
		"eventEnd":           start.Add(8 * time.Hour).Format(time.RFC3339),
		"expectedMultiplier": json.RawMessage("3.0"), "timezone": "Europe/Berlin", "targets": targets,
	}
}

func (f *fixture) createPlan(policies ...string) EventPlan {
	f.Helper()
	f.Clock.Advance(time.Millisecond)
	return apitest.Data[EventPlan](f.call("POST /event-readiness", f.planBody(policies...)))
}

// sendReport sends a report of a plan's progress as the executor does.
func (f *fixture) sendReport(planID string, r readiness.Report) error {
	f.Helper()
	return rest.CallAsWorker(f.Context(), f.newInvoker(f.Platform), rest.WorkerCall{
		Function: readiness.Function, Worker: readiness.Executor, Org: ours, Method: "POST",
		Path: readiness.ReportPath(planID), Body: r,
	})
}

// newInvoker returns an invoker of the Lambda function.
func (f *fixture) newInvoker(p *platform.Platform) lambdacall.Invoker {
	answer := rest.Lambda(p, Operations(p))
	return lambdacall.Local{readiness.Function: func(ctx context.Context, in json.RawMessage) (any, error) {
		var ev events.APIGatewayProxyRequest
		if err := json.Unmarshal(in, &ev); err != nil {
			return nil, err
		}
		return answer(ctx, ev)
	}}
}

// bringTo has the executor report a plan into a status.
func (f *fixture) bringTo(p EventPlan, run int64, through ...readiness.Status) {
	f.Helper()
	for _, s := range through {
		f.Must(f.sendReport(p.ID, readiness.Report{ID: string(s), Run: run, Status: s}))
	}
}

func (f *fixture) getPlan(planID string) EventPlan {
	f.Helper()
	return apitest.Data[EventPlan](f.call("GET /event-readiness/" + planID))
}
