// Package awstwin is a small AWS in this process. It speaks the wire protocols of the operations that the provider
// uses, keeps state, takes time to change it, and can be made to fail as AWS does. It follows AWS's documentation, not
// the provider's code, so that tests find errors of the provider.
package awstwin

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/testkit/clouds/twin"
)

// Account is the number of the twin's only account. AccessKey is the key that opens it.
const (
	Account   = "111122223333"
	AccessKey = "AKIATWINTWINTWIN"
)

// Call is one request as it arrived, throttled and denied ones included.
type Call struct {
	Op     string // "ec2:StopInstances"
	Region string
	Params map[string]any // form values, or the JSON body
}

// Cloud is the twin. Its zero value is an empty cloud; fill it with the Add functions.
type Cloud struct {
	// Page limits every page to fewer resources than requested, so that few resources make many pages.
	Page int
	// Takes is how long instances take to start or stop; with 0 they change state only in SettleAll.
	Takes time.Duration
	// Now is when changes begin.
	Now time.Time
	// Refuse, when set, reports whether a call is denied.
	Refuse func(op string) bool

	mu         sync.Mutex
	throttled  int
	revoked    bool
	faults     []Fault
	calls      []Call
	called     map[string]bool // every operation that was ever called
	instances  []*Instance
	dbs        []*Database
	bluegreen  []Deployment
	groups     []*Group
	services   []*Service
	targets    []*ScalableTarget
	policies   []*ScalingPolicy
	nodes      []*Nodegroup
	clusters   []*Cluster
	warehouses []*Warehouse
	notebooks  []*Notebook
	collected  []*Collected
	roles      map[string]string
	units      []Unit
	members    []Member

	volumes   []Volume
	snapshots []Snapshot
	addresses []Address
	taken     []string // addresses
	numbers   int      // of new resources

	modifications map[string]Modification
	gateways      []NATGateway
	balancers     []Balancer
	buckets       []Bucket
	functions     []*Function
	queues        []Queue
	repositories  []Repository
	scanRules     []ScanRule
	indexed       []Indexed
	explorer      bool
	series        []Series
	details       map[string]string
	told          map[string]string
	held          map[string]map[string]any
	objects       map[string]*stored
	exports       []Export
	reports       []Report
	costs         []Cost
	recommended   []HubRecommendation
	unenrolled    bool
	cut           bool
}

// request is a call on its way through the twin.
type request struct {
	service, region, op string
	form                url.Values
	body                map[string]any
	path                []string
	method              string
	header              http.Header
}

// failure is an error answer.
type failure struct {
	status        int
	code, message string
	bucketRegion  string // region of the bucket, if the request went to another
}

func newFailure(status int, code, format string, args ...any) *failure {
	return &failure{status: status, code: code, message: fmt.Sprintf(format, args...)}
}

// ThrottleCalls throttles the given number of next calls; 0 ends it.
func (c *Cloud) ThrottleCalls(calls int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.throttled = calls
}

// Calls returns the calls of op since the last ForgetCalls; all calls for "".
func (c *Cloud) Calls(op string) []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.calls), func(k Call) bool { return op != "" && k.Op != op })
}

// EverCalled returns every operation that was ever called, sorted. ForgetCalls does not change the answer.
func (c *Cloud) EverCalled() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.called))
}

// ForgetCalls empties the list of calls.
func (c *Cloud) ForgetCalls() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = nil
}

// SettleAll completes all changes under way.
func (c *Cloud) SettleAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.instances {
		i.settleState()
	}
	for _, d := range c.dbs {
		d.settleState()
	}
	for _, g := range c.groups {
		g.settleInstances()
	}
	for _, s := range c.services {
		s.settleTasks()
	}
	for _, n := range c.nodes {
		n.settleNodes()
	}
	for _, w := range c.warehouses {
		w.settleState()
	}
	for _, n := range c.notebooks {
		n.settleState()
	}
	for _, f := range c.functions {
		f.settleState()
	}
	for _, r := range c.collected {
		r.settleState()
	}
}

// ChangeLocked runs do under the twin's lock. Tests use it to change resources directly.
func (c *Cloud) ChangeLocked(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// AddRole adds a role that can be assumed with the external id, or by everybody if it is "".
func (c *Cloud) AddRole(arn, externalID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.roles == nil {
		c.roles = map[string]string{}
	}
	c.roles[arn] = externalID
}

// RoundTrip answers a request to any address, so that a client of AWS reaches the twin.
func (c *Cloud) RoundTrip(r *http.Request) (*http.Response, error) {
	return twin.Answer(c.serve).RoundTrip(r)
}

// ServeHTTP answers as AWS does. A lost answer is a broken connection.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	twin.Answer(c.serve).ServeHTTP(w, r)
}

func (c *Cloud) serve(w http.ResponseWriter, r *http.Request) (lost bool) {
	q, key := decodeRequest(r)
	if err := c.delay(r.Context(), q); err != nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settleDue()
	c.calls = append(c.calls, Call{q.service + ":" + q.op, q.region, q.allParams()})
	if c.called == nil {
		c.called = map[string]bool{}
	}
	c.called[q.service+":"+q.op] = true
	if f := c.refuse(q, key); f != nil {
		q.writeError(w, f)
		return false
	}
	if c.Refuse != nil && c.Refuse(q.service+":"+q.op) {
		q.writeError(w, newFailure(http.StatusForbidden, "AccessDeniedException", "not authorized to perform %s", q.op))
		return false
	}
	fault, failed := c.fault(q)
	if failed && fault.Code != "" {
		q.writeError(w, newFailure(fault.Status, fault.Code, "%s", fault.Message))
		return false
	}
	answer, f := c.answer(q)
	answer = c.described(answer)
	switch {
	case failed:
		return true
	case f != nil:
		q.writeError(w, f)
	default:
		q.writeAnswer(w, answer)
	}
	return false
}

func (c *Cloud) refuse(q request, key string) *failure {
	if c.revoked || key != AccessKey && !strings.HasPrefix(key, "ASIA") && !strings.HasPrefix(key, "OURS") {
		return refused[q.service]
	}
	if c.throttled > 0 {
		c.throttled--
		return throttled[q.service]
	}
	return nil
}

func (c *Cloud) answer(q request) (any, *failure) {
	if answer, f, held := c.answerHeld(q); held {
		return answer, f
	}
	handle := operations[q.service+":"+q.op]
	switch {
	case handle == nil && slices.Contains(untold, q.service+":"+q.op):
		return c.tell(q)
	case handle == nil:
		return nil, newFailure(http.StatusBadRequest, "InvalidAction", "The action %s is not valid for this "+
			"web service.", q.op)
	}
	return handle(c, q)
}

// operations are the operations by name; the files of the services add theirs.
var operations = map[string]func(*Cloud, request) (any, *failure){
	"ec2:DescribeInstances":                            (*Cloud).describeInstances,
	"ec2:DescribeInstanceStatus":                       (*Cloud).describeStatus,
	"ec2:DescribeSpotInstanceRequests":                 (*Cloud).describeSpotRequests,
	"ec2:DescribeRegions":                              (*Cloud).describeRegions,
	"ec2:StartInstances":                               (*Cloud).startInstances,
	"ec2:StopInstances":                                (*Cloud).stopInstances,
	"rds:DescribeBlueGreenDeployments":                 (*Cloud).describeDeployments,
	"rds:DescribeDBInstances":                          (*Cloud).describeDBInstances,
	"rds:StartDBInstance":                              (*Cloud).startDB,
	"rds:StopDBInstance":                               (*Cloud).stopDB,
	"rds:DescribeDBClusters":                           (*Cloud).describeDBClusters,
	"rds:StartDBCluster":                               (*Cloud).startDB,
	"rds:StopDBCluster":                                (*Cloud).stopDB,
	"autoscaling:DescribeAutoScalingGroups":            (*Cloud).describeGroups,
	"autoscaling:UpdateAutoScalingGroup":               (*Cloud).updateGroup,
	"autoscaling:DescribePolicies":                     (*Cloud).describePolicies,
	"autoscaling:PutScalingPolicy":                     (*Cloud).putScalingPolicy,
	"autoscaling:DeletePolicy":                         (*Cloud).deleteScalingPolicy,
	"autoscaling:SuspendProcesses":                     (*Cloud).suspendProcesses,
	"autoscaling:ResumeProcesses":                      (*Cloud).resumeProcesses,
	"organizations:DescribeOrganization":               (*Cloud).describeOrganization,
	"organizations:ListRoots":                          (*Cloud).listRoots,
	"organizations:ListOrganizationalUnitsForParent":   (*Cloud).listUnits,
	"organizations:ListAccountsForParent":              (*Cloud).listAccounts,
	"organizations:ListTagsForResource":                (*Cloud).listMemberTags,
	"ecs:ListClusters":                                 (*Cloud).listECSClusters,
	"ecs:ListServices":                                 (*Cloud).listServices,
	"ecs:DescribeServices":                             (*Cloud).describeServices,
	"ecs:UpdateService":                                (*Cloud).updateService,
	"application-autoscaling:DescribeScalableTargets":  (*Cloud).describeTargets,
	"application-autoscaling:RegisterScalableTarget":   (*Cloud).registerTarget,
	"application-autoscaling:DeregisterScalableTarget": (*Cloud).deregisterTarget,
	"application-autoscaling:DescribeScalingPolicies":  (*Cloud).describeServicePolicies,
	"application-autoscaling:PutScalingPolicy":         (*Cloud).putServicePolicy,
	"application-autoscaling:DeleteScalingPolicy":      (*Cloud).deleteServicePolicy,
	"eks:ListClusters":                                 (*Cloud).listEKSClusters,
	"eks:DescribeCluster":                              (*Cloud).describeEKSCluster,
	"eks:ListNodegroups":                               (*Cloud).listNodegroups,
	"eks:DescribeNodegroup":                            (*Cloud).describeNodegroup,
	"eks:UpdateNodegroupConfig":                        (*Cloud).updateNodegroup,
	"eks:ListUpdates":                                  (*Cloud).listUpdates,
	"eks:DescribeUpdate":                               (*Cloud).describeUpdate,
	"ec2:DescribeVolumes":                              (*Cloud).describeVolumes,
	"ec2:DescribeSnapshots":                            (*Cloud).describeSnapshots,
	"ec2:DescribeImages":                               (*Cloud).describeImages,
	"ec2:DescribeAddresses":                            (*Cloud).describeAddresses,
	"ec2:DescribeNatGateways":                          (*Cloud).describeNATGateways,
	"ec2:DescribeRouteTables":                          (*Cloud).describeRouteTables,
	"elasticloadbalancing:DescribeLoadBalancers":       (*Cloud).describeBalancers,
	"elasticloadbalancing:DescribeTargetGroups":        (*Cloud).describeTargetGroups,
	"elasticloadbalancing:DescribeTargetHealth":        (*Cloud).describeTargetHealth,
	"elasticloadbalancing:DescribeInstanceHealth":      (*Cloud).describeInstanceHealth,
	"s3:ListBuckets":                                   (*Cloud).listBuckets,
	"s3:GetBucketVersioning":                           (*Cloud).getVersioning,
	"s3:GetBucketLifecycleConfiguration":               (*Cloud).getLifecycle,
	"s3:HeadBucket":                                    (*Cloud).headBucket,
	"s3:HeadObject":                                    (*Cloud).getObject,
	"s3:GetObject":                                     (*Cloud).getObject,
	"s3:ListObjectsV2":                                 (*Cloud).listObjects,
	"bcm-data-exports:ListExports":                     (*Cloud).listExports,
	"bcm-data-exports:GetExport":                       (*Cloud).getExport,
	"cur:DescribeReportDefinitions":                    (*Cloud).listReports,
	"ce:GetCostAndUsage":                               (*Cloud).getCosts,
	"cost-optimization-hub:ListRecommendations":        (*Cloud).listRecommendations,
	"lambda:ListFunctions":                             (*Cloud).listFunctions,
	"lambda:ListTags":                                  (*Cloud).listFunctionTags,
	"lambda:TagResource":                               (*Cloud).tagFunction,
	"lambda:UntagResource":                             (*Cloud).untagFunction,
	"lambda:GetFunctionConcurrency":                    (*Cloud).getReserved,
	"lambda:PutFunctionConcurrency":                    (*Cloud).putReserved,
	"lambda:DeleteFunctionConcurrency":                 (*Cloud).deleteReserved,
	"lambda:ListProvisionedConcurrencyConfigs":         (*Cloud).listProvisioned,
	"lambda:PutProvisionedConcurrencyConfig":           (*Cloud).putProvisioned,
	"lambda:DeleteProvisionedConcurrencyConfig":        (*Cloud).deleteProvisioned,
	"sqs:ListQueues":                                   (*Cloud).listQueues,
	"sqs:GetQueueAttributes":                           (*Cloud).getQueueAttributes,
	"ecr:DescribeRepositories":                         (*Cloud).describeRepositories,
	"ecr:DescribeImages":                               (*Cloud).describeECRImages,
	"ecr:GetLifecyclePolicy":                           (*Cloud).getLifecyclePolicy,
	"ecr:GetRegistryScanningConfiguration":             (*Cloud).getRegistryScanning,
	"tagging:GetResources":                             (*Cloud).getTagged,
	"monitoring:GetMetricData":                         (*Cloud).getMetricData,
	"resource-explorer-2:ListResources":                (*Cloud).listExplored,
	"redshift:DescribeClusters":                        (*Cloud).describeWarehouses,
	"redshift:PauseCluster":                            (*Cloud).pauseWarehouse,
	"redshift:ResumeCluster":                           (*Cloud).resumeWarehouse,
	"sagemaker:ListNotebookInstances":                  (*Cloud).listNotebooks,
	"sagemaker:ListTags":                               (*Cloud).listNotebookTags,
	"sagemaker:DescribeNotebookInstance":               (*Cloud).describeNotebook,
	"sagemaker:StartNotebookInstance":                  (*Cloud).startNotebook,
	"sagemaker:StopNotebookInstance":                   (*Cloud).stopNotebook,
	"sts:GetCallerIdentity":                            (*Cloud).callerIdentity,
	"sts:AssumeRole":                                   (*Cloud).assumeRole,
	"sts:GetWebIdentityToken":                          (*Cloud).webIdentityToken,
}
