package compute

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/workspaces"
)

// Desktops are WorkSpaces; the uid is the ARN. Those in the mode ALWAYS_ON are billed by the month, and AWS does not
// stop them.
var Desktops = resource.Kind[desktopClient]{
	Kind: resource.CatalogueKind(cloud.AWSWorkSpace),
	Needs: resource.Needs{
		Discover:  []string{"workspaces:DescribeWorkspaces"},
		StartStop: []string{"workspaces:StartWorkspaces", "workspaces:StopWorkspaces"},
	},
	Client: func(cfg sdk.Config) desktopClient { return desktopClient{workspaces.NewFromConfig(cfg), cfg} },
	List:   listDesktops,
	Read:   readDesktops,
	Act:    actDesktops,
}

// desktopClient is the client of WorkSpaces and its configuration: the tags of a desktop, with its owner, need another
// call.
type desktopClient struct {
	*workspaces.Client
	cfg sdk.Config
}

func desktopID(uid string) string { return resource.NameIn(uid, "workspaces", "workspace/") }

var desktopStates = map[workspaces.WorkspaceState]cloud.Status{
	workspaces.WorkspaceStateAvailable: cloud.Running, workspaces.WorkspaceStateStopped: cloud.Stopped,
	workspaces.WorkspaceStateStarting: cloud.Starting,
	workspaces.WorkspaceStateStopping: cloud.Stopping, workspaces.WorkspaceStateTerminating: cloud.Terminated,
	workspaces.WorkspaceStateTerminated: cloud.Terminated,
	workspaces.WorkspaceStatePending:    cloud.Pending, workspaces.WorkspaceStateRebooting: cloud.Pending,
	workspaces.WorkspaceStateRebuilding: cloud.Pending,
	workspaces.WorkspaceStateRestoring:  cloud.Pending, workspaces.WorkspaceStateMaintenance: cloud.Pending,
	workspaces.WorkspaceStateUpdating: cloud.Pending,
}

func listDesktops(ctx context.Context, c desktopClient, page string) (cloud.ResourcePage, error) {
	out, err := c.DescribeWorkspaces(ctx,
		&workspaces.DescribeWorkspacesInput{Limit: sdk.Int32(25), NextToken: resource.OptionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	who, err := sts.NewFromConfig(c.cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextToken)}
	prefix := "arn:" + resource.PartitionOf(c.cfg.Region) + ":workspaces:" + c.cfg.Region + ":" +
		sdk.ToString(who.Account) +
		":workspace/"
	for _, w := range out.Workspaces {
		id := sdk.ToString(w.WorkspaceId)
		p.Resources = append(p.Resources, cloud.Resource{
			UID: prefix + id, Name: id, Tags: map[string]string{},
			Status:        resource.NativeStatus(desktopStates, w.State),
			Unschedulable: tiedDesktop(w),
		})
	}
	return p, nil
}

// tiedDesktop returns the reason why a desktop cannot be stopped, or "".
func tiedDesktop(w workspaces.Workspace) string {
	if w.WorkspaceProperties != nil && w.WorkspaceProperties.RunningMode == workspaces.RunningModeAlwaysOn {
		return "its running mode is ALWAYS_ON: AWS stops WorkSpaces of mode AUTO_STOP alone"
	}
	return ""
}

func readDesktops(ctx context.Context, c desktopClient, uids []string) ([]cloud.State, error) {
	byID := resource.NamesIn(uids, desktopID)
	if len(byID) == 0 {
		return nil, nil // no ids would mean all
	}
	in := &workspaces.DescribeWorkspacesInput{}
	for id := range byID {
		in.WorkspaceIds = append(in.WorkspaceIds, id)
	}
	out, err := c.DescribeWorkspaces(ctx, in)
	if err != nil {
		return nil, err
	}
	var states []cloud.State
	for _, w := range out.Workspaces {
		states = append(states, cloud.State{
			UID: byID[sdk.ToString(w.WorkspaceId)], Status: resource.NativeStatus(desktopStates, w.State),
			Native: string(w.State),
			Reason: sdk.ToString(w.ErrorMessage), Unschedulable: tiedDesktop(w),
		})
	}
	return states, nil
}

// actDesktops acts on up to 25 desktops in one call. AWS returns the desktops that it refused.
func actDesktops(ctx context.Context, c desktopClient, v cloud.Verb, targets []cloud.Target) []error {
	errs, at := make([]error, len(targets)), map[string]int{}
	for i, t := range targets {
		id := desktopID(t.UID)
		if id == "" {
			errs[i] = cloud.ErrNotFound("%q is not the ARN of a WorkSpace", t.UID)
			continue
		}
		at[id] = i
	}
	failed, err := turnDesktops(ctx, c, v, at)
	for _, i := range at {
		errs[i] = err
	}
	for _, f := range failed {
		if i, ok := at[sdk.ToString(f.WorkspaceId)]; ok {
			errs[i] = &smithy.GenericAPIError{Code: sdk.ToString(f.ErrorCode), Message: sdk.ToString(f.ErrorMessage)}
		}
	}
	return errs
}

func turnDesktops(ctx context.Context, c desktopClient, v cloud.Verb,
	ids map[string]int,
) ([]workspaces.FailedWorkspaceChangeRequest, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if v == cloud.Start {
		in := &workspaces.StartWorkspacesInput{}
		for id := range ids {
			in.StartWorkspaceRequests = append(in.StartWorkspaceRequests, workspaces.StartRequest{WorkspaceId: &id})
		}
		out, err := c.StartWorkspaces(ctx, in)
		if err != nil {
			return nil, err
		}
		return out.FailedRequests, nil
	}
	in := &workspaces.StopWorkspacesInput{}
	for id := range ids {
		in.StopWorkspaceRequests = append(in.StopWorkspaceRequests, workspaces.StopRequest{WorkspaceId: &id})
	}
	out, err := c.StopWorkspaces(ctx, in)
	if err != nil {
		return nil, err
	}
	return out.FailedRequests, nil
}
