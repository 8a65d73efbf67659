package workflow

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
)

// alias is the published version of a machine, which a deployment shifts gradually: AutoPublishAlias in
// infra/stacks/*.yaml. An execution stays on the version it started with.
const alias = "live"

// InAWS returns the engine of the account that cfg opens, for machines whose ARNs start with prefix (see ARNs). It
// starts their published versions.
func InAWS(cfg aws.Config, prefix string, machines ...string) Engine {
	return &stepFunctions{sfn.NewFromConfig(cfg), ARNs(prefix, machines...), ":" + alias}
}
