package aws_test

import (
	"bytes"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
)

// In moto, S3 works, Cost Explorer returns configured answers, and the services of exports are missing. The account
// therefore names its bucket.
func TestMotoDeliversTheBillsOfASampleBucket(t *testing.T) {
	url := moto(t)
	s := seeder{t: t, ctx: t.Context(), cfg: motoConfig(url)}
	store := s3.NewFromConfig(s.cfg, func(o *s3.Options) { o.UsePathStyle, o.Region = true, bucketRegion })
	_, err := store.CreateBucket(s.ctx, &s3.CreateBucketInput{
		Bucket:                    sdk.String(bucket),
		CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: bucketRegion},
	})
	s.succeeded("create bucket", err)
	putReport(t, func(key string, text []byte) {
		_, err := store.PutObject(s.ctx,
			&s3.PutObjectInput{Bucket: sdk.String(bucket), Key: &key, Body: bytes.NewReader(text)})
		s.succeeded("put "+key, err)
	})
	a := motoKeys(url)
	a.Billing = cloud.BillSettings{Source: cloud.CostReport, Bucket: bucket, Export: "koku-local"}
	c, err := aws.New(motoOptions()).Connect(t.Context(), a)
	s.succeeded("connect", err)
	bills := c.(cloud.Biller)
	readsTheSample(t, bills)
	got, err := bills.Deliveries(t.Context(), time.Date(2018, 8, 1, 0, 0, 0, 0, time.UTC))
	s.succeeded("list", err)
	r, err := bills.OpenBill(t.Context(), got[0], got[0].Files[0])
	s.succeeded("open", err)
	key := got[0].Files[0].Name[len("s3://"+bucket+"/"):]
	_, err = store.PutObject(s.ctx,
		&s3.PutObjectInput{Bucket: sdk.String(bucket), Key: &key, Body: bytes.NewReader([]byte("replaced"))})
	s.succeeded("replace", err)
	_, err = r.Read(make([]byte, 100))
	wantClass(t, "read of what was replaced", err, cloud.Moving)
}
