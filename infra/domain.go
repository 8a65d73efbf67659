package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"
)

// setDomain puts the API under the stage's own domain, and disables API Gateway's address.
func (v *service) setDomain(s Stage) {
	domain := awsapigateway.NewCfnDomainName(v.Stack, jsii.String("Domain"), &awsapigateway.CfnDomainNameProps{
		DomainName: jsii.String(s.Domain.Name), RegionalCertificateArn: jsii.String(s.Domain.Certificate),
		SecurityPolicy: jsii.String("TLS_1_2"),
		EndpointConfiguration: &awsapigateway.CfnDomainName_EndpointConfigurationProperty{
			Types: jsii.Strings("REGIONAL"),
		},
	})
	api := v.template.GetResource(jsii.String("Api"))
	mapping := awsapigateway.NewCfnBasePathMapping(v.Stack, jsii.String("DomainMapping"),
		&awsapigateway.CfnBasePathMappingProps{
			DomainName: domain.Ref(), RestApiId: api.Ref(), Stage: jsii.String(s.Name),
		})
	mapping.AddDependency(api)
	api.AddPropertyOverride(jsii.String("DisableExecuteApiEndpoint"), true)
}
