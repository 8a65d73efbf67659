package databases

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/rds"
)

// deploymentNeed is the permission to see the blue/green deployments of databases.
const deploymentNeed = "rds:DescribeBlueGreenDeployments"

// deploymentOver are the statuses of ended deployments. Their members are independent again.
var deploymentOver = map[string]bool{"SWITCHOVER_COMPLETED": true, "DELETING": true}

// deployed returns, by ARN, the reason why members of blue/green deployments, instances and clusters alike, cannot be
// stopped: replication would lose the running end if the other is off. If the credentials may not list deployments, or
// an emulator does not know them, it returns no reasons: RDS then refuses the stop itself.
func deployed(ctx context.Context, c rdsAPI) (map[string]string, error) {
	tied := map[string]string{}
	pages := wire.NewPages(c.DescribeBlueGreenDeployments, &rds.DescribeBlueGreenDeploymentsInput{}) // a page is 100
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			if cloud.ClassOf(resource.ClassifyError(err)).Retryable() {
				return nil, err
			}
			return tied, nil
		}
		for _, d := range out.BlueGreenDeployments {
			if deploymentOver[sdk.ToString(d.Status)] {
				continue
			}
			why := "member of blue/green deployment " + sdk.ToString(d.BlueGreenDeploymentName) +
				", which cannot be stopped: switch over and delete the deployment first"
			tied[sdk.ToString(d.Source)], tied[sdk.ToString(d.Target)] = why, why
			for _, m := range d.SwitchoverDetails {
				tied[sdk.ToString(m.SourceMember)], tied[sdk.ToString(m.TargetMember)] = why, why
			}
		}
	}
	delete(tied, "")
	return tied, nil
}

// tieDeployed sets Unschedulable of the members of blue/green deployments, unless it is already set.
func tieDeployed(ctx context.Context, c rdsAPI, found []cloud.Resource) error {
	if len(found) == 0 {
		return nil
	}
	tied, err := deployed(ctx, c)
	for i := range found {
		if found[i].Unschedulable == "" {
			found[i].Unschedulable = tied[found[i].UID]
		}
	}
	return err
}

// tieDeployedStates sets Unschedulable of states as tieDeployed does. It sends no request if no database runs.
func tieDeployedStates(ctx context.Context, c rdsAPI, states []cloud.State) error {
	var runs bool
	for _, s := range states {
		runs = runs || s.Status == cloud.Running && s.Unschedulable == ""
	}
	if !runs {
		return nil
	}
	tied, err := deployed(ctx, c)
	for i := range states {
		if states[i].Unschedulable == "" {
			states[i].Unschedulable = tied[states[i].UID]
		}
	}
	return err
}
