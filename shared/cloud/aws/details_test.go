package aws_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/details"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// detailed are resources of the index, by their service and the rest of their ARNs.
var detailed = map[string][2]string{
	"security-group/sg-1": {"ec2", "ec2:security-group"}, "security-group/sg-2": {"ec2", "ec2:security-group"},
	"network-interface/eni-1": {"ec2", "ec2:network-interface"}, "vpc/vpc-1": {"ec2", "ec2:vpc"},
	"vpc/vpc-2": {"ec2", "ec2:vpc"}, "vpc-endpoint/vpce-1": {"ec2", "ec2:vpc-endpoint"},
	"vpn-connection/vpn-1": {"ec2", "ec2:vpn-connection"}, "image/ami-7": {"ec2", "ec2:image"},
	"capacity-reservation/cr-1": {"ec2", "ec2:capacity-reservation"},
	"dedicated-host/h-1":        {"ec2", "ec2:dedicated-host"}, "file-system/fs-1": {"elasticfilesystem", ""},
	"file-system/fs-2": {"fsx", ""}, "file-system/fs-3": {"fsx", ""}, "log-group:/app/web": {"logs", ""},
	"log-group:/app/old": {"logs", ""}, "secret:db-AbCdEf": {"secretsmanager", ""},
	"secret:new-AbCdEf": {"secretsmanager", ""},
	"snapshot:before":   {"rds", ""}, "snapshot:orphan": {"rds", ""}, "rep:ABC": {"dms", ""},
	"dxcon/dxcon-1": {"directconnect", ""}, "dxcon/dxcon-2": {"directconnect", ""}, "server/s-1": {"transfer", ""},
	"cache/orders": {"dax", ""}, "cluster/shop": {"ecs", ""}, "alarm:disk": {"cloudwatch", ""},
	"alarm:all": {"cloudwatch", ""},
}

// tellDetails adds them to the twin, with an index, and with the answers of their services.
func tellDetails(tw *awstwin.Cloud) {
	tw.Explore(true)
	for rest, of := range detailed {
		native := of[1]
		if native == "" {
			word, _, _ := strings.Cut(strings.ReplaceAll(rest, "/", ":"), ":")
			native = of[0] + ":" + word
		}
		tw.AddIndexed(awstwin.Indexed{
			ARN: own(of[0], rest), Type: native, Region: region, Tags: map[string]string{"team": "a"},
		})
	}
	tw.AddCollected(awstwin.Collected{Service: "workspaces", ID: "ws-1", Region: region, Mode: "AUTO_STOP"})
	tw.AddCollected(awstwin.Collected{Service: "lightsail", ID: "blog", Region: region, State: "stopped"})
	for op, answer := range detailAnswers {
		tw.Tell(op, answer)
	}
}

var detailAnswers = map[string]string{
	"ec2:DescribeNetworkInterfaces": `<networkInterfaceSet><item><networkInterfaceId>eni-1</networkInterfaceId>
		<status>available</status><requesterManaged>false</requesterManaged><vpcId>vpc-1</vpcId>
		<groupSet><item><groupId>sg-1</groupId></item></groupSet></item>
		<item><networkInterfaceId>eni-2</networkInterfaceId><status>in-use</status><vpcId>vpc-1</vpcId>
		<groupSet><item><groupId>sg-1</groupId></item></groupSet></item></networkInterfaceSet>`,
	"ec2:DescribeSecurityGroups": `<securityGroupInfo><item><groupId>sg-1</groupId><groupName>web</groupName>
		<ipPermissions><item><ipProtocol>tcp</ipProtocol><fromPort>443</fromPort><toPort>443</toPort>
		<ipRanges><item><cidrIp>0.0.0.0/0</cidrIp></item></ipRanges></item>
		<item><ipProtocol>tcp</ipProtocol><fromPort>20</fromPort><toPort>25</toPort>
		<ipv6Ranges><item><cidrIpv6>::/0</cidrIpv6></item></ipv6Ranges></item>
		<item><ipProtocol>tcp</ipProtocol><fromPort>5432</fromPort><toPort>5432</toPort>
		<ipRanges><item><cidrIp>10.0.0.0/8</cidrIp></item></ipRanges>
		<groups><item><groupId>sg-2</groupId></item></groups></item>
		<item><ipProtocol>icmp</ipProtocol><fromPort>-1</fromPort><toPort>-1</toPort>
		<ipRanges><item><cidrIp>0.0.0.0/0</cidrIp></item></ipRanges></item></ipPermissions></item>
		<item><groupId>sg-2</groupId><groupName>default</groupName><ipPermissions><item><ipProtocol>-1</ipProtocol>
		<ipRanges><item><cidrIp>0.0.0.0/0</cidrIp></item></ipRanges>
		<groups><item><groupId>sg-2</groupId></item></groups></item></ipPermissions></item></securityGroupInfo>`,
	"ec2:DescribeVpcs": `<vpcSet><item><vpcId>vpc-1</vpcId><isDefault>true</isDefault></item>
		<item><vpcId>vpc-2</vpcId><isDefault>false</isDefault></item></vpcSet>`,
	"ec2:DescribeFlowLogs": `<flowLogSet><item><resourceId>vpc-1</resourceId></item></flowLogSet>`,
	"ec2:DescribeVpcEndpoints": `<vpcEndpointSet><item><vpcEndpointId>vpce-1</vpcEndpointId><state>Rejected</state>
		<vpcEndpointType>Interface</vpcEndpointType>
		<subnetIdSet><item>subnet-1</item><item>subnet-2</item></subnetIdSet>
		<vpcId>vpc-1</vpcId><serviceName>com.amazonaws.eu-west-1.s3</serviceName></item></vpcEndpointSet>`,
	"ec2:DescribeVpnConnections": `<vpnConnectionSet><item><vpnConnectionId>vpn-1</vpnConnectionId>
		<state>available</state><vgwTelemetry><item><status>UP</status></item><item><status>DOWN</status></item>
		</vgwTelemetry></item></vpnConnectionSet>`,
	"ec2:DescribeImages": `<imagesSet><item><imageId>ami-7</imageId><isPublic>true</isPublic></item>
		<item><imageId>ami-1</imageId><creationDate>2025-01-02T03:04:05.000Z</creationDate></item></imagesSet>`,
	"ec2:DescribeCapacityReservations": `<capacityReservationSet><item>
		<capacityReservationId>cr-1</capacityReservationId>
		<state>active</state></item></capacityReservationSet>`,
	"ec2:DescribeHosts": `<hostSet><item><hostId>h-1</hostId><state>available</state></item></hostSet>`,
	"elasticfilesystem:DescribeFileSystems": `{"FileSystems":[{"FileSystemArn":"` +
		own("elasticfilesystem", "file-system/fs-1") + `","NumberOfMountTargets":2,"Encrypted":false,
		"SizeInBytes":{"Value":250000000000},"ThroughputMode":"provisioned","ProvisionedThroughputInMibps":64}]}`,
	"fsx:DescribeFileSystems": `{"FileSystems":[{"ResourceARN":"` + own("fsx", "file-system/fs-2") + `",
		"StorageCapacity":1000,"WindowsConfiguration":{"DeploymentType":"MULTI_AZ_1","ThroughputCapacity":32}},
		{"ResourceARN":"` + own("fsx", "file-system/fs-3") + `","StorageCapacity":1200,
		"LustreConfiguration":{"DeploymentType":"SCRATCH_2"}}]}`,
	"logs:DescribeLogGroups": `{"logGroups":[{"arn":"` + own("logs", "log-group:/app/web") + `:*",
		"storedBytes":12000000000,
		"retentionInDays":30,"logGroupClass":"STANDARD"},{"arn":"` + own("logs", "log-group:/app/old") + `:*"}]}`,
	"secretsmanager:ListSecrets": `{"SecretList":[{"ARN":"` + own("secretsmanager", "secret:db-AbCdEf") + `",
		"RotationEnabled":true,"OwningService":"rds","CreatedDate":1767323045,"LastAccessedDate":1767312000},
		{"ARN":"` + own("secretsmanager", "secret:new-AbCdEf") + `","CreatedDate":1767323045}]}`,
	"rds:DescribeDBSnapshots": `<DBSnapshots><DBSnapshot>
		<DBSnapshotArn>` + own("rds", "snapshot:before") + `</DBSnapshotArn>
		<DBInstanceIdentifier>orders</DBInstanceIdentifier><SnapshotType>manual</SnapshotType></DBSnapshot>
		<DBSnapshot><DBSnapshotArn>` + own("rds", "snapshot:orphan") + `</DBSnapshotArn>
		<DBInstanceIdentifier>gone</DBInstanceIdentifier><SnapshotType>automated</SnapshotType></DBSnapshot>
		</DBSnapshots>`,
	"dms:DescribeReplicationInstances": `{"ReplicationInstances":[{
		"ReplicationInstanceArn":"` + own("dms", "rep:ABC") + `",
		"ReplicationInstanceStatus":"available","MultiAZ":true}]}`,
	"dms:DescribeReplicationTasks": `{"ReplicationTasks":[{"ReplicationInstanceArn":"` + own("dms", "rep:ABC") + `",
		"Status":"running"},{"ReplicationInstanceArn":"` + own("dms", "rep:ABC") + `","Status":"stopped"}]}`,
	"directconnect:DescribeConnections": `{"connections":[{"connectionId":"dxcon-1","connectionState":"available",
		"bandwidth":"10Gbps"},{"connectionId":"dxcon-2","connectionState":"down","bandwidth":"500Mbps",
		"lagId":"dxlag-1"}]}`,
	"directconnect:DescribeVirtualInterfaces": `{"virtualInterfaces":[{"connectionId":"dxcon-1",
		"virtualInterfaceState":"available"},{"connectionId":"dxcon-1","virtualInterfaceState":"deleted"}]}`,
	"transfer:ListServers": `{"Servers":[{"State":"ONLINE",
		"Arn":"` + own("transfer", "server/s-1") + `"}]}`,
	"dax:DescribeClusters": `{"Clusters":[{"TotalNodes":3,
		"ClusterArn":"` + own("dax", "cache/orders") + `"}]}`,
	"workspaces:DescribeWorkspacesConnectionStatus": `{"WorkspacesConnectionStatus":[{"WorkspaceId":"ws-1"}]}`,
	"ecs:DescribeClusters": `{"clusters":[{"clusterArn":"` + own("ecs", "cluster/shop") + `",
		"registeredContainerInstancesCount":4,"runningTasksCount":0}]}`,
	"monitoring:DescribeAlarms": `<MetricAlarms><member><AlarmArn>` + own("cloudwatch", "alarm:disk") + `</AlarmArn>
		<StateValue>INSUFFICIENT_DATA</StateValue><StateUpdatedTimestamp>2026-01-02T03:04:05Z</StateUpdatedTimestamp>
		</member></MetricAlarms><CompositeAlarms><member><AlarmArn>` + own("cloudwatch", "alarm:all") + `</AlarmArn>
		<StateValue>OK</StateValue><AlarmActions><member>arn:x</member></AlarmActions></member></CompositeAlarms>`,
}

func TestDetails_AreWhatTheServicesSay(t *testing.T) {
	tw, c := connect(t)
	tw.AddDatabase(awstwin.Database{ID: "orders", Region: region, Engine: "postgres", Class: "db.m5.large"})
	tellDetails(tw)
	got, _ := listOthers(t, c, region)
	made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for uid, want := range map[string]cloud.Facts{
		own("ec2", "security-group/sg-1"): {
			"interface_count": 2.0, "is_default": false, "open_ports": []string{"22", "443"}, "referenced": false,
		},
		own("ec2", "security-group/sg-2"): {
			"interface_count": 0.0, "is_default": true, "open_ports": []string{"all"}, "referenced": true,
		},
		own("ec2", "network-interface/eni-1"): {"requester_managed": false, "state": "available"},
		own("ec2", "vpc/vpc-1"):               {"flow_logs": true, "interface_count": 2.0, "is_default": true},
		own("ec2", "vpc/vpc-2"):               {"flow_logs": false, "interface_count": 0.0, "is_default": false},
		own("ec2", "vpc-endpoint/vpce-1"): {
			"endpoint_type": "Interface", "state": "rejected", "subnet_count": 2.0,
		},
		own("ec2", "vpn-connection/vpn-1"):      {"state": "available", "tunnels_total": 2.0, "tunnels_up": 1.0},
		own("ec2", "image/ami-7"):               {"public": true},
		own("ec2", "capacity-reservation/cr-1"): {"state": "active"},
		own("ec2", "dedicated-host/h-1"):        {"instance_count": 0.0, "reservation": "", "state": "available"},
		own("elasticfilesystem", "file-system/fs-1"): {
			"encrypted": false, "mount_targets": 2.0, "one_zone": false, "provisioned_mibps": 64.0, "size_gb": 250.0,
			"throughput_mode": "provisioned",
		},
		own("fsx", "file-system/fs-2"): {"multi_az": true, "storage_gb": 1073.741824, "throughput_mbps": 32.0},
		own("fsx", "file-system/fs-3"): {"multi_az": false, "storage_gb": 1288.4901888},
		own("logs", "log-group:/app/web"): {
			"class": "STANDARD", "retention_days": 30.0, "stored_gb": 12.0,
		},
		own("logs", "log-group:/app/old"): {"retention_days": 0.0},
		own("secretsmanager", "secret:db-AbCdEf"): {
			"last_accessed_at": time.Unix(1767312000, 0).UTC(), "owning_service": "rds", "rotation": true,
		},
		own("secretsmanager", "secret:new-AbCdEf"): {
			"last_accessed_at": cloud.Epoch, "owning_service": "", "rotation": false,
		},
		own("rds", "snapshot:before"): {"snapshot_type": "manual", "source_exists": true},
		own("rds", "snapshot:orphan"): {"snapshot_type": "automated", "source_exists": false},
		own("dms", "rep:ABC"):         {"multi_az": true, "running_tasks": 1.0, "state": "available"},
		own("directconnect", "dxcon/dxcon-1"): {
			"bandwidth_mbps": 10000.0, "state": "available", "vif_count": 1.0,
		},
		own("directconnect", "dxcon/dxcon-2"): {"bandwidth_mbps": 500.0, "state": "down"},
		own("transfer", "server/s-1"):         {"state": "ONLINE"},
		own("dax", "cache/orders"):            {"node_count": 3.0},
		own("ecs", "cluster/shop"):            {"instance_count": 4.0, "running_tasks": 0.0},
		own("cloudwatch", "alarm:disk"): {
			"action_count": 0.0, "state": "INSUFFICIENT_DATA", "state_since": made,
		},
		own("cloudwatch", "alarm:all"): {"action_count": 1.0, "state": "OK"},
	} {
		if r, is := got[uid]; !is || fmt.Sprint(r.Facts) != fmt.Sprint(want) {
			t.Errorf("%s:\ngot  %v\nwant %v", uid, r.Facts, want)
		}
	}
	for _, r := range got {
		if r.Type == cloud.AWSWorkSpace && fmt.Sprint(r.Facts) != fmt.Sprint(cloud.Facts{
			"last_login_at": cloud.Epoch, "running_mode": "AUTO_STOP",
		}) || r.Type == cloud.AWSLightsail && fmt.Sprint(r.Facts) != fmt.Sprint(cloud.Facts{"state": "stopped"}) {
			t.Errorf("%s: %v", r.UID, r.Facts)
		}
	}
	if at := got[own("secretsmanager", "secret:db-AbCdEf")].CreatedAt; !at.Equal(made) {
		t.Errorf("the secret was made %s; want %s", at, made)
	}
}

// A service is asked only if the index has found resources of it.
func TestDetails_OfWhatIsNotThereCostNoCall(t *testing.T) {
	tw, c := connect(t)
	tw.Explore(true)
	fill(tw)
	listOthers(t, c, region)
	for op := range detailAnswers {
		if n := len(tw.Calls(op)); n > 0 && op != "ec2:DescribeVpcEndpoints" && op != "ec2:DescribeImages" {
			t.Errorf("%s was called %d times", op, n)
		}
	}
}

// A role from before a permission lists the resources, and says which permission their facts need.
func TestDetails_ThatAreDeniedNameThePermission(t *testing.T) {
	for _, d := range details.All {
		for _, need := range d.Needs {
			if need == "workspaces:DescribeWorkspaces" || need == "rds:DescribeDBInstances" ||
				need == "lightsail:GetInstances" { // they list resources of other kinds too
				continue
			}
			tw, c := connect(t)
			tellDetails(tw)
			op := strings.Replace(need, "cloudwatch:", "monitoring:", 1)
			tw.AddFault(awstwin.Fault{
				Op: op, Code: "AccessDeniedException", Message: "not authorized", Status: 400, Times: -1,
			})
			noted := false
			for page, n := "", 0; n == 0 || page != ""; n++ {
				got, err := c.List(t.Context(), cloud.AWSOthers, region, page)
				if err != nil {
					break
				}
				for _, r := range got.Resources {
					told := fmt.Sprint(r.Facts[cloud.Unread])
					noted = noted || strings.Contains(told, need+": AccessDeniedException")
				}
				page = got.Next
			}
			if !noted {
				t.Errorf("%s: no resource says that it is denied", need)
			}
		}
	}
}
