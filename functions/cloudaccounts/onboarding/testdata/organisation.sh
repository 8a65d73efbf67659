aws iam put-role-policy --role-name lamplighter --policy-name lamplighter-organisation --policy-document '{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Sid": "LamplighterListMembers",
      "Effect": "Allow",
      "Action": [
        "organizations:DescribeOrganization",
        "organizations:ListAccountsForParent",
        "organizations:ListOrganizationalUnitsForParent",
        "organizations:ListRoots",
        "organizations:ListTagsForResource"
      ],
      "Resource": "*"
    }
  ]
}'
aws organizations enable-aws-service-access --service-principal member.org.stacksets.cloudformation.amazonaws.com
aws cloudformation activate-organizations-access
aws cloudformation create-stack-set --stack-set-name lamplighter --permission-model SERVICE_MANAGED --auto-deployment Enabled=true,RetainStacksOnAccountRemoval=false --capabilities CAPABILITY_NAMED_IAM --template-body file://role.template.json --parameters ParameterKey=ExternalID,ParameterValue=lamplighter-org_01-7f3a ParameterKey=Level,ParameterValue=start_stop
aws cloudformation create-stack-instances --stack-set-name lamplighter --regions us-east-1 --deployment-targets OrganizationalUnitIds=$(aws organizations list-roots --query 'Roots[0].Id' --output text)
