package compute

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/sagemaker"
)

// Notebooks are SageMaker notebook instances; the uid is the ARN. A stop loses all data outside of the volume under
// /home/ec2-user/SageMaker, also when the owner does it.
var Notebooks = resource.Kind[sagemakerAPI]{
	Kind: resource.CatalogueKind(cloud.AWSSageMakerNotebook),
	Needs: resource.Needs{
		Discover: []string{
			"sagemaker:ListNotebookInstances", "sagemaker:ListTags",
			"sagemaker:DescribeNotebookInstance",
		},
		StartStop: []string{
			"sagemaker:DescribeNotebookInstance", "sagemaker:StartNotebookInstance",
			"sagemaker:StopNotebookInstance",
		},
	},
	Client: func(cfg sdk.Config) sagemakerAPI { return sagemaker.NewFromConfig(cfg) },
	List:   listNotebooks,
	Read:   resource.ReadOneByOne(readNotebook),
	Act:    resource.ActOneByOne(actNotebook),
}

// sagemakerAPI is the subset of the SageMaker API that is called here.
type sagemakerAPI interface {
	ListNotebookInstances(context.Context,
		*sagemaker.ListNotebookInstancesInput) (*sagemaker.ListNotebookInstancesOutput, error)
	DescribeNotebookInstance(context.Context,
		*sagemaker.DescribeNotebookInstanceInput) (*sagemaker.DescribeNotebookInstanceOutput, error)
	ListTags(context.Context, *sagemaker.ListTagsInput) (*sagemaker.ListTagsOutput, error)
	StartNotebookInstance(context.Context,
		*sagemaker.StartNotebookInstanceInput) (*sagemaker.StartNotebookInstanceOutput, error)
	StopNotebookInstance(context.Context, *sagemaker.StopNotebookInstanceInput) (*sagemaker.StopNotebookInstanceOutput,
		error)
}

func notebookName(uid string) string { return resource.NameIn(uid, "sagemaker", "notebook-instance/") }

func listNotebooks(ctx context.Context, c sagemakerAPI, page string) (cloud.ResourcePage, error) {
	out, err := c.ListNotebookInstances(ctx,
		&sagemaker.ListNotebookInstancesInput{MaxResults: sdk.Int32(100), NextToken: resource.OptionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	found, errs := make([]cloud.Resource, len(out.NotebookInstances)), make([]error, len(out.NotebookInstances))
	cloud.InParallel(len(found), resource.Width, func(i int) {
		found[i], errs[i] = notebookResource(ctx, c, out.NotebookInstances[i])
	})
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextToken)}
	for i, err := range errs {
		switch {
		case err == nil:
			p.Resources = append(p.Resources, found[i])
		case cloud.ClassOf(resource.ClassifyError(err)) != cloud.NotFound: // one that vanished meanwhile is left out
			return cloud.ResourcePage{}, err
		}
	}
	return p, nil
}

// notebookResource adds the tags, which the listing leaves out.
func notebookResource(ctx context.Context, c sagemakerAPI, n sagemaker.NotebookInstanceSummary) (cloud.Resource,
	error,
) {
	r := cloud.Resource{
		UID: sdk.ToString(n.NotebookInstanceArn), Name: sdk.ToString(n.NotebookInstanceName), Tags: map[string]string{},
		Status: notebookStatus(n.NotebookInstanceStatus), InstanceType: string(n.InstanceType),
		CreatedAt: n.CreationTime.Value().UTC(),
		Facts: cloud.Facts{
			"state":            string(n.NotebookInstanceStatus),
			"lifecycle_config": sdk.ToString(n.NotebookInstanceLifecycleConfigName),
			"modified_at":      n.LastModifiedTime.Value().UTC(),
		},
	}
	askNotebook(ctx, c, &r)
	out, err := c.ListTags(ctx,
		&sagemaker.ListTagsInput{ResourceArn: n.NotebookInstanceArn, MaxResults: sdk.Int32(100)})
	if err != nil {
		return r, err
	}
	for _, t := range out.Tags { // a resource has at most 50
		r.Tags[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
	}
	return r, nil
}

func readNotebook(ctx context.Context, c sagemakerAPI, uid string) (cloud.State, error) {
	name := notebookName(uid)
	if name == "" {
		return cloud.State{}, cloud.ErrNotFound("%q is not the ARN of a notebook instance", uid)
	}
	out, err := c.DescribeNotebookInstance(ctx, &sagemaker.DescribeNotebookInstanceInput{NotebookInstanceName: &name})
	if err != nil {
		return cloud.State{}, err
	}
	if sdk.ToString(out.NotebookInstanceArn) != uid {
		return cloud.State{}, cloud.ErrNotFound("there is no notebook instance %s", uid)
	}
	return cloud.State{
		UID: uid, Status: notebookStatus(out.NotebookInstanceStatus), Native: string(out.NotebookInstanceStatus),
		Reason: sdk.ToString(out.FailureReason),
	}, nil
}

func actNotebook(ctx context.Context, c sagemakerAPI, v cloud.Verb, t cloud.Target) error {
	name := notebookName(t.UID)
	if name == "" {
		return cloud.ErrNotFound("%q is not the ARN of a notebook instance", t.UID)
	}
	if v == cloud.Start {
		_, err := c.StartNotebookInstance(ctx, &sagemaker.StartNotebookInstanceInput{NotebookInstanceName: &name})
		return err
	}
	_, err := c.StopNotebookInstance(ctx, &sagemaker.StopNotebookInstanceInput{NotebookInstanceName: &name})
	return err
}

func notebookStatus(s sagemaker.NotebookInstanceStatus) cloud.Status {
	switch s {
	case sagemaker.NotebookInstanceStatusInService:
		return cloud.Running
	case sagemaker.NotebookInstanceStatusStopped:
		return cloud.Stopped
	case sagemaker.NotebookInstanceStatusStopping:
		return cloud.Stopping
	case sagemaker.NotebookInstanceStatusPending:
		return cloud.Starting
	case sagemaker.NotebookInstanceStatusUpdating:
		return cloud.Pending
	case sagemaker.NotebookInstanceStatusDeleting:
		return cloud.Terminated
	default:
		return cloud.Unknown // Failed: it has to be deleted, or started again
	}
}
