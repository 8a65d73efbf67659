package recommendations

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/recommendation"
)

func (s *service) startRefresh(ctx context.Context, _ *struct{}) (rest.Job, error) {
	r, err := recommendation.StartRefresh(ctx, s.p, identity.CallerOrg(ctx))
	if err != nil {
		return rest.Job{}, err
	}
	job := rest.Job{JobID: r.JobID, Status: r.StatusAt(s.p.Clock.Now()), StatusURL: refresh + "/" + r.JobID}
	audit.NoteChange(ctx, audit.Change{Target: r.JobID, After: job})
	return job, nil
}

// RecommendationRefresh is the progress of an evaluation of all rules.
type RecommendationRefresh struct {
	JobID     string     `json:"jobID"`
	Status    string     `json:"status" enum:"running,completed,failed"`
	StartedAt time.Time  `json:"startedAt"`
	EndedAt   *time.Time `json:"endedAt"`
	Error     *string    `json:"error"`
	Opened    int        `json:"opened"`
	Optimised int        `json:"optimised"`
	Unknown   int        `json:"unknown" doc:"Resources and rules that could not be decided"`
}

type refreshInput struct {
	JobID string `path:"jobID" maxLength:"64"`
}

func (s *service) getRefresh(ctx context.Context, in *refreshInput) (RecommendationRefresh, error) {
	r, err := recommendation.ReadRefresh(ctx, s.p.Table, identity.CallerOrg(ctx), in.JobID)
	if err != nil {
		return RecommendationRefresh{}, err
	}
	return RecommendationRefresh{
		JobID: r.JobID, Status: r.StatusAt(s.p.Clock.Now()), StartedAt: r.StartedAt, EndedAt: rest.Optional(r.EndedAt),
		Error: rest.Optional(r.Error), Opened: r.Settled.Opened, Optimised: r.Settled.Optimised,
		Unknown: r.Settled.Unknown,
	}, nil
}
