package wire

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// partition is a group of regions that share a domain.
type partition struct {
	prefix    string // of the names of its regions
	suffix    string // of host names
	dualStack string // of host names that also have an IPv6 address; empty where the services have none
	global    string // region that holds its global services
}

// partitions are those of the SDK. The last one takes every region that no other one takes.
var partitions = []partition{
	{"cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn", "cn-northwest-1"},
	{"us-gov-", "amazonaws.com", "api.aws", "us-gov-west-1"},
	{"us-iso-", "c2s.ic.gov", "", "us-iso-east-1"},
	{"us-isob-", "sc2s.sgov.gov", "", "us-isob-east-1"},
	{"eu-isoe-", "cloud.adc-e.uk", "", "eu-isoe-west-1"},
	{"us-isof-", "csp.hci.ic.gov", "", "us-isof-south-1"},
	{"eusc-", "amazonaws.eu", "api.amazonwebservices.eu", "eusc-de-east-1"},
	{"", "amazonaws.com", "api.aws", "us-east-1"},
}

func partitionOf(region string) partition {
	for _, p := range partitions {
		if strings.HasPrefix(region, p.prefix) {
			return p
		}
	}
	return partition{}
}

// GlobalHost returns a function for Service.Endpoint, for a service that has one endpoint for each partition.
func GlobalHost(host string) func(region string) (string, string) {
	return func(region string) (string, string) {
		p := partitionOf(region)
		return host + "." + p.global + "." + p.suffix, p.global
	}
}

// GlobalDualStackHost is GlobalHost for a service whose endpoint has both IPv4 and IPv6 addresses.
func GlobalDualStackHost(host string) func(region string) (string, string) {
	return func(region string) (string, string) {
		p := partitionOf(region)
		return host + "." + p.global + "." + cmp.Or(p.dualStack, p.suffix), p.global
	}
}

// resolveEndpoint sets the address of the request, and the region that it is signed for.
func (c *Client) resolveEndpoint(ctx context.Context, req *smithyhttp.Request, op Operation) (context.Context, error) {
	region := c.config.Region
	if region == "" {
		return ctx, fmt.Errorf("resolve the endpoint of %s: the region is empty", c.service.ID)
	}
	host := c.service.Host + "." + region + "." + partitionOf(region).suffix
	if c.service.Endpoint != nil {
		host, region = c.service.Endpoint(region)
	}
	at := &url.URL{Scheme: "https", Host: host}
	if c.config.BaseEndpoint != nil {
		var err error
		if at, err = url.Parse(*c.config.BaseEndpoint); err != nil {
			return ctx, fmt.Errorf("resolve the endpoint of %s: %w", c.service.ID, err)
		}
		region = c.config.Region
	}
	req.URL.Scheme, req.URL.Host, req.URL.Path = at.Scheme, op.HostPrefix+at.Host, at.Path
	return middleware.WithStackValue(ctx, signingRegion{}, region), nil
}
