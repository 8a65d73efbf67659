package resource

import (
	"errors"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// Width is the number of concurrent batches of one call of ours. The limiter paces them.
const Width = 8

// NameOf returns the tag Name, or otherwise if there is none.
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

// OptionalString returns a pointer to s, or nil for "", as for the first page.
func OptionalString(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// The limits of the instances that calls start and stop. AWS counts them besides the calls.
const (
	StartedIDs = "ec2:StartInstances#ids"
	StoppedIDs = "ec2:StopInstances#ids"
)

// prefixes are the services' names in permissions that cannot be derived from their IDs.
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
