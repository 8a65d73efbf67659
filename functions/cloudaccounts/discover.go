package cloudaccounts

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

func (s *service) startDiscovery(ctx context.Context, in *accountInput) (rest.Job, error) {
	org := identity.CallerOrg(ctx)
	if _, err := s.readAccount(ctx, org, in.AccountID); err != nil {
		return rest.Job{}, err
	}
	j, err := discovery.StartDiscovery(ctx, s.p, org, in.AccountID)
	if err != nil {
		return rest.Job{}, err
	}
	return rest.Job{
		JobID: j.ID, Status: string(j.Status),
		StatusURL: accounts + "/" + in.AccountID + "/discover/" + j.ID,
	}, nil
}

// DiscoveryProgress is the progress of a discovery.
type DiscoveryProgress struct {
	JobID            string           `json:"jobID"`
	CloudAccountID   string           `json:"cloudAccountID" doc:"Our id of the account"`
	Status           discovery.Status `json:"status" enum:"running,succeeded,partial,failed" doc:"partial: some partitions could not be read"`
	Error            *string          `json:"error" doc:"Why it failed, else null"`
	Partitions       int              `json:"partitions" doc:"Kinds times regions; 0 until they are known"`
	PartitionsDone   int              `json:"partitionsDone"`
	PartitionsFailed int              `json:"partitionsFailed"`
	Pages            int              `json:"pages" doc:"Pages read from the cloud"`
	Resources        int              `json:"resources" doc:"Resources found so far"`
	Created          int              `json:"created"`
	Updated          int              `json:"updated"`
	Unchanged        int              `json:"unchanged"`
	Vanished         int              `json:"vanished" doc:"Not found any more, and now terminated"`
	Failures         []Failure        `json:"failures" doc:"Partitions that could not be read"`
	StartedAt        time.Time        `json:"startedAt"`
	CompletedAt      *time.Time       `json:"completedAt" doc:"Null while it runs"`
}

// Failure is a partition that could not be read, with the cloud's error text.
type Failure struct {
	Region string               `json:"region"`
	Kind   string               `json:"kind" example:"aws-ec2"`
	Status discovery.PartStatus `json:"status" enum:"denied,throttled,failed"`
	Error  string               `json:"error"`
}

type progressInput struct {
	AccountID string `path:"accountID" maxLength:"64"`
	JobID     string `path:"jobID" maxLength:"64"`
}

func (s *service) getProgress(ctx context.Context, in *progressInput) (DiscoveryProgress, error) {
	missing := fault.New(fault.NotFound, "there is no discovery %.64q of account %.64q", in.JobID, in.AccountID)
	if !id.IsValid("job", in.JobID) {
		return DiscoveryProgress{}, missing
	}
	j, parts, err := discovery.ReadJob(ctx, s.p.Table, identity.CallerOrg(ctx), in.JobID)
	if err != nil {
		return DiscoveryProgress{}, err
	}
	if j.AccountID != in.AccountID {
		return DiscoveryProgress{}, missing
	}
	return sumProgress(j, parts), nil
}

func sumProgress(j discovery.Job, parts []discovery.Part) DiscoveryProgress {
	out := DiscoveryProgress{
		JobID: j.ID, CloudAccountID: j.AccountID, Status: j.Status, Error: rest.Optional(j.Error),
		Partitions: j.Partitions,
		Failures:   []Failure{}, StartedAt: j.StartedAt, CompletedAt: rest.Optional(j.CompletedAt),
	}
	var changes inventory.Changes
	for _, part := range parts {
		out.Pages, out.Resources = out.Pages+part.Pages, out.Resources+part.Resources
		changes = changes.Add(part.Changes)
		switch {
		case part.Status == discovery.PartDone:
			out.PartitionsDone++
		case part.IsFinal():
			out.PartitionsFailed++
			out.Failures = append(out.Failures, Failure{part.Region, part.Kind, part.Status, part.Error})
		}
	}
	out.Created, out.Updated = changes.Created, changes.Updated
	out.Unchanged, out.Vanished = changes.Unchanged, changes.Vanished
	return out
}

// Permission is a permission of an account's credentials.
type Permission struct {
	Capability string  `json:"capability" doc:"The feature that needs it: discover, start_stop, scale, remediate, billing, metrics" example:"start_stop"`
	Action     string  `json:"action" doc:"The provider's name of the permission" example:"ec2:StopInstances"`
	Status     string  `json:"status" enum:"granted,denied,unknown"`
	Message    *string `json:"message" doc:"The provider's own words, else null"`
}

func (s *service) listPermissions(ctx context.Context, in *accountInput) ([]Permission, error) {
	org := identity.CallerOrg(ctx)
	a, err := s.readAccount(ctx, org, in.AccountID)
	if err != nil {
		return nil, err
	}
	var found []cloud.Permission
	err = s.opener.Ask(ctx, inventory.Question{Ask: inventory.AskPermissions, Org: org, Account: a}, &found)
	out := make([]Permission, len(found))
	for i, p := range found {
		out[i] = Permission{p.Capability, p.Action, p.Status, rest.Optional(p.Message)}
	}
	return out, err
}
