package aws_test

import (
	"errors"
	"net/http"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

func TestIdentityToken_IsForOneAudience(t *testing.T) {
	tw := &awstwin.Cloud{}
	got, err := aws.New(options(tw)).IdentityToken(t.Context(), "lamplighter/org_1")
	if err != nil || got != "jwt for lamplighter/org_1" {
		t.Fatalf("IdentityToken = %q, %v", got, err)
	}
	calls := tw.Calls("sts:GetWebIdentityToken")
	if len(calls) != 1 || calls[0].Params["DurationSeconds"] != "300" ||
		calls[0].Params["SigningAlgorithm"] != "RS256" {
		t.Errorf("asked for as %+v; want one that is good for minutes", calls)
	}
}

func TestIdentityToken_AnInstallationThatMayMakeNoneIsToldSo(t *testing.T) {
	for name, tt := range map[string]struct {
		fault awstwin.Fault
		class cloud.Class
		code  string
	}{
		"denied": {awstwin.Fault{
			Code: "AccessDenied", Message: "not authorized", Status: http.StatusForbidden,
			Times: -1,
		}, cloud.Refused, "NoIdentity"},
		"throttled": {
			awstwin.Fault{Code: "Throttling", Message: "slow", Status: http.StatusBadRequest, Times: -1},
			cloud.Throttled, "Throttling",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tw := &awstwin.Cloud{}
			tt.fault.Op = "sts:GetWebIdentityToken"
			tw.AddFault(tt.fault)
			_, err := aws.New(options(tw)).IdentityToken(t.Context(), "lamplighter/org_1")
			if e, ok := errors.AsType[*cloud.Error](err); !ok || e.Class != tt.class || e.Code != tt.code {
				t.Errorf("IdentityToken = %v; want class %d and code %s", err, tt.class, tt.code)
			}
		})
	}
}

// Each function has its own role, but other clouds trust a single subject.
func TestIdentityToken_IsOfTheRoleThatIsNamed(t *testing.T) {
	const role = "arn:aws:iam::111122223333:role/lamplighter-prod-clouds"
	tw := &awstwin.Cloud{}
	tw.AddRole(role, "")
	o := options(tw)
	o.Role = role
	p := aws.New(o)
	for range 2 {
		if _, err := p.IdentityToken(t.Context(), "lamplighter/org_1"); err != nil {
			t.Fatal(err)
		}
	}
	assumed := tw.Calls("sts:AssumeRole")
	if len(assumed) != 1 || assumed[0].Params["RoleArn"] != role || assumed[0].Params["ExternalId"] != nil {
		t.Errorf("assumed %+v; want the role once, for both tokens", assumed)
	}
	if n := len(tw.Calls("sts:GetWebIdentityToken")); n != 2 {
		t.Errorf("%d tokens", n)
	}
	o.Role += "-other"
	if _, err := aws.New(o).IdentityToken(t.Context(), "lamplighter/org_1"); cloud.ClassOf(err) != cloud.Refused {
		t.Errorf("a role that may not be assumed: %v; want class Refused", err)
	}
}
