package webhooks

import (
	"context"
	"net/http"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

func (s *service) receiving(g *rest.Group) {
	statuses := []int{http.StatusUnauthorized, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests}
	rest.Handle(g, rest.Op{
		ID: "receiveGitHub", Method: http.MethodPost, Path: webhooks + "/github", Public: true, Statuses: statuses,
		Summary: "Receive a webhook from GitHub",
		Description: "X-Hub-Signature-256 is checked over the bytes of the body with the secret that connecting " +
			"the integration returned. Choose the content type application/json. " + inbound,
	}, s.receiveGitHub)
	rest.Handle(g, rest.Op{
		ID: "receiveGitLab", Method: http.MethodPost, Path: webhooks + "/gitlab", Public: true, Statuses: statuses,
		Summary: "Receive a webhook from GitLab",
		Description: "The secret that connecting the integration returned is the secret token of the webhook, or " +
			"its signing token. A signed webhook (webhook-signature) must be no older than five minutes. Otherwise " +
			"X-Gitlab-Token must be the secret. " + inbound,
	}, s.receiveGitLab)
	rest.Handle(g, rest.Op{
		ID: "receiveBuild", Method: http.MethodPost, Path: webhooks + "/builds/{buildID}", Public: true,
		Statuses: []int{http.StatusNotFound}, Summary: "Receive a builder's report on a build",
		Description: "A build that is not known is 404. Builds come with deployments, so that for now none is known.",
	}, s.receiveBuild)
}

const inbound = "The address names the organization and the integration, as GET /integrations/{integrationID} " +
	"returns it (webhookURL). An integration that does not exist, is disabled or of another kind, and a wrong " +
	"signature, are all 401. A webhook that came before is not processed again: duplicate is true. The kind, " +
	"repository, branch and commit of a webhook are kept for 90 days. At most 1 MiB, and 600 a minute from one " +
	"address to one integration. "

// Inbound identifies the organization and the integration of an incoming webhook.
type Inbound struct {
	Organisation string `query:"organisation" required:"true" maxLength:"64" doc:"The organization, as in the address that connecting it answered"`
	Integration  string `query:"integration" required:"true" maxLength:"64" doc:"The integration, as in the address"`
}

// Receipt is the answer to an incoming webhook.
type Receipt struct {
	Duplicate bool `json:"duplicate" doc:"It came before, and was not taken again"`
}

// perIntegration limits the webhooks, valid or not, from one address to one integration. The limit is per integration
// because the customers of a service share its addresses, and one customer's traffic must not block the others.
var perIntegration = ratelimit.Rule{Name: "webhook-in", Max: 600, Per: time.Minute}

// maxWebhookAge is the largest difference between the time in a signature and ours, in either direction (Standard
// Webhooks).
const maxWebhookAge = 5 * time.Minute

// errRefused is the same error for every unverified webhook, so that it does not reveal which integrations exist.
var errRefused = fault.New(fault.Unauthenticated,
	"the signature is wrong, or there is no integration of this kind at the address; take both from GET "+
		"/integrations/{integrationID} anew")

// delivered is an incoming webhook with the data of its service. Marks identify it when it is received again.
type delivered struct {
	Inbound
	kind     string
	event    string
	delivery string
	marks    []string
	body     []byte
	verify   func(secret string) bool
}

// take verifies and stores an incoming webhook. It takes three round trips: count it, read the integration, store it.
func (s *service) take(ctx context.Context, d *delivered) (Receipt, error) {
	now := s.p.Clock.Now()
	from := ratelimit.SourceOf(rest.SourceIP(ctx))
	ok, err := ratelimit.TakeUse(ctx, s.p.Table, now, perIntegration, from+" "+d.Organisation+" "+d.Integration)
	if err != nil {
		s.p.Log.WarnContext(ctx, "webhooks that come are not counted", "error", err.Error())
	}
	if !ok {
		return Receipt{},
			fault.New(fault.Limited, "more than %d webhooks in a minute; send it again later", perIntegration.Max)
	}
	if !id.IsValid("org", d.Organisation) {
		return Receipt{}, errRefused
	}
	ctx = table.WithOrg(ctx, d.Organisation)
	if err = s.believe(ctx, d); err != nil {
		return Receipt{}, err
	}
	audit.NoteActor(ctx, d.Organisation, "", d.kind+" integration "+d.Integration)
	r, err := read(d)
	if err != nil {
		return Receipt{}, err
	}
	r.At = now
	audit.NoteChange(ctx, audit.Change{Target: d.Integration, After: r})
	again, err := s.integrations.Receive(ctx, d.Organisation, d.Integration, r, d.marks)
	if again {
		audit.Omit(ctx)
	}
	return Receipt{again}, err
}

// believe returns errRefused unless the webhook is signed with the secret of an enabled integration of its kind.
func (s *service) believe(ctx context.Context, d *delivered) error {
	i, err := s.integrations.Read(ctx, d.Organisation, d.Integration)
	if fault.Is(err, fault.NotFound) {
		return errRefused
	}
	if err != nil {
		return err
	}
	if i.Kind != d.kind || !i.Enabled {
		return errRefused
	}
	secret, err := s.integrations.OpenInbound(ctx, d.Organisation, &i)
	if err != nil {
		return err
	}
	if secret == "" || !d.verify(secret) {
		return errRefused
	}
	return nil
}

// read parses the body of a webhook.
func read(d *delivered) (receiver.Received, error) {
	var p payload
	if err := p.decode(d.body); err != nil {
		return receiver.Received{},
			fault.New(fault.Invalid,
				"body: it is not what %s sends: choose the content type application/json for the webhook", d.kind)
	}
	r := p.received()
	r.Event, r.DeliveryID = fault.CleanText(d.event, maxText), fault.CleanText(d.delivery, maxText)
	return r, nil
}

func (s *service) receiveBuild(ctx context.Context, in *BuildInput) (Receipt, error) {
	audit.Omit(ctx)
	return Receipt{}, fault.New(fault.NotFound, "build %.64q does not exist", in.BuildID)
}

// BuildInput names the build that a builder reports.
type BuildInput struct {
	BuildID string `path:"buildID" maxLength:"64"`
}
