package gcp

import (
	"context"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// projectNeeds are the permissions for the project itself, for the resources without a kind, for metrics, for sizes and
// for opinions.
var projectNeeds = slices.Concat([]string{
	"resourcemanager.projects.get", assetsNeed, policiesNeed, metricsNeed, sizesNeed,
}, opinionNeeds())

// maxAsked is the largest number of permissions in one request.
const maxAsked = 100

// Permissions asks Google which of the permissions that this package uses the credentials have on the project. The
// question itself needs no permission.
func (c *conn) Permissions(ctx context.Context) ([]cloud.Permission, error) {
	return c.testPermissions(ctx, listNeeds())
}

var _ cloud.KindProber = (*conn)(nil)

// KindPermissions asks Google about the permissions of one kind: one call.
func (c *conn) KindPermissions(ctx context.Context, kindType, _, _ string) ([]cloud.Permission, error) {
	i := slices.IndexFunc(registry, func(k kind) bool { return k.Type == kindType })
	if i < 0 {
		return nil, cloud.ErrInvalid("Google Cloud has no resource type %q here", kindType)
	}
	var asked []cloud.Permission
	for _, n := range sortUnique(registry[i].needs.startStop) {
		asked = append(asked, cloud.Permission{Capability: "start_stop", Action: n})
	}
	for _, n := range sortUnique(registry[i].needs.scale) {
		asked = append(asked, cloud.Permission{Capability: "scale", Action: n})
	}
	return c.testPermissions(ctx, asked)
}

var _ cloud.ChangeProber = (*conn)(nil)

// ChangePermissions asks Google about the permissions of a change: one call.
func (c *conn) ChangePermissions(ctx context.Context, want cloud.Change) ([]cloud.Permission, error) {
	asked, err := cloud.NeedsOf(want, "")
	if err != nil {
		return nil, err
	}
	return c.testPermissions(ctx, asked)
}

// testPermissions returns for each permission whether the credentials have it on the project.
func (c *conn) testPermissions(ctx context.Context, asked []cloud.Permission) ([]cloud.Permission, error) {
	var names []string
	for _, a := range asked {
		names = append(names, a.Action)
	}
	granted := map[string]bool{}
	for part := range slices.Chunk(sortUnique(names), maxAsked) {
		out, err := call[googlerest.IAMPermissions](ctx, c.session,
			googlerest.NewPost("resourcemanager.projects.testIamPermissions",
				googlerest.ResourceManager+"{+resource}:testIamPermissions", "projects/"+c.project).
				Body(googlerest.IAMPermissions{Permissions: part}))
		switch class := cloud.ClassOf(err); {
		case err == nil:
		case class == cloud.Refused:
			return nil, err
		default:
			return markUnknown(asked, err), nil
		}
		for _, p := range out.Permissions {
			granted[p] = true
		}
	}
	for i, a := range asked {
		if asked[i].Status = "granted"; !granted[a.Action] && a.Capability == "billing" &&
			a.Action != "bigquery.jobs.create" {
			asked[i].Status, asked[i].Message = "unknown",
				"not on project "+c.project+": it may be given in the dataset of the billing export"
			continue
		}
		if !granted[a.Action] {
			asked[i].Status, asked[i].Message = "denied", "the credentials lack "+a.Action+" on project "+c.project
		}
	}
	return asked, nil
}

// listNeeds lists every permission that a capability takes, each once a capability.
func listNeeds() []cloud.Permission {
	var discover, startStop, scale []string
	for _, k := range registry {
		discover, startStop, scale = append(discover, k.needs.discover...), append(startStop, k.needs.startStop...),
			append(scale, k.needs.scale...)
	}
	var out []cloud.Permission
	add := func(capability string, names []string) {
		for _, n := range names {
			out = append(out, cloud.Permission{Capability: capability, Action: n})
		}
	}
	add("discover", sortUnique(projectNeeds, discover))
	add("start_stop", sortUnique(startStop))
	add("scale", sortUnique(scale))
	add(cloud.RemediateCapability, cloud.ChangeNeeds("gcp"))
	add("billing", sortUnique(billingNeeds))
	return out
}

func markUnknown(asked []cloud.Permission, err error) []cloud.Permission {
	for i := range asked {
		asked[i].Status, asked[i].Message = "unknown", err.Error()
	}
	return asked
}
