# console of Billing and Cost Management, Data Exports, Create: FOCUS 1.2 or CUR 2.0 with resource ids, Parquet or gzip, create new file on each delivery, into s3://BUCKET/PREFIX
aws iam put-role-policy --role-name lamplighter --policy-name lamplighter-billing --policy-document '{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Sid": "LamplighterFindBills",
      "Effect": "Allow",
      "Action": [
        "bcm-data-exports:GetExport",
        "bcm-data-exports:ListExports",
        "ce:GetCostAndUsage",
        "cur:DescribeReportDefinitions",
        "organizations:DescribeOrganization"
      ],
      "Resource": "*"
    },
    {
      "Sid": "LamplighterListBills",
      "Effect": "Allow",
      "Action": [
        "s3:ListBucket"
      ],
      "Resource": "arn:aws:s3:::BUCKET"
    },
    {
      "Sid": "LamplighterReadBills",
      "Effect": "Allow",
      "Action": [
        "s3:GetObject"
      ],
      "Resource": "arn:aws:s3:::BUCKET/PREFIX/*"
    }
  ]
}'
