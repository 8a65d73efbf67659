//go:build !simulatedonly

package providers

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/cloud/azure"
	"lamplighter.dev/shared/cloud/gcp"
	"lamplighter.dev/shared/cloud/kubernetes"
)

// Complete reports whether this program links the SDKs of all clouds.
const Complete = true

// newReal returns the providers of real clouds.
func newReal(p *platform.Platform) cloud.Providers {
	amazon := aws.New(aws.Options{
		Clock: p.Clock, CustomEndpoints: p.Settings.CustomEndpoints, PrivateAddresses: p.Settings.PrivateAddresses,
		Role:  p.Settings.CloudsRole,
		Store: p.Table, Log: p.Log,
	})
	return cloud.Providers{
		aws.Name: amazon,
		azure.Name: azure.New(azure.Options{ // which trusts the identity that we have at AWS
			Clock: p.Clock, CustomEndpoints: p.Settings.CustomEndpoints, PrivateAddresses: p.Settings.PrivateAddresses,
			Identity: amazon,
			Store:    p.Table, Log: p.Log,
		}),
		gcp.Name: gcp.New(gcp.Options{ // which trusts the identity that we have at AWS
			Clock: p.Clock, CustomEndpoints: p.Settings.CustomEndpoints, PrivateAddresses: p.Settings.PrivateAddresses,
			Identity:  amazon,
			PricesKey: p.Settings.GooglePricesKey,
			OAuth:     gcp.OAuthClient{ID: p.Settings.GoogleCloud.ID, Secret: p.Settings.GoogleCloud.Secret},
			Store:     p.Table, Log: p.Log,
		}),
		kubernetes.Name: kubernetes.New(kubernetes.Options{
			Clock:            p.Clock,
			PrivateAddresses: p.Settings.PrivateAddresses,
		}),
	}
}
