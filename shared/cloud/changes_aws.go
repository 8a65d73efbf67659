package cloud

// awsChanges returns the changes of AWS.
func awsChanges() []KindChange {
	return []KindChange{
		{
			Type: "aws-ebs", Verb: ChangeStorage, Sets: []string{"volume_type", "iops", "throughput_mibps"},
			Call:  "ec2:ModifyVolume",
			Undo:  "ec2:ModifyVolume sets the values before, 6 hours after the change at the earliest",
			Holds: []string{"data_volume"},
			Needs: []string{
				"ec2:DescribeInstances", "ec2:DescribeSnapshots", "ec2:DescribeVolumes",
				"ec2:DescribeVolumesModifications", "ec2:ModifyVolume",
			},
		},
		{
			Type: "aws-ebs", Verb: Delete, Copies: true, Call: "ec2:DeleteVolume",
			Undo:   "ec2:CreateVolume makes a volume of the snapshot, with a new ID",
			Limits: []string{"a restored volume has a new ID and reads slowly at first"},
			Needs: []string{
				"ec2:CreateSnapshot", "ec2:CreateTags", "ec2:CreateVolume", "ec2:DeleteTags", "ec2:DeleteVolume",
				"ec2:DescribeSnapshots", "ec2:DescribeVolumes", "ec2:DescribeVolumesModifications",
			},
		},
		{
			Type: "aws-ebs-snapshot", Verb: Delete, Call: "ec2:DeleteSnapshot", Undo: noUndo,
			Limits: []string{lostForGood},
			Needs: []string{
				"ec2:CreateTags", "ec2:DeleteSnapshot", "ec2:DeleteTags", "ec2:DescribeImages", "ec2:DescribeSnapshots",
			},
		},
		{
			Type: "aws-eip", Verb: Release, Call: "ec2:ReleaseAddress",
			Undo:   "ec2:AllocateAddress asks for the same address",
			Limits: []string{"the same address comes back only while nobody else has it", "its allocation ID changes"},
			Needs: []string{
				"ec2:AllocateAddress", "ec2:CreateTags", "ec2:DescribeAddresses", "ec2:ReleaseAddress",
			},
		},
		{
			Type: AWSEC2, Verb: Resize, Sets: []string{"class"}, Call: "ec2:ModifyInstanceAttribute",
			Undo: "ec2:ModifyInstanceAttribute sets the type before", Holds: []string{"drivers"},
			Needs: []string{"ec2:DescribeInstances", "ec2:DescribeInstanceTypes", "ec2:ModifyInstanceAttribute"},
		},
		rdsSet(ChangeStorage, "storage_type", "iops", "max_allocated_gb"),
		rdsSet(SetLifecycle, "backup_days", "insights_days"),
		rdsSet(Guard, "multi_az", "backup_days", "deletion_protection", "auto_minor"),
	}
}

// rdsSet describes a change of values of RDS instances that takes no downtime.
func rdsSet(verb ChangeVerb, values ...string) KindChange {
	return KindChange{
		Type: AWSRDS, Verb: verb, Sets: values, Call: "rds:ModifyDBInstance",
		Undo:  "rds:ModifyDBInstance sets the values before",
		Needs: []string{"rds:DescribeDBInstances", "rds:ModifyDBInstance"},
	}
}
