package workflow

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
)

// InAWS returns the engine of the account that cfg opens, for machines whose ARNs begin with prefix (see ARNs).
func InAWS(cfg aws.Config, prefix string, machines ...string) Engine {
	return StepFunctions(sfn.NewFromConfig(cfg), ARNs(prefix, machines...))
}
