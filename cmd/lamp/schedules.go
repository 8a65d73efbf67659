package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"lamplighter.dev/shared/api/client"
)

// scheduleAct is an act on a schedule, from the flags.
type scheduleAct struct {
	a               *app
	group, resource string
	from, to        string
	yes             bool
}

func (a *app) schedulesCommand() *cobra.Command {
	x := &scheduleAct{a: a}
	c := &cobra.Command{
		Use: "schedules", Aliases: []string{"schedule"}, Short: "Preview, attach, detach, enable and disable schedules",
	}
	preview := x.command("preview", "Show the next firings of a schedule, and what each reaches", x.preview)
	preview.Flags().StringVar(&x.from, "from", "", "first time; now unless given")
	preview.Flags().StringVar(&x.to, "to", "", "last time; in 7 days unless given")
	attach := x.command("attach", "Attach a group or resource to a schedule", x.attach)
	detach := x.command("detach", "Detach a group or resource from a schedule", x.detach)
	for _, c := range []*cobra.Command{attach, detach} {
		c.Flags().StringVar(&x.group, "group", "", "the group")
		c.Flags().StringVar(&x.resource, "resource", "", "the resource")
		c.MarkFlagsMutuallyExclusive("group", "resource")
		c.MarkFlagsOneRequired("group", "resource")
		complete(c, "group", x.a.completeNames(mustKind("groups")))
		complete(c, "resource", x.a.completeNames(mustKind("resources")))
	}
	enable := x.command("enable", "Let a schedule start and stop", x.setEnabled(true))
	disable := x.command("disable", "Keep a schedule from starting and stopping", x.setEnabled(false))
	for _, c := range []*cobra.Command{attach, detach, enable, disable} {
		c.Flags().BoolVarP(&x.yes, "yes", "y", false, "do not ask")
	}
	c.AddCommand(preview, attach, detach, enable, disable)
	return c
}

// command returns a command on one schedule.
func (x *scheduleAct) command(
	verb, short string, run func(ctx context.Context, to *client.Client, s record) error,
) *cobra.Command {
	schedules := mustKind("schedules")
	return &cobra.Command{
		Use: verb + " NAME", Short: short, Args: cobra.ExactArgs(1),
		ValidArgsFunction: x.a.completeNames(schedules),
		RunE: func(c *cobra.Command, args []string) error {
			to, err := x.a.client()
			if err != nil {
				return err
			}
			s, err := resolve(c.Context(), to, schedules, args[0])
			if err != nil {
				return err
			}
			return run(c.Context(), to, s)
		},
	}
}

// previewAnswer is the preview of a schedule.
type previewAnswer struct {
	ExpectedSavingUSD *string        `json:"expectedSavingUSD"`
	ResourceCount     int            `json:"resourceCount"`
	WithoutRate       int            `json:"withoutRate"`
	SavingNote        string         `json:"savingNote"`
	Firings           []firingAnswer `json:"firings"`
}

// firingAnswer is a firing of a preview.
type firingAnswer struct {
	At                string         `json:"at"`
	LocalTime         string         `json:"localTime"`
	Action            string         `json:"action"`
	ActsOn            int            `json:"actsOn"`
	LeftOut           map[string]int `json:"leftOut"`
	Skipped           *string        `json:"skipped"`
	SkippedDetail     *string        `json:"skippedDetail"`
	ExpectedSavingUSD *string        `json:"expectedSavingUSD"`
}

func (x *scheduleAct) readPreview(ctx context.Context, to *client.Client, s record) (previewAnswer, error) {
	q := url.Values{}
	if x.from != "" {
		q.Set("from", x.from)
	}
	if x.to != "" {
		q.Set("to", x.to)
	}
	var p previewAnswer
	err := to.Call(ctx, client.Request{
		Method: http.MethodGet, Path: client.Path("/schedules/{scheduleID}/preview", s.text("id")), Query: q,
	}, &p)
	return p, err
}

func (x *scheduleAct) preview(ctx context.Context, to *client.Client, s record) error {
	p, err := x.readPreview(ctx, to, s)
	if err != nil {
		return err
	}
	rows := make([]record, len(p.Firings))
	for i, f := range p.Firings {
		left := map[string]any{}
		for reason, n := range f.LeftOut {
			left[reason] = n
		}
		rows[i] = newRecord(map[string]any{
			"localTime": f.LocalTime, "at": f.At, "action": f.Action, "actsOn": f.ActsOn, "leftOut": left,
			"skipped": textOfPointer(f.Skipped), "skippedDetail": textOfPointer(f.SkippedDetail),
			"expectedSavingUSD": textOfPointer(f.ExpectedSavingUSD),
		})
	}
	err = x.a.show([]column{
		{"LOCAL TIME", "localTime"},
		{"UTC", "at"},
		{"ACTION", "action"},
		{"ACTS ON", "actsOn"},
		{"LEFT OUT", "leftOut"},
		{"SKIPPED", "skipped"},
		{"SAVES USD", "expectedSavingUSD"},
		{"detail", "skippedDetail"},
	}, rows)
	if err != nil {
		return err
	}
	if p.ExpectedSavingUSD != nil {
		x.a.say("Saves $%s in these days; %d of %d resources have no known price.", *p.ExpectedSavingUSD, p.WithoutRate,
			p.ResourceCount)
	} else if p.SavingNote != "" {
		x.a.say("%s", p.SavingNote)
	}
	return nil
}

func textOfPointer(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// attachOrder is the body of an attachment.
type attachOrder struct {
	GroupID    string `json:"groupID,omitempty"`
	ResourceID string `json:"resourceID,omitempty"`
}

// attachAnswer is the answer to an attachment.
type attachAnswer struct {
	ID       string   `json:"id"`
	Warnings []string `json:"warnings"`
}

// attachment is an attachment of a schedule.
type attachment struct {
	ID         string  `json:"id"`
	GroupID    *string `json:"groupID"`
	ResourceID *string `json:"resourceID"`
}

// target returns the group or resource of the flags.
func (x *scheduleAct) target(ctx context.Context, to *client.Client) (target, error) {
	if x.group != "" {
		return x.a.target(ctx, to, "group", x.group)
	}
	return x.a.target(ctx, to, "resource", x.resource)
}

func (x *scheduleAct) attach(ctx context.Context, to *client.Client, s record) error {
	t, err := x.target(ctx, to)
	if err != nil {
		return err
	}
	p, err := makePlan(ctx, to, t.order("stop"))
	if err != nil {
		p = &plan{} // nothing of it can be stopped now
	}
	x.a.say("Would attach %s to %s, which starts and stops it from then on: %s that run now (next firing: %s).", t.name,
		s.text("name"), countResources(len(p.resources())), firstOf(s.text("nextFiringAt"), "none"))
	if err = x.a.agree(p, "Attach it?", x.yes); err != nil {
		return err
	}
	order := attachOrder{ResourceID: t.id}
	if t.isGroup {
		order = attachOrder{GroupID: t.id}
	}
	var made attachAnswer
	path := client.Path("/schedules/{scheduleID}/attachments", s.text("id"))
	if err = to.Call(ctx, client.Request{Method: http.MethodPost, Path: path, Body: order}, &made); err != nil {
		return err
	}
	for _, w := range made.Warnings {
		x.a.say("Warning: %s", w)
	}
	return x.a.printID(made.ID)
}

func (x *scheduleAct) detach(ctx context.Context, to *client.Client, s record) error {
	t, err := x.target(ctx, to)
	if err != nil {
		return err
	}
	list := client.Path("/schedules/{scheduleID}/attachments", s.text("id"))
	found := ""
	for raw, err := range to.Records(ctx, client.Request{Method: http.MethodGet, Path: list}, 0, true) {
		var own attachment
		if err == nil {
			err = decode(raw, &own)
		}
		if err != nil {
			return err
		}
		if textOfPointer(own.GroupID) == t.id || textOfPointer(own.ResourceID) == t.id {
			found = own.ID
			break
		}
	}
	if found == "" {
		return fail(exitNotFound, "%s is not attached to %s", t.name, s.text("name"))
	}
	x.a.say("Would detach %s from %s, which no longer starts and stops it.", t.name, s.text("name"))
	if err = x.a.confirm(consent{question: "Detach it?", yes: x.yes}); err != nil {
		return err
	}
	path := client.Path("/schedules/{scheduleID}/attachments/{attachmentID}", s.text("id"), found)
	if err = to.Call(ctx, client.Request{Method: http.MethodDelete, Path: path}, nil); err != nil {
		return err
	}
	return x.a.printID(found)
}

// enableOrder is the change of a schedule that enables or disables it.
type enableOrder struct {
	Enabled bool `json:"enabled"`
}

func (x *scheduleAct) setEnabled(enabled bool) func(context.Context, *client.Client, record) error {
	return func(ctx context.Context, to *client.Client, s record) error {
		verb := map[bool]string{true: "enable", false: "disable"}[enabled]
		p, err := x.readPreview(ctx, to, s)
		if err != nil {
			return err
		}
		x.a.say("Would %s %s: %d firings in the next 7 days, on %s.", verb, s.text("name"), len(p.Firings),
			countResources(p.ResourceCount))
		c := consent{question: fmt.Sprintf("%s it?", title(verb)), yes: x.yes}
		if p.ResourceCount > manyResources {
			c.number = p.ResourceCount
		}
		if err = x.a.confirm(c); err != nil {
			return err
		}
		var changed identified
		path := client.Path("/schedules/{scheduleID}", s.text("id"))
		err = to.Call(ctx, client.Request{Method: http.MethodPut, Path: path, Body: enableOrder{enabled}}, &changed)
		if err != nil {
			return err
		}
		return x.a.printID(changed.ID)
	}
}
