"""Fills moto with the resources that Cloud Custodian's policies and our rules are compared on.

AWS_ENDPOINT_URL is the address of moto. Each kind has COUNT resources, whose properties follow from their numbers.
Those that only the tagging API lists have tags: moto has no Resource Explorer.
"""
import io
import json
import sys
import zipfile

import boto3

REGION = "us-east-1"
COUNT = int(sys.argv[1])
IMAGE = "ami-12c6146b"


def client(service):
    return boto3.client(service, region_name=REGION, aws_access_key_id="testing", aws_secret_access_key="testing")


def tags(n):
    return [{"Key": "Name", "Value": f"n{n}"}] + ([{"Key": "owner", "Value": f"team-{n % 3}"}] if n % 2 else [])


def network(ec2):
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(
            VpcId=vpc, CidrBlock=f"10.0.{n}.0/24", AvailabilityZone=REGION + "ab"[n])["Subnet"]["SubnetId"]
        for n in range(2)
    ]
    for n in range(4):
        ec2.create_security_group(GroupName=f"g{n}", Description="a group", VpcId=vpc)
    return vpc, subnets


def machines(ec2, subnets):
    for n in range(COUNT):
        made = ec2.run_instances(
            ImageId=IMAGE, MinCount=1, MaxCount=1, SubnetId=subnets[0],
            InstanceType=["t3.micro", "m4.large", "m5.large", "c5.xlarge"][n % 4],
            MetadataOptions={"HttpTokens": ["optional", "required"][n % 2], "HttpEndpoint": "enabled"},
            TagSpecifications=[{"ResourceType": "instance", "Tags": tags(n)}],
        )["Instances"][0]["InstanceId"]
        if n % 5 == 0:
            ec2.stop_instances(InstanceIds=[made])


def volumes(ec2):
    for n in range(COUNT):
        kind = ["gp2", "gp3", "io1", "st1", "standard"][n % 5]
        extra = {"Iops": 1000 + 100 * n} if kind == "io1" else {}
        ec2.create_volume(
            AvailabilityZone=REGION + "a", Size=[8, 100, 600][n % 3] if kind != "st1" else 500, VolumeType=kind,
            Encrypted=n % 2 == 0, TagSpecifications=[{"ResourceType": "volume", "Tags": tags(n)}], **extra)


def addresses(ec2, subnets):
    running = [i["InstanceId"] for r in ec2.describe_instances()["Reservations"] for i in r["Instances"]]
    for n in range(COUNT):
        address = ec2.allocate_address(Domain="vpc")["AllocationId"]
        if n % 3 == 0:
            ec2.associate_address(AllocationId=address, InstanceId=running[n])
        elif n == 1:
            ec2.create_nat_gateway(SubnetId=subnets[0], AllocationId=address)
    for n in range(COUNT // 2):
        ec2.create_network_interface(SubnetId=subnets[1])
    for interface in ec2.describe_network_interfaces()["NetworkInterfaces"]:
        ec2.create_tags(Resources=[interface["NetworkInterfaceId"]], Tags=tags(0))


def databases(rds):
    for n in range(COUNT):
        rds.create_db_instance(
            DBInstanceIdentifier=f"db-{n}", DBInstanceClass="db.m5.large", Engine=["postgres", "mysql"][n % 2],
            AllocatedStorage=[20, 500][n % 2], MasterUsername="root", MasterUserPassword="password-1",
            StorageType=["gp2", "gp3"][n // 2 % 2], MultiAZ=n % 3 == 0, StorageEncrypted=n % 4 != 0,
            PubliclyAccessible=n % 5 == 0, DeletionProtection=n % 2 == 1, BackupRetentionPeriod=n % 10,
            AutoMinorVersionUpgrade=n % 3 != 1, Tags=tags(n))
        if n % 7 == 0:
            rds.create_db_snapshot(DBSnapshotIdentifier=f"kept-{n}", DBInstanceIdentifier=f"db-{n}", Tags=tags(n))
    for n in range(COUNT // 4):
        rds.create_db_cluster(
            DBClusterIdentifier=f"cluster-{n}", Engine="aurora-mysql", MasterUsername="root",
            MasterUserPassword="password-1", DeletionProtection=n % 2 == 0, StorageEncrypted=n % 3 == 0)


def balancers(elb, subnets):
    for n in range(COUNT // 2):
        arn = elb.create_load_balancer(
            Name=f"lb-{n}", Subnets=subnets, Type=["application", "network"][n % 2],
            Scheme=["internet-facing", "internal"][n % 3 == 0])["LoadBalancers"][0]["LoadBalancerArn"]
        elb.modify_load_balancer_attributes(
            LoadBalancerArn=arn,
            Attributes=[{"Key": "deletion_protection.enabled", "Value": "true" if n % 4 == 1 else "false"}])


def buckets(s3):
    for n in range(COUNT):
        name = f"bucket-{n}"
        s3.create_bucket(Bucket=name)
        if n % 2:
            s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
        if n % 3:
            s3.put_bucket_lifecycle_configuration(Bucket=name, LifecycleConfiguration={"Rules": [
                {"ID": "old", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 90}}]})
        if n % 4:
            s3.put_public_access_block(Bucket=name, PublicAccessBlockConfiguration={
                "BlockPublicAcls": True, "IgnorePublicAcls": True, "BlockPublicPolicy": True,
                "RestrictPublicBuckets": True})


def functions(iam, lam):
    role = iam.create_role(
        RoleName="run", AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": []}))["Role"]["Arn"]
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as z:
        z.writestr("main.py", "def handler(event, context): return 1\n")
    for n in range(COUNT):
        extra = {"DeadLetterConfig": {"TargetArn": f"arn:aws:sqs:{REGION}:123456789012:queue-0"}} if n % 3 == 0 else {}
        lam.create_function(
            FunctionName=f"f-{n}", Role=role, Handler="main.handler", Code={"ZipFile": code.getvalue()},
            Runtime=["python3.7", "python3.12", "nodejs20.x"][n % 3], MemorySize=[128, 1024, 3008][n % 3],
            Timeout=[3, 60, 900][n % 3], Architectures=[["x86_64"], ["arm64"]][n % 2], **extra)


def rest(subnets):
    logs, watch, sqs, ecr = client("logs"), client("cloudwatch"), client("sqs"), client("ecr")
    for n in range(COUNT):
        logs.create_log_group(logGroupName=f"/app/{n}", tags={"Name": f"n{n}"})
        if n % 3:
            logs.put_retention_policy(logGroupName=f"/app/{n}", retentionInDays=[30, 365][n % 2])
        watch.put_metric_alarm(
            AlarmName=f"alarm-{n}", MetricName="CPUUtilization", Namespace="AWS/EC2", Period=60, EvaluationPeriods=1,
            Statistic="Average", Threshold=90.0, ComparisonOperator="GreaterThanThreshold",
            AlarmActions=[f"arn:aws:sns:{REGION}:123456789012:page"] if n % 2 else [], Tags=tags(n))
        sqs.create_queue(QueueName=f"queue-{n}", Attributes={
            "ReceiveMessageWaitTimeSeconds": ["0", "20"][n % 2]})
        ecr.create_repository(
            repositoryName=f"repo-{n}", imageScanningConfiguration={"scanOnPush": n % 2 == 0})
        if n % 3 == 0:
            ecr.put_lifecycle_policy(repositoryName=f"repo-{n}", lifecyclePolicyText=json.dumps({"rules": [{
                "rulePriority": 1, "selection": {"tagStatus": "untagged", "countType": "imageCountMoreThan",
                                                 "countNumber": 5}, "action": {"type": "expire"}}]}))
    secrets, efs = client("secretsmanager"), client("efs")
    for n in range(COUNT // 2):
        secrets.create_secret(Name=f"secret-{n}", SecretString="value")
        efs.create_file_system(CreationToken=f"fs-{n}", Encrypted=n % 2 == 0)
    groups = client("autoscaling")
    groups.create_launch_configuration(LaunchConfigurationName="lc", ImageId=IMAGE, InstanceType="t3.large")
    for n in range(COUNT // 4):
        groups.create_auto_scaling_group(
            AutoScalingGroupName=f"asg-{n}", LaunchConfigurationName="lc", MinSize=0, MaxSize=n, DesiredCapacity=0,
            VPCZoneIdentifier=subnets[n % 2], HealthCheckType=["EC2", "ELB"][n % 2])
        if n % 3 == 0:
            groups.suspend_processes(AutoScalingGroupName=f"asg-{n}", ScalingProcesses=["AZRebalance"])


def main():
    ec2 = client("ec2")
    _, subnets = network(ec2)
    machines(ec2, subnets)
    volumes(ec2)
    addresses(ec2, subnets)
    databases(client("rds"))
    balancers(client("elbv2"), subnets)
    buckets(client("s3"))
    functions(client("iam"), client("lambda"))
    rest(subnets)


main()
