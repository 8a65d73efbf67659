package aws_test

import (
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/elasticache"
	"github.com/aws/aws-sdk-go-v2/service/opensearch"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
)

// others puts a volume with a snapshot, an address, a bucket, a queue and a repository into moto.
func (s seeder) others() {
	c := ec2.NewFromConfig(s.cfg)
	v, err := c.CreateVolume(s.ctx, &ec2.CreateVolumeInput{
		AvailabilityZone: sdk.String(region + "a"), Size: sdk.Int32(40), VolumeType: ec2types.VolumeTypeGp3,
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeVolume,
			Tags: []ec2types.Tag{{Key: sdk.String("Name"), Value: sdk.String("data")}}}},
	})
	s.succeeded("create volume", err)
	_, err = c.CreateSnapshot(s.ctx, &ec2.CreateSnapshotInput{VolumeId: v.VolumeId})
	s.succeeded("create snapshot", err)
	_, err = c.AllocateAddress(s.ctx, &ec2.AllocateAddressInput{Domain: ec2types.DomainTypeVpc})
	s.succeeded("allocate address", err)
	bucket := s3.NewFromConfig(s.cfg, func(o *s3.Options) { o.UsePathStyle = true })
	_, err = bucket.CreateBucket(s.ctx,
		&s3.CreateBucketInput{Bucket: sdk.String("logs"),
			CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: region}})
	s.succeeded("create bucket", err)
	_, err = bucket.PutBucketVersioning(s.ctx,
		&s3.PutBucketVersioningInput{Bucket: sdk.String("logs"),
			VersioningConfiguration: &s3types.VersioningConfiguration{Status: "Enabled"}})
	s.succeeded("version bucket", err)
	_, err = bucket.PutPublicAccessBlock(s.ctx,
		&s3.PutPublicAccessBlockInput{Bucket: sdk.String("logs"),
			PublicAccessBlockConfiguration: &s3types.PublicAccessBlockConfiguration{
				BlockPublicAcls: sdk.Bool(true), BlockPublicPolicy: sdk.Bool(true), IgnorePublicAcls: sdk.Bool(true),
				RestrictPublicBuckets: sdk.Bool(true),
			}})
	s.succeeded("block bucket", err)
	_, err = bucket.PutBucketPolicy(s.ctx, &s3.PutBucketPolicyInput{Bucket: sdk.String("logs"), Policy: sdk.String(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}`,
	)})
	s.succeeded("put policy", err)
	_, err = elasticache.NewFromConfig(s.cfg).CreateCacheCluster(s.ctx, &elasticache.CreateCacheClusterInput{
		CacheClusterId: sdk.String("sessions"), Engine: sdk.String("redis"),
		CacheNodeType: sdk.String("cache.t3.small"), NumCacheNodes: sdk.Int32(1),
	})
	s.succeeded("create cache", err)
	_, err = opensearch.NewFromConfig(s.cfg).CreateDomain(s.ctx,
		&opensearch.CreateDomainInput{DomainName: sdk.String("search")})
	s.succeeded("create domain", err)
	_, err = sqs.NewFromConfig(s.cfg).CreateQueue(s.ctx,
		&sqs.CreateQueueInput{QueueName: sdk.String("orders"), Tags: map[string]string{"team": "a"}})
	s.succeeded("create queue", err)
	_, err = ecr.NewFromConfig(s.cfg).CreateRepository(s.ctx,
		&ecr.CreateRepositoryInput{RepositoryName: sdk.String("app")})
	s.succeeded("create repository", err)
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
	for _, kind := range []string{"aws-ebs", "aws-ebs-snapshot", "aws-eip", "aws-s3", "aws-sqs", "aws-ecr",
		"aws-elasticache", "aws-opensearch"} {
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
	_, err := cloudwatch.NewFromConfig(motoConfig(url)).PutMetricData(t.Context(), &cloudwatch.PutMetricDataInput{
		Namespace: sdk.String("AWS/EC2"), MetricData: []cwtypes.MetricDatum{{
			MetricName: sdk.String("CPUUtilization"), Timestamp: sdk.Time(at.Add(time.Minute)), Value: sdk.Float64(42),
			Dimensions: []cwtypes.Dimension{{Name: sdk.String("InstanceId"), Value: sdk.String("i-1")}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
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
