package gcp

import (
	"context"
	"fmt"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// databases are Cloud SQL instances; the uid is the full name. Whether one runs is its activation policy: the state
// stays RUNNABLE when the owner has stopped it. Storage and addresses stay billed.
var databases = kind{
	Kind:    catalogueKind(cloud.GCPCloudSQL),
	service: "cloudsql.googleapis.com", collection: "instances",
	needs: needs{
		discover:  []string{"cloudsql.instances.list", "cloudsql.instances.get"},
		startStop: []string{"cloudsql.instances.update"},
	},
	list: listDatabases,
	read: readDatabases,
	act:  actOneByOne(actDatabase),
}

// The activation policies.
const (
	always = "ALWAYS"
	never  = "NEVER"
)

// databaseMemory is the state that a stop overwrites and a start restores.
type databaseMemory struct {
	ActivationPolicy string `json:"activationPolicy"`
}

// listDatabases reads a page of the project's instances and returns those of the region.
func listDatabases(ctx context.Context, p place, page string) (cloud.ResourcePage, error) {
	out, err := call[googlerest.DatabaseInstanceList](ctx, p.session, googlerest.NewGet("cloudsql.instances.list",
		googlerest.SQLAdmin+"projects/{project}/instances", p.project).Set("filter", "region:"+p.region).
		SetInt("maxResults", 500).Set("pageToken", page))
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	for _, w := range out.Warnings {
		if w.Region == p.region {
			return cloud.ResourcePage{},
				&cloud.Error{Class: cloud.Transient, Op: "cloudsql.instances.list", Code: w.Code, Message: w.Message}
		}
	}
	got := cloud.ResourcePage{Next: out.NextPageToken}
	for _, d := range out.Items {
		if d.Region == p.region && d.State != "PENDING_DELETE" {
			got.Resources = append(got.Resources, databaseResource(p, d))
		}
	}
	return got, nil
}

func databaseResource(p place, d *googlerest.DatabaseInstance) cloud.Resource {
	r := cloud.Resource{
		UID: databaseUID(p, d.Name), Name: d.Name, Zone: d.GceZone, Status: databaseStatus(d, nil),
		Tags:          map[string]string{},
		Unschedulable: tiedDatabase(d), CreatedAt: timeOf(d.CreateTime), Facts: databaseFacts(d),
	}
	if s := d.Settings; s != nil {
		r.InstanceType, r.Tags = s.Tier, tagsOf(s.UserLabels)
		r.Capacity = map[string]int64{"storageGiB": s.DataDiskSizeGb}
	}
	if d.MasterInstanceName != "" {
		r.ParentUID = databaseUID(p, primaryName(d))
	}
	return r
}

func databaseUID(p place, name string) string {
	return "//cloudsql.googleapis.com/projects/" + p.project + "/instances/" + name
}

// primaryName returns the instance that a replica copies: Google names it with its project, "p:orders".
func primaryName(d *googlerest.DatabaseInstance) string {
	return d.MasterInstanceName[strings.LastIndex(d.MasterInstanceName, ":")+1:]
}

// tiedDatabase returns why an instance cannot be stopped.
func tiedDatabase(d *googlerest.DatabaseInstance) string {
	switch {
	case d.MasterInstanceName != "":
		return "read replica of " + primaryName(d) + ", which Cloud SQL does not stop"
	case len(d.ReplicaNames) > 0:
		return "primary of read replicas (" + strings.Join(d.ReplicaNames, ", ") + "), which Cloud SQL does not stop"
	case d.InstanceType != "" && d.InstanceType != "CLOUD_SQL_INSTANCE":
		return "is a " + d.InstanceType + ", which Cloud SQL does not stop"
	}
	return ""
}

func activationPolicy(d *googlerest.DatabaseInstance) string {
	if d.Settings == nil {
		return ""
	}
	return d.Settings.ActivationPolicy
}

// databaseStatus returns the status of an instance. An operation that has not ended moves it to the state of its
// policy.
func databaseStatus(d *googlerest.DatabaseInstance, pending *googlerest.DatabaseOperation) cloud.Status {
	switch d.State {
	case "RUNNABLE":
		return runnableStatus(activationPolicy(d), pending != nil)
	case "PENDING_CREATE", "MAINTENANCE", "ONLINE_MAINTENANCE", "REPAIRING":
		return cloud.Pending
	case "PENDING_DELETE":
		return cloud.Terminated
	default: // SUSPENDED is for want of payment, FAILED is for support
		return cloud.Unknown
	}
}

func runnableStatus(policy string, moving bool) cloud.Status {
	switch {
	case policy == never && moving:
		return cloud.Stopping
	case policy == never:
		return cloud.Stopped
	case moving:
		return cloud.Starting
	default:
		return cloud.Running
	}
}

func readDatabases(ctx context.Context, p place, refs []ref) ([]cloud.State, error) {
	var states []cloud.State
	for _, r := range refs {
		d, err := getDatabase(ctx, p, r)
		if isGone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s, err := databaseState(ctx, p, r, d)
		if err != nil {
			return nil, err
		}
		states = append(states, s)
	}
	return states, nil
}

// getDatabase reads an instance; one of another region does not exist here.
func getDatabase(ctx context.Context, p place, r ref) (*googlerest.DatabaseInstance, error) {
	d, err := call[googlerest.DatabaseInstance](ctx, p.session, googlerest.NewGet("cloudsql.instances.get",
		googlerest.SQLAdmin+"projects/{project}/instances/{instance}", p.project, r.name))
	if err == nil && d.Region != p.region {
		return nil, cloud.ErrNotFound("the Cloud SQL instance %s is in %s, not in %s", r.name, d.Region, p.region)
	}
	return d, err
}

func databaseState(ctx context.Context, p place, r ref, d *googlerest.DatabaseInstance) (cloud.State, error) {
	newest, pending, err := databaseOperations(ctx, p, r)
	if err != nil {
		return cloud.State{}, err
	}
	s := cloud.State{
		UID: r.uid, Status: databaseStatus(d, pending), Unschedulable: tiedDatabase(d),
		Native: d.State + ", activation policy " + activationPolicy(d), Reason: strings.Join(d.SuspensionReason, ", "),
	}
	switch {
	case pending != nil:
		s.Reason = fmt.Sprintf("operation %s is %s", pending.OperationType, pending.Status)
	case newest != nil && len(newest.Error.Errors) > 0:
		s.Reason = fmt.Sprintf("its last operation, %s, failed: %s: %s", newest.OperationType,
			newest.Error.Errors[0].Code, newest.Error.Errors[0].Message)
	}
	if p := activationPolicy(d); p != never && p != "" {
		s.Snapshot = cloud.EncodeSnapshot(databaseMemory{p})
	}
	return s, nil
}

// databaseOperations returns the newest operation of the instance, and the one that has not ended; either may be nil.
func databaseOperations(ctx context.Context, p place, r ref) (newest, pending *googlerest.DatabaseOperation,
	err error,
) {
	out, err := call[googlerest.DatabaseOperationList](ctx, p.session, googlerest.NewGet("cloudsql.instances.get",
		googlerest.SQLAdmin+"projects/{project}/operations", p.project).Set("instance", r.name).SetInt("maxResults",
		10))
	if err != nil {
		return nil, nil, err
	}
	for _, o := range out.Items {
		if newest == nil {
			newest = o
		}
		if o.Status != "DONE" {
			return newest, o, nil
		}
	}
	return newest, nil, nil
}

// actDatabase sets the activation policy of the version that was read. An instance that was changed meanwhile is
// refused with 412.
func actDatabase(ctx context.Context, p place, v cloud.Verb, t target) error {
	d, err := getDatabase(ctx, p, t.ref)
	if err != nil {
		return err
	}
	if reason := tiedDatabase(d); reason != "" {
		return cloud.ErrUnsupported("%s", reason)
	}
	policy := never
	if v == cloud.Start {
		m, ok, err := cloud.DecodeSnapshot[databaseMemory](t.snapshot, "state")
		if err != nil {
			return err
		}
		if policy = always; ok && m.ActivationPolicy != "" && m.ActivationPolicy != never {
			policy = m.ActivationPolicy
		}
	}
	// or somebody has started it, as he likes
	if activationPolicy(d) == policy || v == cloud.Start && activationPolicy(d) != never {
		return nil
	}
	var change googlerest.DatabaseChange
	change.Settings.ActivationPolicy, change.Settings.SettingsVersion = policy, d.Settings.SettingsVersion
	_, err = call[googlerest.DatabaseOperation](ctx, p.session, googlerest.NewPatch("cloudsql.instances.update",
		googlerest.SQLAdmin+"projects/{project}/instances/{instance}", p.project, t.name).Body(change))
	return err
}
