package cloudorganisations

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// MemberSelection selects members of an organization.
type MemberSelection struct {
	IDs   []string `json:"ids,omitempty" maxItems:"500" doc:"Native ids of accounts, subscriptions or projects"`
	Units []string `json:"units,omitempty" maxItems:"500" doc:"Ids or names of organizational units, management groups or folders, including everything below them"`
	Tags  []string `json:"tags,omitempty" maxItems:"500" doc:"key, or key=value: tags of the account or subscription itself, or labels of the project"`
}

// SelectedMembers is the client's view of a MemberSelection.
type SelectedMembers struct {
	IDs   []string `json:"ids"`
	Units []string `json:"units"`
	Tags  []string `json:"tags"`
}

func newSelected(s connection.MemberSelection) SelectedMembers {
	return SelectedMembers{append([]string{}, s.IDs...), append([]string{}, s.Units...), append([]string{}, s.Tags...)}
}

// NewCloudOrganisation is the body of POST /cloud-organisations.
type NewCloudOrganisation struct {
	Provider        string            `json:"provider" minLength:"1" maxLength:"32" example:"aws"`
	OrganisationID  string            `json:"organisationID,omitempty" maxLength:"128" doc:"Native id: o-… of aws, optional, for the credentials tell it; the id of a management group of azure; organizations/NUMBER or folders/NUMBER of gcp" example:"o-a1b2c3d4e5"`
	Name            string            `json:"name" minLength:"1" maxLength:"100"`
	AuthMethod      string            `json:"authMethod" minLength:"1" maxLength:"64" doc:"As for a cloud account. aws: of the management account, or of a delegated administrator; azure and gcp: of an identity with a role at the management group, organization or folder"`
	PermissionLevel string            `json:"permissionLevel" enum:"read_only,read_write" doc:"Of every member"`
	Credentials     map[string]string `json:"credentials,omitempty" doc:"As for a cloud account"`
	MemberRole      string            `json:"memberRole,omitempty" maxLength:"64" doc:"aws: the role to assume in each member; default: lamplighter, as in the StackSet of the onboarding"`
	Regions         []string          `json:"regions,omitempty" maxItems:"100" doc:"Of every member; default: every enabled one"`
	EndpointURL     string            `json:"endpointURL,omitempty" maxLength:"512" doc:"An emulator or a private cloud, where the operator allows it"`
	Include         MemberSelection   `json:"include,omitzero" doc:"Only these members; all when it names none"`
	Exclude         MemberSelection   `json:"exclude,omitzero" doc:"Excluded members; takes precedence over include"`
}

// CloudOrganisation is the record of a connected organization of a cloud.
type CloudOrganisation struct {
	ID              string          `json:"id" example:"corg_01jzk5x0h2v3m4n5p6q7r8s9ta"`
	Provider        string          `json:"provider"`
	OrganisationID  string          `json:"organisationID" doc:"Native id"`
	Name            string          `json:"name"`
	AuthMethod      string          `json:"authMethod"`
	PermissionLevel string          `json:"permissionLevel" enum:"read_only,read_write"`
	MemberRole      *string         `json:"memberRole" doc:"The role to assume in each member; null if members are entered with the credentials of the connection"`
	Regions         []string        `json:"regions"`
	EndpointURL     *string         `json:"endpointURL"`
	Include         SelectedMembers `json:"include"`
	Exclude         SelectedMembers `json:"exclude"`
	Status          string          `json:"status" enum:"connecting,connected,degraded" doc:"degraded: its members could not be listed, see error"`
	Error           *string         `json:"error"`
	JobID           *string         `json:"jobID" doc:"The synchronization under way; null when there is none"`
	Members         map[string]int  `json:"members" doc:"Number of members with each status, after the last synchronization"`
	LastSyncedAt    *time.Time      `json:"lastSyncedAt" doc:"Null until it is synchronized"`
	// Pending describes the members whose accounts are still connected although the cloud lists them as closed or not
	// at all.
	Pending   *PendingDisconnections `json:"pendingDisconnections" doc:"Connected accounts that will be disconnected; null if there are none"`
	CreatedAt time.Time              `json:"createdAt"`
	UpdatedAt time.Time              `json:"updatedAt"`
}

// PendingDisconnections describes the connected accounts of an organization that will be disconnected.
type PendingDisconnections struct {
	Members              int       `json:"members" doc:"Members that listings lack or show closed, or that an unchanged selection no longer selects; GET …/members lists them"`
	AwaitingConfirmation int       `json:"awaitingConfirmation" doc:"Of these, the members on which listings a day apart agree. They are more than 10 % of the connected ones, so a person must confirm their disconnection"`
	ConfirmationID       *string   `json:"confirmationID" doc:"Send it with POST …/sync to confirm; null if no confirmation is needed. It changes when the waiting members change"`
	Since                time.Time `json:"since" doc:"When the first of them was missing for the first time"`
}

func newPending(o connection.Organisation) *PendingDisconnections {
	if o.Pending.Members == 0 {
		return nil
	}
	return &PendingDisconnections{
		o.Pending.Members, o.Pending.Awaiting, rest.Optional(o.ConfirmationID),
		o.Pending.Since,
	}
}

func newOrganisationRecord(o connection.Organisation) CloudOrganisation {
	out := CloudOrganisation{
		ID: o.ID, Provider: o.Provider, OrganisationID: o.NativeID, Name: o.Name, AuthMethod: o.AuthMethod,
		PermissionLevel: o.PermissionLevel,
		MemberRole:      rest.Optional(o.MemberRole), Regions: append([]string{}, o.Regions...),
		EndpointURL: rest.Optional(o.EndpointURL),
		Include:     newSelected(o.Include), Exclude: newSelected(o.Exclude), Status: o.Status,
		Error:   rest.Optional(o.Error),
		Members: map[string]int{}, LastSyncedAt: rest.Optional(o.LastSyncedAt), Pending: newPending(o),
		CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
	}
	if o.Sync.Status == connection.SyncRunning {
		out.JobID = &o.Sync.JobID
	}
	for _, s := range connection.MemberStatuses {
		out.Members[string(s)] = o.Sync.Members[s]
	}
	return out
}

type organisationsInput struct{ rest.Page }

func (s *service) listOrganisations(ctx context.Context, in *organisationsInput) (rest.List[CloudOrganisation], error) {
	all, err := connection.ListOrganisations(ctx, s.p.Table, identity.CallerOrg(ctx))
	return rest.MapItems(rest.PageOf(all, in.Page), newOrganisationRecord), err
}

type organisationInput struct {
	OrganisationID string `path:"cloudOrganisationID" maxLength:"64"`
}

func (s *service) getOrganisation(ctx context.Context, in *organisationInput) (CloudOrganisation, error) {
	o, err := s.readOrganisation(ctx, in.OrganisationID)
	return newOrganisationRecord(o), err
}

func (s *service) readOrganisation(ctx context.Context, organisationID string) (connection.Organisation, error) {
	unknown := fault.New(fault.NotFound, "there is no cloud organisation %.64q", organisationID)
	if !id.IsValid("corg", organisationID) {
		return connection.Organisation{}, unknown
	}
	o, err := table.Read[connection.Organisation](ctx, s.p.Table,
		connection.OrganisationKey(identity.CallerOrg(ctx), organisationID))
	if fault.Is(err, fault.NotFound) {
		return o, unknown
	}
	return o, fault.Wrap("read cloud organisation "+organisationID, err)
}

// DeletedCloudOrganisation is the answer of DELETE /cloud-organisations/{cloudOrganisationID}.
type DeletedCloudOrganisation struct {
	ID           string `json:"id"`
	KeptAccounts int    `json:"keptAccounts" doc:"Members that stay connected, each as a cloud account of its own"`
}

func (s *service) removeOrganisation(ctx context.Context, in *organisationInput) (DeletedCloudOrganisation, error) {
	org := identity.CallerOrg(ctx)
	o, err := s.readOrganisation(ctx, in.OrganisationID)
	if err != nil {
		return DeletedCloudOrganisation{}, err
	}
	audit.NoteChange(ctx, audit.Change{Before: newOrganisationRecord(o)})
	members, err := connection.ListMembers(ctx, s.p.Table, org, o.ID)
	if err != nil {
		return DeletedCloudOrganisation{}, err
	}
	ws := []table.Write{
		table.Delete(connection.OrganisationKey(org, o.ID), table.Exists()), connection.RemoveOrganisationDue(o.ID),
		connection.Release(organisationNative(org, o), o.ID),
	}
	if o.JobID != "" {
		ws = append(ws, workqueue.RemoveWork(o.JobID))
	}
	if err = s.p.Table.Transact(table.Within(ctx, workqueue.Prefix, connection.OrganisationDuePrefix),
		ws...); err != nil {
		return DeletedCloudOrganisation{}, fmt.Errorf("delete cloud organisation %s: %w", o.ID, err)
	}
	out, rows := DeletedCloudOrganisation{ID: o.ID}, []table.Write{}
	for _, m := range members {
		if m.Status == connection.MemberConnected {
			out.KeptAccounts++
		}
		rows = append(rows, table.Delete(connection.MemberKey(org, o.ID, m.NativeID)))
	}
	if err = s.p.Table.BatchWrite(ctx, rows...); err != nil { // they are no longer reachable
		s.p.Log.WarnContext(ctx, "members of a cloud organisation that is gone are left", "organisation", o.ID, "error",
			err)
	}
	// the accounts name a deleted organisation, and can be taken over like others
	if err = s.releaseAccounts(ctx, o.ID, members); err != nil {
		s.p.Log.WarnContext(ctx, "accounts still name a cloud organisation that is gone", "organisation", o.ID, "error",
			err)
	}
	return out, nil
}

// releaseConcurrency is how many accounts are released at the same time.
const releaseConcurrency = 8

// releaseAccounts removes the reference to the deleted organisation from the accounts of its members, unless another
// organisation has taken them over. The accounts keep a mark that they were not connected by hand, so another
// organisation may take them over later.
func (s *service) releaseAccounts(ctx context.Context, organisationID string,
	members []connection.Member,
) error {
	org := identity.CallerOrg(ctx)
	var g errgroup.Group
	g.SetLimit(releaseConcurrency)
	for _, m := range members {
		if m.AccountID == "" {
			continue
		}
		g.Go(func() error {
			_, err := s.p.Table.Write(ctx, table.Update(inventory.AccountKey(org, m.AccountID),
				[]table.Change{
					table.Remove("organisationID"), table.Remove("ended"),
					table.Set("releasedFrom", organisationID),
				}, table.Equal("organisationID", organisationID)))
			if _, other := errors.AsType[*table.ConditionError](err); other {
				return nil
			}
			return fault.Wrap("release account "+m.AccountID, err)
		})
	}
	return g.Wait()
}

// SyncRequest is the body of POST /cloud-organisations/{cloudOrganisationID}/sync, which may be left out.
type SyncRequest struct {
	ConfirmationID string `json:"confirmationID,omitempty" maxLength:"64" doc:"pendingDisconnections.confirmationID of the organization: confirms the disconnection of its waiting members"`
}

type syncInput struct {
	OrganisationID string       `path:"cloudOrganisationID" maxLength:"64"`
	Body           *SyncRequest `required:"false"`
}

func (s *service) syncOrganisation(ctx context.Context, in *syncInput) (rest.Job, error) {
	o, err := s.readOrganisation(ctx, in.OrganisationID)
	if err != nil {
		return rest.Job{}, err
	}
	if in.Body != nil && in.Body.ConfirmationID != "" {
		if err = s.confirmEnding(ctx, o, in.Body.ConfirmationID); err != nil {
			return rest.Job{}, err
		}
	}
	got, _, err := connection.StartSync(ctx, s.p, identity.CallerOrg(ctx), o.ID)
	return rest.Job{JobID: got.JobID, Status: got.Status, StatusURL: organisations + "/" + o.ID}, err
}

// confirmEnding records that the caller confirms the disconnections that wait under the ID.
func (s *service) confirmEnding(ctx context.Context, o connection.Organisation, confirmationID string) error {
	c := identity.CallerFrom(ctx)
	confirmed := connection.EndingConfirmation{ID: confirmationID, By: c.Email, At: s.p.Clock.Now()}
	audit.NoteChange(ctx, audit.Change{Target: o.ID, After: confirmed})
	return connection.ConfirmEnding(ctx, s.p, connection.OrganisationKey(c.Org, o.ID), confirmed)
}
