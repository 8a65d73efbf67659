package databases

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/rds"
)

// deploymentNeed is the permission to see which databases belong to blue/green deployments.
const deploymentNeed = "rds:DescribeBlueGreenDeployments"

// deploymentOver are the statuses of deployments whose members stand by themselves again.
var deploymentOver = map[string]bool{"SWITCHOVER_COMPLETED": true, "DELETING": true}

// deployed returns why members of blue/green deployments, instances and clusters alike, cannot be stopped, by their
// ARNs: a database of whose replication one end is off would lose the other. Where the credentials may not see that,
// or an emulator does not know it, nothing is refused here: RDS does so itself.
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

// tieDeployed adds why members of blue/green deployments are not schedulable, where nothing else says so.
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

// tieDeployedStates does the same for states: a running member of a deployment may not be stopped.
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
