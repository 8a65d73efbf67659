package azure

import (
	"context"
	"net/http"
	"time"

	"lamplighter.dev/shared/cloud"
)

const (
	streamJobType    = "Microsoft.StreamAnalytics/streamingjobs"
	streamJobVersion = "2020-03-01"
)

// streamJobs are jobs of Stream Analytics. A start continues where the output ended, so events that arrived meanwhile
// are processed as far as the input keeps them. A job without any output begins at the time of the start.
var streamJobs = kind{
	Kind: catalogueKind(cloud.AzureStreamAnalytics), arm: streamJobType, version: streamJobVersion,
	facts: streamJobFacts, act: actStreamJob, needs: verbNeeds(streamJobType, "stop", "start"),
}

type streamJob struct {
	JobState   string    `json:"jobState"`
	LastOutput time.Time `json:"lastOutputEventTime"`
	Created    time.Time `json:"createdDate"`
}

var streamJobStates = map[string]cloud.Status{
	"running": cloud.Running, "degraded": cloud.Running, "stopped": cloud.Stopped, "created": cloud.Stopped,
	"starting":   cloud.Starting,
	"restarting": cloud.Starting, "stopping": cloud.Stopping, "scaling": cloud.Pending, "deleting": cloud.Terminated,
}

func streamJobFacts(r resource, _ *setting) (facts, error) {
	j, err := properties[streamJob](r)
	return facts{status: statusOf(streamJobStates, j.JobState), native: j.JobState, created: j.Created.UTC()}, err
}

func actStreamJob(ctx context.Context, c *armClient, v cloud.Verb, t target) error {
	if v == cloud.Stop {
		return c.do(ctx, call{method: http.MethodPost, path: t.UID + "/stop", version: streamJobVersion}, nil)
	}
	_, r, err := c.get(ctx, t.UID, streamJobVersion, nil)
	if err != nil {
		return err
	}
	j, err := properties[streamJob](r)
	if err != nil {
		return err
	}
	mode := "JobStartTime"
	if !j.LastOutput.IsZero() {
		mode = "LastOutputEventTime"
	}
	body := map[string]any{"outputStartMode": mode}
	return c.do(ctx, call{method: http.MethodPost, path: t.UID + "/start", version: streamJobVersion, body: body}, nil)
}
