package iampolicy

import (
	"testing"
)

// leading are partition keys of a request to DynamoDB.
func leading(keys ...string) map[string][]string {
	return map[string][]string{"dynamodb:LeadingKeys": keys}
}

const table = "arn:aws:dynamodb:eu-west-1:123456789012:table/t"

func TestDecide_AsTheUserGuideSays(t *testing.T) {
	const (
		byKey = `{"Effect":"Allow","Action":["dynamodb:GetItem","dynamodb:Query"],"Resource":"` + table + `",` +
			`"Condition":{"Null":{"dynamodb:LeadingKeys":"false"},` +
			`"ForAllValues:StringLike":{"dynamodb:LeadingKeys":["ORG#*#RES","RATE#*"]}}}`
		unguarded = `{"Effect":"Allow","Action":"dynamodb:*","Resource":"*",` +
			`"Condition":{"ForAllValues:StringLike":{"dynamodb:LeadingKeys":["RATE#*"]}}}`
		appending = `{"Effect":"Allow","Action":"dynamodb:PutItem","Resource":"*","Condition":` +
			`{"ForAnyValue:StringEquals":{"dynamodb:EnclosingOperation":"TransactWriteItems"}}}`
		sealing = `{"Effect":"Allow","Action":"kms:Decrypt","Resource":"*","Condition":` +
			`{"StringEquals":{"kms:EncryptionContext:kind":["mail","channel"]}}}`
		roles = `{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"arn:aws:iam::*:role/*"},` +
			`{"Effect":"Deny","Action":"sts:AssumeRole","Resource":"arn:aws:iam::123456789012:role/*"}`
	)
	for name, c := range map[string]struct {
		statements string
		request    Request
		want       Decision
	}{
		"a key of the pattern": {byKey, Request{"dynamodb:GetItem", table, leading("ORG#a#RES")}, Allowed},
		"an action in other case": {
			byKey, Request{"DynamoDB:getitem", table, map[string][]string{"DynamoDB:leadingkeys": {"RATE#1"}}}, Allowed,
		},
		"a key of another partition": {
			byKey,
			Request{"dynamodb:GetItem", table, leading("ORG#a#SSO")},
			ImplicitlyDenied,
		},
		"a key in other case": {
			byKey,
			Request{"dynamodb:GetItem", table, leading("org#a#RES")},
			ImplicitlyDenied,
		},
		"one key of two is another's": {
			byKey,
			Request{"dynamodb:GetItem", table, leading("ORG#a#RES", "SESS#1")},
			ImplicitlyDenied,
		},
		"two keys of two patterns": {
			byKey,
			Request{"dynamodb:GetItem", table, leading("ORG#a#RES", "RATE#1")},
			Allowed,
		},
		"another action": {
			byKey,
			Request{"dynamodb:PutItem", table, leading("ORG#a#RES")},
			ImplicitlyDenied,
		},
		"another table": {
			byKey,
			Request{"dynamodb:GetItem", table + "2", leading("ORG#a#RES")},
			ImplicitlyDenied,
		},
		"no key":                        {byKey, Request{"dynamodb:Query", table, nil}, ImplicitlyDenied},
		"no key, and no Null that asks": {unguarded, Request{"dynamodb:Scan", table, nil}, Allowed},
		"a put in a transaction": {
			appending,
			Request{
				"dynamodb:PutItem", table,
				map[string][]string{"dynamodb:EnclosingOperation": {"TransactWriteItems"}},
			},
			Allowed,
		},
		"a put by itself": {
			appending,
			Request{"dynamodb:PutItem", table, leading("x")},
			ImplicitlyDenied,
		},
		"one of two values": {
			sealing,
			Request{"kms:Decrypt", "k", map[string][]string{"kms:EncryptionContext:kind": {"channel"}}},
			Allowed,
		},
		"another value": {
			sealing,
			Request{"kms:Decrypt", "k", map[string][]string{"kms:EncryptionContext:kind": {"cloud-account"}}},
			ImplicitlyDenied,
		},
		"a key that is absent": {sealing, Request{"kms:Decrypt", "k", nil}, ImplicitlyDenied},
		"a role of another account": {
			roles,
			Request{"sts:AssumeRole", "arn:aws:iam::210987654321:role/x/y", nil},
			Allowed,
		},
		"a denied role, which is allowed": {
			roles,
			Request{"sts:AssumeRole", "arn:aws:iam::123456789012:role/x", nil},
			ExplicitlyDenied,
		},
		"an action besides NotAction": {
			`{"Effect":"Allow","NotAction":"iam:*","Resource":"*"}`,
			Request{"s3:GetObject", "x", nil},
			Allowed,
		},
		"an action of NotAction": {
			`{"Effect":"Allow","NotAction":"iam:*","Resource":"*"}`,
			Request{"iam:GetRole", "x", nil},
			ImplicitlyDenied,
		},
		"a resource of NotResource": {
			`{"Effect":"Allow","Action":"*","NotResource":"x*"}`,
			Request{"iam:GetRole", "xy", nil},
			ImplicitlyDenied,
		},
		"a question mark is one character": {
			`{"Effect":"Allow","Action":"a:b","Resource":"s-??"}`,
			Request{"a:b", "s-abc", nil},
			ImplicitlyDenied,
		},
		"a negated operator without a key": {
			`{"Effect":"Allow","Action":"a:b","Resource":"*","Condition":{"StringNotEquals":{"k":"v"}}}`,
			Request{"a:b", "x", nil},
			Allowed,
		},
		"IfExists without a key": {
			`{"Effect":"Allow","Action":"a:b","Resource":"*","Condition":{"StringEqualsIfExists":{"k":"v"}}}`,
			Request{"a:b", "x", nil},
			Allowed,
		},
		"an ARN's star stays in its part": {
			`{"Effect":"Allow","Action":"a:b","Resource":"*","Condition":{"ArnLike":{"k":"arn:aws:s3:*:queue"}}}`,
			Request{"a:b", "x", map[string][]string{"k": {"arn:aws:s3:eu-west-1:1:queue"}}},
			ImplicitlyDenied,
		},
	} {
		t.Run(name, func(t *testing.T) {
			statements, err := Parse([]byte(`{"Version":"2012-10-17","Statement":[` + c.statements + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Decide(statements, c.request); got != c.want || err != nil {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestParse_RefusesWhatItDoesNotKnow(t *testing.T) {
	for name, statement := range map[string]string{
		"a principal":  `{"Effect":"Allow","Action":"a:b","Resource":"*","Principal":"*"}`,
		"no resource":  `{"Effect":"Allow","Action":"a:b"}`,
		"no effect":    `{"Action":"a:b","Resource":"*"}`,
		"an intrinsic": `{"Effect":"Allow","Action":"a:b","Resource":{"Ref":"Table"}}`,
	} {
		if _, err := Parse([]byte(`{"Statement":[` + statement + `]}`)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	statements, err := Parse([]byte(`{"Statement":[{"Effect":"Allow","Action":"a:b","Resource":"*","Condition":` +
		`{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Decide(statements, Request{"a:b", "x", nil}); err == nil {
		t.Error("an unknown operator is decided")
	}
}
