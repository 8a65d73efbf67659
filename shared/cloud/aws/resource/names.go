package resource

import (
	"errors"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// Width is how many batches of one call of ours are under way at once; the limiter paces them.
const Width = 8

// NameOf returns the tag Name, or else.
func NameOf(tags map[string]string, otherwise string) string {
	if n := strings.TrimSpace(tags["Name"]); n != "" {
		return n
	}
	return otherwise
}

// NativeStatus returns the status of a native state; Unknown if m does not have it.
func NativeStatus[S ~string](m map[S]cloud.Status, native S) cloud.Status {
	if s, ok := m[native]; ok {
		return s
	}
	return cloud.Unknown
}

// OptionalString is s, or nil for the first page.
func OptionalString(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// The instances that calls start and stop are counted besides the calls.
const (
	StartedIDs = "ec2:StartInstances#ids"
	StoppedIDs = "ec2:StopInstances#ids"
)

// prefixes are the names of services in permissions that do not follow from their own.
var prefixes = map[string]string{
	"Elastic Load Balancing v2": "elasticloadbalancing", "Elastic Load Balancing": "elasticloadbalancing",
	"Resource Groups Tagging API": "tag",
	"Cost Explorer":               "ce", "Cost and Usage Report Service": "cur",
}

// PermissionPrefix returns the service's name in permissions: "Application Auto Scaling" is application-autoscaling.
func PermissionPrefix(serviceID string) string {
	if p, ok := prefixes[serviceID]; ok {
		return p
	}
	s := strings.ReplaceAll(strings.ToLower(serviceID), "auto scaling", "autoscaling")
	return strings.ReplaceAll(s, " ", "-")
}

// ErrNoneToTry is the error of a dry run that needs a resource when the account has none.
var ErrNoneToTry = errors.New("there is nothing yet to try it on")
