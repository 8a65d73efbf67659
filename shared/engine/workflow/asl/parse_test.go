package asl

import (
	"strings"
	"testing"
)

func TestParseNamesTheStateAndTheField(t *testing.T) {
	one := func(state string) string { return `{"StartAt":"S","States":{"S":` + state + `}}` }
	for name, c := range map[string]struct{ definition, want string }{
		"an unknown field of a state": {
			one(`{"Type":"Pass","Retry":[],"End":true}`),
			`state "S": a Pass state: field "Retry"`,
		},
		"an unknown field of the machine": {`{"StartAt":"S","Extra":1,"States":{}}`, `state machine: field "Extra"`},
		"a field that is written twice":   {one(`{"Type":"Pass","End":true,"End":true}`), `"End" is written twice`},
		"a field of another case":         {one(`{"Type":"Pass","end":true}`), `field "end"`},
		"an unknown type": {
			one(`{"Type":"Activity","End":true}`),
			`state "S": field "Type": "Activity"`,
		},
		"JSONata in one state": {
			one(`{"Type":"Pass","QueryLanguage":"JSONata","End":true}`),
			`field "QueryLanguage": "JSONata"`,
		},
		"Next and End":               {one(`{"Type":"Pass","Next":"S","End":true}`), `exactly one of`},
		"neither Next nor End":       {one(`{"Type":"Pass"}`), `exactly one of`},
		"a state that leads nowhere": {one(`{"Type":"Pass","Next":"X"}`), `leads to "X"`},
		"a state that nothing leads to": {
			`{"StartAt":"S","States":{"S":{"Type":"Succeed"},"U":{"Type":"Succeed"}}}`,
			`"U" cannot be reached`,
		},
		"a StartAt that is absent": {
			`{"StartAt":"X","States":{"S":{"Type":"Succeed"}}}`,
			`there is no state "X"`,
		},
		"another service": {
			one(
				`{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage","End":true}`),
			`field "Resource": "arn:aws:states:::sqs:sendMessage"`,
		},
		"the aws-sdk": {one(
			`{"Type":"Task","Resource":"arn:aws:states:::aws-sdk:ec2:stopInstances","End":true}`), `field "Resource"`},
		"a token with a plain function": {
			one(
				`{"Type":"Task","Resource":"arn:aws:lambda:eu-west-1:1:function:f.waitForTaskToken","End":true}`),
			`field "Resource"`,
		},
		"an invocation's unknown field": {one(
			`{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f",` +
				`"InvocationType":"Event"},"End":true}`), `"InvocationType"`},
		"an invocation of nothing": {
			one(
				`{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{},"End":true}`),
			`"FunctionName" must be a string`,
		},
		"a filter in a path": {
			one(`{"Type":"Pass","InputPath":"$.a[?(@.x)]","End":true}`),
			`field "InputPath"`,
		},
		"a descent in a path": {one(`{"Type":"Pass","InputPath":"$..a","End":true}`), `field "InputPath"`},
		"a negative index":    {one(`{"Type":"Pass","InputPath":"$.a[-1]","End":true}`), `[-1]`},
		"a path that is none": {
			one(`{"Type":"Pass","Parameters":{"a.$":"b"},"End":true}`),
			`field "Parameters": "a.$"`,
		},
		"a computed member twice": {
			one(`{"Type":"Pass","Parameters":{"a.$":"$","a":1},"End":true}`),
			`both given`,
		},
		"an index in a ResultPath": {
			one(`{"Type":"Pass","ResultPath":"$.a[0]","End":true}`),
			`field "ResultPath"`,
		},
		"an unknown intrinsic": {
			one(`{"Type":"Pass","Parameters":{"a.$":"States.Upper($.b)"},"End":true}`),
			`States.Upper`,
		},
		"too few arguments": {
			one(`{"Type":"Pass","Parameters":{"a.$":"States.Hash($.b)"},"End":true}`),
			`takes 2 to 2 arguments, not 1`,
		},
		"an intrinsic without an end": {
			one(`{"Type":"Pass","Parameters":{"a.$":"States.Array('b"},"End":true}`),
			`no closing quote`,
		},
		"States.ALL with another": {one(
			`{"Type":"Task","Resource":"arn:aws:lambda:r:1:function:f","End":true,` +
				`"Retry":[{"ErrorEquals":["A","States.ALL"]}]}`), `element 0 of Retry: field "ErrorEquals"`},
		"States.ALL before the last": {one(
			`{"Type":"Task","Resource":"arn:aws:lambda:r:1:function:f","End":true,` +
				`"Retry":[{"ErrorEquals":["States.ALL"]},{"ErrorEquals":["A"]}]}`), `element 0 of Retry`},
		"an unknown field of a retrier": {one(
			`{"Type":"Task","Resource":"arn:aws:lambda:r:1:function:f","End":true,` +
				`"Retry":[{"ErrorEquals":["A"],"Delay":1}]}`), `field "Delay"`},
		"a shrinking back-off": {one(
			`{"Type":"Task","Resource":"arn:aws:lambda:r:1:function:f","End":true,` +
				`"Retry":[{"ErrorEquals":["A"],"BackoffRate":0.5}]}`), `BackoffRate`},
		"a catcher without Next": {
			one(
				`{"Type":"Task","Resource":"arn:aws:lambda:r:1:function:f","End":true,` +
					`"Catch":[{"ErrorEquals":["A"]}]}`),
			`"Next" is missing`,
		},
		"two ways to wait": {
			one(`{"Type":"Wait","Seconds":1,"SecondsPath":"$.s","End":true}`),
			`exactly one of Seconds`,
		},
		"half a second": {
			one(`{"Type":"Wait","Seconds":0.5,"End":true}`),
			`field "Seconds" must be an integer`,
		},
		"a time that is none": {one(`{"Type":"Wait","Timestamp":"tomorrow","End":true}`), `"tomorrow"`},
		"a rule without Next": {
			one(`{"Type":"Choice","Choices":[{"Variable":"$.a","IsNull":true}]}`),
			`rule 0 of Choices: field "Next"`,
		},
		"two comparisons in a rule": {
			one(
				`{"Type":"Choice","Choices":[{"Variable":"$.a","IsNull":true,"IsString":true,"Next":"S"}]}`),
			`exactly one comparison`,
		},
		"an unknown comparison": {
			one(
				`{"Type":"Choice","Choices":[{"Variable":"$.a","StringContains":"x","Next":"S"}]}`),
			`field "StringContains"`,
		},
		"a JSONata condition": {
			one(`{"Type":"Choice","Choices":[{"Condition":"{% true %}","Next":"S"}]}`),
			`"Condition"`,
		},
		"a number compared with text": {one(
			`{"Type":"Choice","Choices":[{"Variable":"$.a","NumericEquals":"1","Next":"S"}]}`), `cannot compare`},
		"the deprecated Iterator": {one(`{"Type":"Map","End":true,"Iterator":{}}`), `field "Iterator"`},
		"a reader of items": {one(
			`{"Type":"Map","End":true,"ItemReader":{},` +
				`"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Succeed"}}}}`), `field "ItemReader"`},
		"tolerance in an inline Map": {one(
			`{"Type":"Map","End":true,"ToleratedFailureCount":1,` +
				`"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Succeed"}}}}`), `DISTRIBUTED only`},
		"express children": {one(
			`{"Type":"Map","End":true,` +
				`"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"EXPRESS"},` +
				`"StartAt":"I","States":{"I":{"Type":"Succeed"}}}}`), `field "ProcessorConfig"`},
		"a name on two levels": {
			one(
				`{"Type":"Map","End":true,"ItemProcessor":{"StartAt":"S","States":{"S":{"Type":"Succeed"}}}}`),
			`another state of this name`,
		},
		"an inner state's field": {
			one(
				`{"Type":"Map","End":true,` +
					`"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Succeed","End":true}}}}`),
			`state "S.I"`,
		},
		"a variable that is never given": {
			one(`{"Type":"Pass","Parameters":{"a.$":"$x"},"End":true}`),
			`variable $x is assigned nowhere`,
		},
		"a variable of two levels": {
			one(
				`{"Type":"Map","Assign":{"x":1},"End":true,` +
					`"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Pass","Assign":{"x":2},"End":true}}}}`),
			`variable $x is assigned both`,
		},
		"a branch without states": {one(`{"Type":"Parallel","End":true,"Branches":[]}`), `at least one branch`},
		"a timeout of nothing": {
			one(
				`{"Type":"Task","Resource":"arn:aws:lambda:r:1:function:f","TimeoutSeconds":0,"End":true}`),
			`TimeoutSeconds`,
		},
		"an Error and an ErrorPath": {one(`{"Type":"Fail","Error":"E","ErrorPath":"$.e"}`), `both given`},
		"text after the machine": {
			`{"StartAt":"S","States":{"S":{"Type":"Succeed"}}} x`,
			`read state machine`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.definition))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}
