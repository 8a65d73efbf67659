package main

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

// fromContext returns the CDK context value of a stage's key, set by `cdk deploy -c <key>:<stage>=…`, or "" if there
// is none.
func fromContext(app awscdk.App, key, stage string) string {
	v, _ := app.Node().TryGetContext(jsii.String(key + ":" + stage)).(string)
	return v
}

// domainOf reads the stage's domain: `-c domain:prod=api.example.com -c certificate:prod=arn:…`.
func domainOf(app awscdk.App, stage string) Domain {
	return Domain{Name: fromContext(app, "domain", stage), Certificate: fromContext(app, "certificate", stage)}
}

// operatorsOf reads the receivers of the stage's alarms: `-c
// operators:prod=ops@example.com,https://hook.example.com/…`.
func operatorsOf(app awscdk.App, stage string) []string {
	return strings.FieldsFunc(fromContext(app, "operators", stage), func(r rune) bool { return r == ',' || r == ' ' })
}
