package compute

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/apprunner"
)

// AppServices are services of App Runner; the uid is the ARN. A stop pauses a service: it answers no requests, and
// nothing is billed.
var AppServices = resource.Kind[*apprunner.Client]{
	Kind: resource.CatalogueKind(cloud.AWSAppRunner),
	Needs: resource.Needs{
		Discover:  []string{"apprunner:ListServices", "apprunner:DescribeService"},
		StartStop: []string{"apprunner:PauseService", "apprunner:ResumeService"},
	},
	Client: apprunner.NewFromConfig,
	List:   listAppServices,
	Read:   resource.ReadOneByOne(readAppService),
	Act:    resource.ActOneByOne(actAppService),
}

// appServiceStates are the statuses by App Runner's. App Runner does not say whether an operation in progress is a
// start or a stop.
var appServiceStates = map[apprunner.ServiceStatus]cloud.Status{
	apprunner.ServiceStatusRunning: cloud.Running, apprunner.ServiceStatusPaused: cloud.Stopped,
	apprunner.ServiceStatusOperationInProgress: cloud.Pending,
	apprunner.ServiceStatusDeleted:             cloud.Terminated,
}

func listAppServices(ctx context.Context, c *apprunner.Client, page string) (cloud.ResourcePage, error) {
	out, err := c.ListServices(ctx,
		&apprunner.ListServicesInput{MaxResults: sdk.Int32(20), NextToken: resource.OptionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextToken)}
	for _, s := range out.ServiceSummaryList {
		p.Resources = append(p.Resources, cloud.Resource{
			UID: sdk.ToString(s.ServiceArn), Name: sdk.ToString(s.ServiceName), Tags: map[string]string{},
			Status: resource.NativeStatus(appServiceStates, s.Status), CreatedAt: s.CreatedAt.Value().UTC(),
		})
	}
	return p, nil
}

func readAppService(ctx context.Context, c *apprunner.Client, uid string) (cloud.State, error) {
	if resource.NameIn(uid, "apprunner", "service/") == "" {
		return cloud.State{}, cloud.ErrNotFound("%q is not the ARN of an App Runner service", uid)
	}
	out, err := c.DescribeService(ctx, &apprunner.DescribeServiceInput{ServiceArn: &uid})
	if err != nil {
		return cloud.State{}, err
	}
	return cloud.State{
		UID: uid, Status: resource.NativeStatus(appServiceStates, out.Service.Status),
		Native: string(out.Service.Status),
	}, nil
}

func actAppService(ctx context.Context, c *apprunner.Client, v cloud.Verb, t cloud.Target) error {
	if resource.NameIn(t.UID, "apprunner", "service/") == "" {
		return cloud.ErrNotFound("%q is not the ARN of an App Runner service", t.UID)
	}
	if v == cloud.Start {
		_, err := c.ResumeService(ctx, &apprunner.ResumeServiceInput{ServiceArn: &t.UID})
		return err
	}
	_, err := c.PauseService(ctx, &apprunner.PauseServiceInput{ServiceArn: &t.UID})
	return err
}
