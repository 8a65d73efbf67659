package workflow

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
)

// alias names what is live of a machine, while a deployment shifts it from one version to the next: AutoPublishAlias in
// infra/stacks/*.yaml. Whatever version an execution begins on, it ends on.
const alias = "live"

// InAWS returns the engine of the account that cfg opens, for machines whose ARNs begin with prefix (see ARNs). It starts what is
// live of them.
func InAWS(cfg aws.Config, prefix string, machines ...string) Engine {
	return &stepFunctions{sfn.NewFromConfig(cfg), ARNs(prefix, machines...), ":" + alias}
}
