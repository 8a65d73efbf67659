package awstwin

import (
	"encoding/json"
	"maps"
	"slices"
)

// Describe adds more to the answers about the resource: to the elements that contain its id or ARN. more is XML or
// JSON as the service writes it. It is for fields that the provider reads and the twin does not model.
func (c *Cloud) Describe(id, more string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.details == nil {
		c.details = map[string]string{}
	}
	c.details[id] += more
}

// Tell sets the answer of an operation that the twin does not model, such as "ec2:DescribeSubnets". answer has the
// elements of the answer, as XML or JSON as the service writes it. Without it, the answer of such an operation is
// empty.
func (c *Cloud) Tell(op, answer string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told == nil {
		c.told = map[string]string{}
	}
	c.told[op] = answer
}

// untold are the operations whose answer is empty unless Tell sets it.
var untold = []string{
	"ec2:DescribeInstanceTypes", "ec2:DescribeSubnets", "ec2:DescribeVpcEndpoints", "ec2:DescribeFastSnapshotRestores",
	"rds:DescribeDBMajorEngineVersions", "redshift:DescribeStorage", "elasticache:DescribeCacheClusters",
	"elasticache:DescribeReplicationGroups", "elasticloadbalancing:DescribeListeners",
	"elasticloadbalancing:DescribeLoadBalancerAttributes",
	"ecs:DescribeTaskDefinition", "lambda:ListFunctionEventInvokeConfigs",
	"es:ListDomainNames", "es:DescribeDomains", "s3:GetBucketPolicyStatus", "s3:GetBucketPolicy",
	"s3:GetPublicAccessBlock",
	"s3:GetAccountPublicAccessBlock", "s3:GetBucketLogging", "s3:ListMultipartUploads", "s3:ListParts",
	"ec2:DescribeNetworkInterfaces", "ec2:DescribeSecurityGroups", "ec2:DescribeVpcs", "ec2:DescribeFlowLogs",
	"ec2:DescribeVpnConnections", "ec2:DescribeCapacityReservations", "ec2:DescribeHosts",
	"elasticfilesystem:DescribeFileSystems", "fsx:DescribeFileSystems", "logs:DescribeLogGroups",
	"secretsmanager:ListSecrets", "rds:DescribeDBSnapshots", "dms:DescribeReplicationInstances",
	"dms:DescribeReplicationTasks", "directconnect:DescribeConnections", "directconnect:DescribeVirtualInterfaces",
	"transfer:ListServers", "dax:DescribeClusters", "workspaces:DescribeWorkspacesConnectionStatus",
	"ecs:DescribeClusters", "monitoring:DescribeAlarms",
}

// saysNone are the error codes of S3 for a missing configuration, by operation.
var saysNone = map[string]string{
	"s3:GetBucketPolicyStatus": "NoSuchBucketPolicy", "s3:GetBucketPolicy": "NoSuchBucketPolicy",
	"s3:GetPublicAccessBlock":        "NoSuchPublicAccessBlockConfiguration",
	"s3:GetAccountPublicAccessBlock": "NoSuchPublicAccessBlockConfiguration",
}

// tell answers an operation of untold with the answer that Tell has set.
func (c *Cloud) tell(q request) (any, *failure) {
	op := q.service + ":" + q.op
	said, ok := c.told[op]
	if code := saysNone[op]; code != "" && !ok {
		return nil, newFailure(404, code, "There is none")
	}
	if slices.Contains(jsonServices, q.service) {
		if said == "" {
			said = "{}"
		}
		return json.RawMessage(said), nil
	}
	if op == "s3:GetBucketPolicy" {
		return json.RawMessage(said), nil
	}
	return []node{{raw: said}}, nil
}

// jsonServices are the services that answer in JSON.
var jsonServices = []string{
	"ecs", "eks", "application-autoscaling", "sagemaker", "lambda", "sqs", "ecr", "tagging", "resource-explorer-2",
	"organizations", "es", "workspaces",
	"apprunner", "lightsail", "synthetics", "bcm-data-exports", "cur", "ce", "elasticfilesystem", "fsx", "logs",
	"secretsmanager", "dms", "directconnect", "transfer", "dax", "dynamodb", "kms", "kinesis", "cloudtrail", "config",
	"glue", "redshift-serverless", "kafka", "apigateway", "cost-optimization-hub",
}

// described adds the details of Describe to an answer.
func (c *Cloud) described(answer any) any {
	if _, raw := answer.(json.RawMessage); raw || len(c.details) == 0 || answer == nil {
		return answer
	}
	if nodes, isXML := answer.([]node); isXML {
		return c.detailNodes(nodes)
	}
	raw, err := json.Marshal(answer)
	var whole any
	if err != nil || json.Unmarshal(raw, &whole) != nil {
		return answer
	}
	c.detailJSON(whole)
	return whole
}

func (c *Cloud) detailNodes(nodes []node) []node {
	out := slices.Clone(nodes)
	for i, n := range out {
		out[i].kids = c.detailNodes(n.kids)
		for _, k := range n.kids {
			if more := c.details[k.text]; more != "" {
				out[i].kids = append(out[i].kids, node{raw: more})
				break
			}
		}
	}
	return out
}

func (c *Cloud) detailJSON(v any) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			c.detailJSON(one)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			c.detailJSON(v[key])
			if id, _ := v[key].(string); c.details[id] != "" {
				var more map[string]any
				if json.Unmarshal([]byte(c.details[id]), &more) == nil {
					maps.Copy(v, more)
				}
			}
		}
	}
}
