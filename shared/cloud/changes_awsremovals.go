package cloud

// awsRemovals returns the deletions that tables describe.
func awsRemovals() []KindChange {
	const (
		tags   = "ec2:CreateTags ec2:DeleteTags "
		byHand = "make it again by hand, if it is missed: it gets another ID"
		elb    = "elasticloadbalancing:"
	)
	secret := awsDelete("aws-secret", "secretsmanager:DeleteSecret",
		"30 days after the deletion, its values are lost for good",
		"secretsmanager:DescribeSecret secretsmanager:RestoreSecret secretsmanager:TagResource "+
			"secretsmanager:UntagResource")
	secret.Undo = "secretsmanager:RestoreSecret, within 30 days after the deletion"
	return []KindChange{
		secret,
		awsDelete("aws-eni", "ec2:DeleteNetworkInterface", byHand, tags+"ec2:DescribeNetworkInterfaces"),
		awsDelete("aws-nat", "ec2:DeleteNatGateway", "its addresses stay and are billed: release them",
			tags+"ec2:DescribeNatGateways ec2:DescribeRouteTables"),
		awsDelete("aws-vpc-endpoint", "ec2:DeleteVpcEndpoints", byHand, tags+"ec2:DescribeVpcEndpoints"),
		awsDelete("aws-security-group", "ec2:DeleteSecurityGroup", "make it again by hand, if it is missed: its rules "+
			"are lost", tags+"ec2:DescribeNetworkInterfaces ec2:DescribeSecurityGroups"),
		awsDelete("aws-dedicated-host", "ec2:ReleaseHosts", "AWS may lack capacity for another host of its type",
			tags+"ec2:DescribeHosts"),
		awsDelete("aws-elb", elb+"DeleteLoadBalancer", "its name in the DNS does not come back, nor do its listeners",
			elb+"AddTags "+elb+"DescribeListeners "+elb+"DescribeLoadBalancerAttributes "+elb+"DescribeLoadBalancers "+
				elb+"DescribeTags "+elb+"DescribeTargetGroups "+elb+"DescribeTargetHealth "+elb+"RemoveTags"),
		awsDelete("aws-cloudwatch-alarm", "cloudwatch:DeleteAlarms", "make it again by hand, if it is missed: its "+
			"thresholds and its history are lost", "cloudwatch:DescribeAlarms cloudwatch:ListTagsForResource "+
			"cloudwatch:TagResource cloudwatch:UntagResource"),
		awsDelete("aws-rds-snapshot", "rds:DeleteDBSnapshot", lostForGood,
			"rds:AddTagsToResource rds:DescribeDBSnapshots rds:RemoveTagsFromResource"),
		awsDelete("aws-dms", "dms:DeleteReplicationInstance", "make it again by hand, if it is missed",
			"dms:AddTagsToResource dms:DescribeReplicationInstances dms:DescribeReplicationTasks "+
				"dms:ListTagsForResource dms:RemoveTagsFromResource"),
	}
}
