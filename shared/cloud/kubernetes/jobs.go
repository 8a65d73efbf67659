package kubernetes

import (
	"time"

	"lamplighter.dev/shared/cloud"
)

// job has the fields that are read of a Job.
type job struct {
	Head `json:"metadata"`
	Spec struct {
		TTL *int64 `json:"ttlSecondsAfterFinished"`
	} `json:"spec"`
	Status struct {
		Active     int64       `json:"active"`
		Started    string      `json:"startTime"`
		Completed  string      `json:"completionTime"`
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

// jobFacts returns the facts of a Job.
func (j job) jobFacts() cloud.Facts {
	owner, _ := j.controller()
	return cloud.Facts{
		"active": float64(j.Status.Active), "ttl_set": j.Spec.TTL != nil, "owner_cronjob": owner.Kind == "CronJob",
		"started_at": timeOr(j.Status.Started, cloud.Never), "finished_at": j.finishedAt(),
	}
}

// finishedAt returns when the Job completed or failed; cloud.Epoch while it has not.
func (j job) finishedAt() time.Time {
	for _, c := range j.Status.Conditions {
		if c.Type == "Failed" && c.Status == "True" {
			return timeOr(c.Transition, cloud.Epoch)
		}
	}
	return timeOr(j.Status.Completed, cloud.Epoch)
}

// timeOr returns the time of an RFC 3339 text, or another time if it is none.
func timeOr(text string, otherwise time.Time) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return otherwise
	}
	return at.UTC()
}
