package aws_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// enter enters a cluster of a new twin.
func enter(t *testing.T, a cloud.Account) (cloud.ClusterEntry, *clock.Manual, *awstwin.Cloud) {
	t.Helper()
	tw, clk := &awstwin.Cloud{}, clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	tw.AddRole("arn:aws:iam::111122223333:role/lamplighter", "ext")
	tw.AddCluster(awstwin.Cluster{
		Name: "prod", Region: region, Endpoint: "https://prod.example.com",
		Authority: []byte("an authority"),
	})
	o := options(tw)
	o.Clock = clk
	c, err := aws.New(o).Connect(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.(cloud.ClusterAccess).EnterCluster(t.Context(), region, "prod")
	if err != nil {
		t.Fatal(err)
	}
	return e, clk, tw
}

func tokenOf(t *testing.T, e cloud.ClusterEntry) (string, *url.URL) {
	t.Helper()
	token, err := e.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	raw, ok := strings.CutPrefix(token, "k8s-aws-v1.")
	plain, err := base64.RawURLEncoding.DecodeString(raw)
	if err != nil || !ok {
		t.Fatalf("token %q: %v", token, err)
	}
	u, err := url.Parse(string(plain))
	if err != nil {
		t.Fatal(err)
	}
	return token, u
}

// The test computes the signature again by AWS's published steps: it is valid only for a request with the cluster's
// name.
func TestEKSToken_IsASignedQuestionWhoCallsThatNamesTheCluster(t *testing.T) {
	e, _, _ := enter(t, keys(awstwin.AccessKey))
	if e.Server != "https://prod.example.com" || string(e.Authority) != "an authority" {
		t.Errorf("entry %+v", e)
	}
	_, u := tokenOf(t, e)
	q := u.Query()
	if u.Scheme != "https" || u.Host != "sts."+region+".amazonaws.com" || q.Get("Action") != "GetCallerIdentity" ||
		q.Get("X-Amz-Expires") != "60" {
		t.Errorf("the token asks %s", u)
	}
	if got := q.Get("X-Amz-SignedHeaders"); got != "host;x-k8s-aws-id" {
		t.Errorf("signed headers %q", got)
	}
	want := q.Get("X-Amz-Signature")
	q.Del("X-Amz-Signature")
	if got := signature(q, u.Host, "prod"); got != want {
		t.Errorf("signature %s; want %s", want, got)
	}
	if signature(q, u.Host, "stage") == want {
		t.Error("the token opens another cluster")
	}
}

func signature(q url.Values, host, cluster string) string {
	day := q.Get("X-Amz-Date")[:8]
	scope := day + "/" + region + "/sts/aws4_request"
	empty := sha256.Sum256(nil)
	canonical := strings.Join([]string{
		"GET", "/", strings.ReplaceAll(q.Encode(), "+", "%20"), "host:" + host, "x-k8s-aws-id:" + cluster, "",
		"host;x-k8s-aws-id", hex.EncodeToString(empty[:]),
	}, "\n")
	sum := sha256.Sum256([]byte(canonical))
	key := []byte("AWS4secret")
	for _, part := range []string{
		day, region, "sts", "aws4_request",
		"AWS4-HMAC-SHA256\n" + q.Get("X-Amz-Date") + "\n" + scope + "\n" + hex.EncodeToString(sum[:]),
	} {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(part))
		key = m.Sum(nil)
	}
	return hex.EncodeToString(key)
}

func TestEKSToken_IsKeptForMinutesAndNoLonger(t *testing.T) {
	e, clk, _ := enter(t, keys(awstwin.AccessKey))
	first, _ := tokenOf(t, e)
	clk.Advance(4 * time.Minute)
	if again, _ := tokenOf(t, e); again != first {
		t.Error("each call makes a token, which the cluster has to look at anew")
	}
	clk.Advance(2 * time.Minute)
	if later, u := tokenOf(t, e); later == first || u.Query().Get("X-Amz-Date") != "20260302T090600Z" {
		t.Errorf("after six minutes: %s", u)
	}
}

func TestEKSToken_OfARoleBearsItsSession(t *testing.T) {
	a := keys("")
	a.AuthMethod, a.Credentials = "assume_role",
		map[string]string{"roleArn": "arn:aws:iam::111122223333:role/lamplighter", "externalID": "ext"}
	e, _, tw := enter(t, a)
	_, u := tokenOf(t, e)
	if u.Query().Get("X-Amz-Security-Token") != "token" ||
		!strings.HasPrefix(u.Query().Get("X-Amz-Credential"), "ASIATWINTWINTWIN/") {
		t.Errorf("the token asks %s", u)
	}
	if n := len(tw.Calls("sts:AssumeRole")); n != 1 {
		t.Errorf("the role was assumed %d times", n)
	}
}

func TestEnterCluster_SaysWhyItCannot(t *testing.T) {
	tw, c := connect(t)
	tw.AddCluster(awstwin.Cluster{Name: "young", Region: region, Status: "CREATING"})
	tw.AddCluster(awstwin.Cluster{Name: "inner", Region: region, Endpoint: "https://inner.example.com", Private: true})
	access := c.(cloud.ClusterAccess)
	_, err := access.EnterCluster(t.Context(), region, "inner")
	if wantClass(t, "EnterCluster of a private one", err, cloud.Unsupported); !strings.Contains(err.Error(),
		"the EKS cluster inner is private: its API server has no public endpoint") {
		t.Errorf("%v; want it said that the cluster is private", err)
	}
	for name, want := range map[string]cloud.Class{
		"young": cloud.Moving, "nothing": cloud.NotFound,
		"no name at all": cloud.NotFound,
	} {
		_, err := access.EnterCluster(t.Context(), region, name)
		wantClass(t, "EnterCluster "+name, err, want)
	}
	if calls := tw.Calls("eks:DescribeCluster"); len(calls) != 3 ||
		slices.ContainsFunc(calls, func(k awstwin.Call) bool {
			return k.Region != region
		}) {
		t.Errorf("%+v", calls)
	}
}
