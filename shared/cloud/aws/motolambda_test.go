package aws_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

// functions makes functions that may be stopped, one of them with a reservation. moto knows no provisioned concurrency.
func (s seeder) functions() cloudtest.Group {
	s.t.Helper()
	g := cloudtest.Group{Kind: cloud.AWSLambda, Region: region, Tied: map[string]string{},
		Missing: own("lambda", "function:nothing")}
	g.Missing = strings.Replace(g.Missing, "111122223333", motoAccount, 1)
	s.role()
	c := lambda.NewFromConfig(s.cfg)
	for n, tags := range []map[string]string{{"lamplighter:allow-stop": "true"}, {"lamplighter:allow-stop": "true"},
		{"team": "data"}} {
		out, err := c.CreateFunction(s.ctx, &lambda.CreateFunctionInput{
			FunctionName: new(fmt.Sprint("jobs-", n)), Role: new("arn:aws:iam::" + motoAccount + ":role/jobs"),
			Runtime: types.RuntimePython312,
			Handler: new("main.handle"), Code: &types.FunctionCode{ZipFile: archive(s.t)}, Tags: tags,
		})
		if err != nil {
			s.t.Fatal(err)
		}
		if n == 0 {
			five := int32(5)
			if _, err = c.PutFunctionConcurrency(s.ctx,
				&lambda.PutFunctionConcurrencyInput{FunctionName: out.FunctionArn,
					ReservedConcurrentExecutions: &five}); err != nil {
				s.t.Fatal(err)
			}
		}
		if n < 2 {
			g.Free = append(g.Free, *out.FunctionArn)
		} else {
			g.Tied[*out.FunctionArn] = "lamplighter:allow-stop"
		}
	}
	return g
}

func archive(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, err := z.Create("main.py")
	if err == nil {
		_, err = f.Write([]byte("def handle(event, context): pass"))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// role makes the role of the functions, without IAM's SDK, which nothing else needs.
func (s seeder) role() {
	s.t.Helper()
	form := url.Values{"Action": {"CreateRole"}, "Version": {"2010-05-08"}, "RoleName": {"jobs"},
		"AssumeRolePolicyDocument": {`{"Version":"2012-10-17","Statement":[]}`}}
	r, err := http.NewRequestWithContext(s.ctx, http.MethodPost, *s.cfg.BaseEndpoint, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization",
		"AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		s.t.Fatalf("CreateRole: %s", resp.Status)
	}
}

func TestMotoStopsAndStartsFunctions(t *testing.T) {
	url := moto(t)
	s := seeder{t: t, ctx: t.Context(), cfg: motoConfig(url)}
	cloudtest.Run(t, aws.New(motoOptions()),
		cloudtest.Fixture{Account: motoKeys(url), NativeID: motoAccount, Groups: []cloudtest.Group{s.functions()}})
}
