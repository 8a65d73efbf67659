package aws_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

// functions makes functions that may be stopped, one of them with a reservation. moto has no provisioned concurrency.
func (s seeder) functions() cloudtest.Group {
	s.t.Helper()
	g := cloudtest.Group{
		Kind: cloud.AWSLambda, Region: region, Tied: map[string]string{},
		Missing: own("lambda", "function:nothing"),
	}
	g.Missing = strings.Replace(g.Missing, "111122223333", motoAccount, 1)
	s.form("iam:CreateRole", "2010-05-08", "RoleName", "jobs",
		"AssumeRolePolicyDocument", `{"Version":"2012-10-17","Statement":[]}`)
	for n, tags := range []map[string]string{
		{"lamplighter:allow-stop": "true"},
		{"lamplighter:allow-stop": "true"},
		{"team": "data"},
	} {
		name := fmt.Sprint("jobs-", n)
		arn := s.rest("lambda POST /2015-03-31/functions", object{
			"FunctionName": name, "Role": "arn:aws:iam::" + motoAccount + ":role/jobs", "Runtime": "python3.12",
			"Handler": "main.handle", "Code": object{"ZipFile": archive(s.t)}, "Tags": tags,
		}).text(s, "FunctionArn")
		if n == 0 {
			s.rest("lambda PUT /2017-10-31/functions/"+name+"/concurrency",
				object{"ReservedConcurrentExecutions": 5})
		}
		if n < 2 {
			g.Free = append(g.Free, arn)
		} else {
			g.Tied[arn] = "lamplighter:allow-stop"
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

func TestMotoStopsAndStartsFunctions(t *testing.T) {
	url := moto(t)
	s := seeder{t: t, ctx: t.Context(), cfg: motoConfig(url)}
	cloudtest.Run(t, aws.New(motoOptions()),
		cloudtest.Fixture{Account: motoKeys(url), NativeID: motoAccount, Groups: []cloudtest.Group{s.functions()}})
}
