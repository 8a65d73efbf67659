package aws_test

import (
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
)

// others puts a volume with a snapshot, an address, a bucket, a queue and a repository into moto.
func (s seeder) others() {
	volume := s.form("ec2:CreateVolume", ec2Version, "AvailabilityZone", region+"a", "Size", "40", "VolumeType", "gp3",
		"TagSpecification.1.ResourceType", "volume", "TagSpecification.1.Tag.1.Key", "Name",
		"TagSpecification.1.Tag.1.Value", "data")
	s.form("ec2:CreateSnapshot", ec2Version, "VolumeId", volume.text(s, "volumeId"))
	s.form("ec2:AllocateAddress", ec2Version, "Domain", "vpc")
	bucket := s3.NewFromConfig(s.cfg, func(o *s3.Options) { o.UsePathStyle = true })
	_, err := bucket.CreateBucket(s.ctx,
		&s3.CreateBucketInput{
			Bucket:                    sdk.String("logs"),
			CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: region},
		})
	s.succeeded("create bucket", err)
	_, err = bucket.PutBucketVersioning(s.ctx,
		&s3.PutBucketVersioningInput{
			Bucket:                  sdk.String("logs"),
			VersioningConfiguration: &s3types.VersioningConfiguration{Status: "Enabled"},
		})
	s.succeeded("version bucket", err)
	_, err = bucket.PutPublicAccessBlock(s.ctx,
		&s3.PutPublicAccessBlockInput{
			Bucket: sdk.String("logs"),
			PublicAccessBlockConfiguration: &s3types.PublicAccessBlockConfiguration{
				BlockPublicAcls: sdk.Bool(true), BlockPublicPolicy: sdk.Bool(true), IgnorePublicAcls: sdk.Bool(true),
				RestrictPublicBuckets: sdk.Bool(true),
			},
		})
	s.succeeded("block bucket", err)
	_, err = bucket.PutBucketPolicy(s.ctx, &s3.PutBucketPolicyInput{Bucket: sdk.String("logs"), Policy: sdk.String(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":"*",` +
			`"Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}`,
	)})
	s.succeeded("put policy", err)
	s.form("elasticache:CreateCacheCluster", "2015-02-02", "CacheClusterId", "sessions", "Engine", "redis",
		"CacheNodeType", "cache.t3.small", "NumCacheNodes", "1")
	s.rest("es POST /2021-01-01/opensearch/domain", object{"DomainName": "search"})
	s.json("sqs", "AmazonSQS.CreateQueue", object{"QueueName": "orders", "tags": object{"team": "a"}})
	s.json("ecr", "AmazonEC2ContainerRegistry_V20150921.CreateRepository", object{"repositoryName": "app"})
}

func TestMotoListsEverythingElse(t *testing.T) {
	url := moto(t)
	s := seeder{t: t, ctx: t.Context(), cfg: motoConfig(url)}
	s.others()
	c, err := aws.New(motoOptions()).Connect(t.Context(), motoKeys(url))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := listOthers(t, c, region)
	found := map[string]cloud.Resource{}
	for _, r := range got {
		if _, second := found[r.Type]; !second || r.Name == "data" {
			found[r.Type] = r
		}
	}
	for _, kind := range []string{
		"aws-ebs", "aws-ebs-snapshot", "aws-eip", "aws-s3", "aws-sqs", "aws-ecr",
		"aws-elasticache", "aws-opensearch",
	} {
		if _, ok := found[kind]; !ok {
			t.Errorf("no %s among %v", kind, got)
		}
	}
	if v := found["aws-ebs"]; v.Name != "data" || v.Facts["size_gb"] != 40.0 || v.Facts["attachment_count"] != 0.0 {
		t.Errorf("volume: %+v", v)
	}
	for _, r := range got {
		if why := r.Facts[cloud.Unread]; why != nil {
			t.Errorf("%s: moto does not tell %v", r.Type, why)
			break
		}
	}
	if q := found["aws-sqs"]; q.Tags["team"] != "a" || q.Facts["dead_letter"] != false {
		t.Errorf("queue: %+v", q)
	}
	if b := found["aws-s3"]; b.Facts["lifecycle_rules"] != 0.0 || b.Facts["versioning"] != "Enabled" ||
		b.Facts["public_blocked"] != true || b.Facts["tls_only"] != true ||
		b.Facts["logging"] != false || b.Facts["multipart_gb"] != 0.0 {
		t.Errorf("bucket: %+v", b)
	}
}

func TestMotoTellsMetrics(t *testing.T) {
	url := moto(t)
	at := time.Now().UTC().Truncate(time.Hour).Add(-2 * time.Hour)
	s := seeder{t: t, ctx: t.Context(), cfg: motoConfig(url)}
	s.form("monitoring:PutMetricData", "2010-08-01", "Namespace", "AWS/EC2",
		"MetricData.member.1.MetricName", "CPUUtilization", "MetricData.member.1.Value", "42",
		"MetricData.member.1.Timestamp", at.Add(time.Minute).Format(time.RFC3339),
		"MetricData.member.1.Dimensions.member.1.Name", "InstanceId",
		"MetricData.member.1.Dimensions.member.1.Value", "i-1")
	c, err := aws.New(motoOptions()).Connect(t.Context(), motoKeys(url))
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.(cloud.Metered).Metrics(t.Context(), cloud.MetricRequest{
		Type: "aws-ec2", Region: region, UIDs: []string{"i-1", "i-2"}, Measures: cloud.MeasuresOf("aws-ec2"),
		Period: time.Hour, From: at, To: at.Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range got.Points {
		if p.UID != "i-1" || len(p.Values) != 1 || p.Values[0] != 42 {
			t.Errorf("%+v", p)
		}
	}
	if len(got.Points) != 2 { // its average and its greatest
		t.Errorf("%+v; want two statistics of one instance", got)
	}
}
