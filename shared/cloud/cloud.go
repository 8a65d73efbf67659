// Package cloud defines the service's view of a cloud provider: kinds of resources, a connection to one account, and
// its operations. Providers live in the folders below, one file per kind, and only workers import them.
package cloud

import (
	"context"
	"encoding/json"
	"time"
)

// Status is the state of a resource, the same for all providers.
type Status string

// The statuses.
const (
	Running    Status = "running"
	Stopped    Status = "stopped"
	Starting   Status = "starting"
	Stopping   Status = "stopping"
	Pending    Status = "pending"
	Terminated Status = "terminated"
	Unknown    Status = "unknown"
)

// IsTransitional reports whether a resource leaves the status by itself.
func (s Status) IsTransitional() bool { return s == Starting || s == Stopping || s == Pending }

// Verb is an act on a resource, in the wording of a desired state: start = be running, stop = be stopped.
type Verb string

// The verbs.
const (
	Start Verb = "start"
	Stop  Verb = "stop"
)

// WantedStatus returns the status that the verb brings about.
func (v Verb) WantedStatus() Status {
	if v == Start {
		return Running
	}
	return Stopped
}

// Kind describes one kind of resource, as GET /resources/types shows it. A collective kind (IsCollective) is no type
// of a resource: its listing finds, in one go, resources of every type of the provider that no other kind lists, each
// with its Type.
type Kind struct {
	Type     string // "aws-ec2"
	Provider string // "aws"
	Name     string // "EC2 instance"
	// the provider's own name: "ec2:instance", "microsoft.compute/disks", "compute.googleapis.com/Disk",
	// "apps/Deployment"
	Native       string
	Global       bool // of a collective kind: it also lists the region Global, for resources without a region
	Collected    bool // is found by the collective kind, though something can be done with it
	Discoverable bool // is found by a discovery
	Actionable   bool // can be started and stopped
	Scalable     bool // its capacity can be set
	Measured     bool // has utilisation metrics
	Absolute     bool // an act sets a size: it may be given while the resource is still moving the other way
	// a stop forgets its capacity: State.Snapshot is kept before it and given back at the start
	Remembers bool
	// the provider accepts a start of a running resource and a stop of a stopped one, so no read is needed before the
	// act
	Idempotent bool
	Verifies   bool          // Verify costs less than Read
	ActBatch   int           // ids that one start or stop call takes
	ReadBatch  int           // ids that one Read takes in one call
	Deadline   time.Duration // a transition that takes longer has failed
	// how long the provider may run a stopped resource for maintenance before it stops it again
	Wakes time.Duration
	Usual time.Duration // before this none is done; 0 when that is not known
}

// Account holds the data that is needed to reach one cloud account. Its credentials are in clear text: an Account
// never leaves a worker.
type Account struct {
	Org          string
	ID           string // ca_…
	Provider     string
	NativeID     string // account, subscription or project number
	Organisation string // native id of the organization whose members are asked for; NativeID is empty then
	AuthMethod   string
	Credentials  map[string]string
	Regions      []string // empty: every enabled one
	EndpointURL  string   // an emulator or a private cloud
	Billing      BillSettings
}

// Resource is a resource as discovery found it.
type Resource struct {
	UID           string // native identifier, unique in its organization
	Name          string
	Type          string
	Region        string
	Zone          string
	Status        Status
	InstanceType  string
	Capacity      map[string]int64 // "vCPU", "min", "max", "desired", …
	Tags          map[string]string
	ParentUID     string
	Unschedulable string // why it cannot be started and stopped; empty when it can
	CreatedAt     time.Time
	Facts         Facts
}

// ResourcePage is part of a listing; Next is empty on the last page.
type ResourcePage struct {
	Resources []Resource
	Next      string
}

// State is the live state of a resource, from the provider's own read, never from an index.
type State struct {
	UID        string
	Status     Status
	Native     string // the provider's word for the status: "shutting-down"
	Reason     string // why it is so, in the provider's words; may be empty
	NoCapacity bool   // it is off because the provider had no room for it when it was last started
	// why it may not be started or stopped: "member of Auto Scaling group x: act on the group"
	Unschedulable string
	Snapshot      json.RawMessage // the state that a stop overwrites; nil when there is none, or it is off
	Marked        bool            // the resource itself carries marks of a stop of ours, which a start takes away
	Steps         []Step          // of a kind that is stopped and started in steps, in the order of a stop
}

// Step is a part of a resource that is stopped and started in steps, with its status. Pending means partly done.
type Step struct {
	Name    string `json:"step"`
	Status  Status `json:"status"`
	Message string `json:"message,omitempty"`
}

// Target names a resource to act on, with the snapshot that was remembered when it was stopped.
type Target struct {
	UID      string
	Snapshot json.RawMessage
}

// WasOff is the snapshot of a resource that was off before it was stopped: a start leaves it off.
var WasOff = json.RawMessage(`{"off":true}`)

// IsOff reports whether the snapshot is WasOff.
func IsOff(snapshot json.RawMessage) bool {
	var was struct {
		Off bool `json:"off"`
	}
	return len(snapshot) > 0 && json.Unmarshal(snapshot, &was) == nil && was.Off
}

// NoSizeRemembered returns why a start is refused of a resource of size 0 that no stop of ours has brought there: no
// size is invented.
func NoSizeRemembered(name string) string {
	return name + " has the size 0, and none is remembered, because no stop of ours is on record: set the size that " +
		"it should have in its cloud, " +
		"which starts it"
}

// Result is the outcome of an act on one resource. A nil Err means that the provider accepted it. LeftOff is the
// reason why a start left the resource off: it was off before the stop, or somebody switched it off after the stop. It
// is empty when the resource starts.
type Result struct {
	UID     string
	Err     error
	LeftOff string
}

// Capacity is a size to scale to; nil fields stay unchanged.
type Capacity struct{ Min, Max, Desired *int64 }

// Permission is the result of a credential's permission for a call: granted, denied or unknown, with the provider's
// own words.
type Permission struct {
	Capability string `json:"capability"` // discover, start_stop, scale, remediate or billing
	Action     string `json:"action"`     // the provider's name of the permission
	Status     string `json:"status"`     // granted, denied, unknown
	Message    string `json:"message,omitempty"`
}

// Provider connects to accounts of one cloud.
type Provider interface {
	// Name is the provider's identifier: "aws".
	Name() string
	// Kinds are the kinds that it knows.
	Kinds() []Kind
	// Connect prepares a connection; it makes no call to the cloud.
	Connect(ctx context.Context, a Account) (Conn, error)
}

// Conn is a connection to one account. Errors are *Error. Every call has its own deadline, below ctx's, and is retried
// when its provider says that it may be retried. Throttling that outlasts the retries is class Throttled.
type Conn interface {
	// Identify returns the native id of the account that the credentials open.
	Identify(ctx context.Context) (string, error)
	// Regions lists the regions that are enabled for the account.
	Regions(ctx context.Context) ([]string, error)
	// List reads one page of the resources of a kind in a region; page "" is the first.
	List(ctx context.Context, kind, region, page string) (ResourcePage, error)
	// Read returns the live states of resources of one kind in one region, without uids that do not exist. It makes
	// one provider call per Kind.ReadBatch ids.
	Read(ctx context.Context, kind, region string, uids []string) ([]State, error)
	// Act starts or stops resources of one kind in one region, in provider calls of Kind.ActBatch ids, and returns one
	// Result for each target. One bad id does not keep the others from being acted on.
	Act(ctx context.Context, verb Verb, kind, region string, targets []Target) []Result
	// Scale sets the capacity of one resource.
	Scale(ctx context.Context, kind, region, uid string, c Capacity) error
	// Permissions returns the permissions of the credentials.
	Permissions(ctx context.Context) ([]Permission, error)
}

// KindProber is a Conn that returns the permissions for one resource, with fewer calls than Permissions needs for the
// account.
type KindProber interface {
	// KindPermissions returns the permissions for starts, stops and scales of a kind, as Permissions does. If the
	// provider grants permissions by region or cluster, they are those of the uid's.
	KindPermissions(ctx context.Context, kind, region, uid string) ([]Permission, error)
}

// Admitter is a Conn whose provider takes only so many resources at a time, however they are put into calls.
type Admitter interface {
	// Admit reserves acts on up to n resources of a kind in a region. It returns how many may be acted on now, and how
	// long to wait with the rest. The next Act on the same connection uses the reservation; an unused one is lost.
	Admit(ctx context.Context, verb Verb, kind, region string, n int) (now int, later time.Duration)
}

// Verifier is a Conn that reads the progress of an act with fewer calls than Read.
type Verifier interface {
	// Verify returns the live states as Read does, but may leave out Unschedulable and Snapshot, which matter only
	// before an act.
	Verify(ctx context.Context, kind, region string, uids []string) ([]State, error)
}

// Providers are the providers of this process by name.
type Providers map[string]Provider

// Kind finds a kind of a provider by its type.
func (p Providers) Kind(provider, kind string) (Kind, bool) {
	if p[provider] == nil {
		return Kind{}, false
	}
	for _, k := range p[provider].Kinds() {
		if k.Type == kind {
			return k, true
		}
	}
	return Kind{}, false
}
