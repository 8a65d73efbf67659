package gcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// The scopes of recommenders: what a location of theirs is.
const (
	zonal    = 1 << iota // a zone
	regional             // a region
	global               // "global"
)

// recommender is one of Google's recommenders about cost.
type recommender struct {
	id, permission string
	scope          int
	action         cloud.OpinionAction
}

// recommenders are the recommenders that are read. Each has a permission of its own.
var recommenders = []recommender{
	{"google.compute.instance.IdleResourceRecommender", "computeInstanceIdleResource", zonal, cloud.OpinionStop},
	{"google.compute.instance.MachineTypeRecommender", "computeInstanceMachineType", zonal, cloud.OpinionResize},
	{
		"google.compute.instanceGroupManager.MachineTypeRecommender", "computeInstanceGroupManagerMachineType",
		zonal | regional, cloud.OpinionResize,
	},
	{"google.compute.disk.IdleResourceRecommender", "computeDiskIdleResource", zonal | regional, cloud.OpinionDelete},
	{
		"google.compute.address.IdleResourceRecommender", "computeAddressIdleResource", regional | global,
		cloud.OpinionDelete,
	},
	{"google.compute.image.IdleResourceRecommender", "computeImageIdleResource", global, cloud.OpinionDelete},
	{"google.cloudsql.instance.IdleRecommender", "cloudsqlIdleInstance", regional, cloud.OpinionStop},
	{
		"google.cloudsql.instance.OverprovisionedRecommender", "cloudsqlOverprovisionedInstance", regional,
		cloud.OpinionResize,
	},
	{"google.compute.commitment.UsageCommitmentRecommender", "usageCommitment", regional, cloud.OpinionCommit},
}

func (r recommender) need() string { return "recommender." + r.permission + "Recommendations.list" }

// opinionNeeds are the permissions of opinions.
func opinionNeeds() []string {
	out := make([]string, len(recommenders))
	for i, r := range recommenders {
		out[i] = r.need()
	}
	return out
}

// recommenderAPI is the service that a project has to switch on.
const recommenderAPI = "recommender.googleapis.com"

// maxOpinionLists limits the lists that are asked for: recommenders times locations.
const maxOpinionLists = 1_000

var _ cloud.OpinionReader = (*conn)(nil)

// ReadOpinions reads the active recommendations of Google's recommenders, in the locations that have resources. It asks
// for several lists at the same time. A location that a recommender does not know has none.
func (c *conn) ReadOpinions(ctx context.Context, r cloud.OpinionRequest, take func(cloud.Opinion)) (
	cloud.OpinionAnswer, error,
) {
	lists := listsIn(r.Locations)
	reading := &opinionReading{
		conn: c, taker: cloud.NewOpinionTaker(r.Limit, take), denied: map[string]bool{}, read: map[string]bool{},
	}
	cloud.InParallel(min(len(lists), maxOpinionLists), parallelCalls, func(i int) { reading.readList(ctx, lists[i]) })
	out := reading.answer()
	out.Cut = out.Cut || len(lists) > maxOpinionLists
	return out, reading.failed
}

// opinionList is a list of a recommender in a location.
type opinionList struct {
	recommender
	location string
}

// listsIn returns the lists of the recommenders in regions and zones, and the global ones.
func listsIn(locations []string) (out []opinionList) {
	locations = slices.Clone(locations)
	for _, at := range locations {
		if zoneName.MatchString(at) {
			locations = append(locations, regionOf(at))
		}
	}
	locations = sortUnique(append(locations, cloud.Global))
	for _, at := range locations {
		scope := 0
		switch {
		case at == cloud.Global:
			scope = global
		case regionName.MatchString(at):
			scope = regional
		case zoneName.MatchString(at):
			scope = zonal
		}
		for _, r := range recommenders {
			if r.scope&scope != 0 {
				out = append(out, opinionList{r, at})
			}
		}
	}
	return out
}

// opinionReading is one reading of all lists.
type opinionReading struct {
	conn *conn

	mu       sync.Mutex
	taker    *cloud.OpinionTaker
	calls    int
	denied   map[string]bool // permissions
	read     map[string]bool // permissions
	disabled string          // Google's words
	failed   error           // may pass
	enough   bool
}

// isOver reports whether no further list is needed.
func (r *opinionReading) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.disabled != "" || r.failed != nil || r.enough
}

func (r *opinionReading) readList(ctx context.Context, l opinionList) {
	list := googlerest.NewGet(l.need(), "https://"+recommenderAPI+"/v1/{+parent}/recommendations",
		fmt.Sprintf("projects/%s/locations/%s/recommenders/%s", r.conn.project, l.location, l.id)).
		Set("filter", "stateInfo.state = ACTIVE").SetInt("pageSize", 500)
	for page, n := "", 0; n < maxPages && !r.isOver(); n++ {
		out, err := call[googlerest.RecommendationList](ctx, r.conn.session, list.Set("pageToken", page))
		if !r.takePage(ctx, l, out, err) {
			return
		}
		if page = out.NextPageToken; page == "" {
			return
		}
	}
}

// takePage takes a page, or notes the error. It returns false if the list ends.
func (r *opinionReading) takePage(ctx context.Context, l opinionList, page *googlerest.RecommendationList,
	err error,
) bool {
	opinions := r.conn.opinionsOf(ctx, l.recommender, page)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if err != nil {
		r.noteFailure(l, err)
		return false
	}
	r.read[l.need()] = true
	for _, o := range opinions {
		if !r.taker.Take(o) {
			r.enough = true
			return false
		}
	}
	return true
}

func (r *opinionReading) noteFailure(l opinionList, err error) {
	e, ok := errors.AsType[*cloud.Error](err)
	switch {
	case ok && e.Code == serviceDisabled:
		r.disabled = e.Message
	case ok && e.Class == cloud.Denied:
		r.denied[l.need()] = true
	case ok && (e.Class == cloud.NotFound || e.Class == cloud.Invalid): // the recommender is not in this location
		r.read[l.need()] = true
	case r.failed == nil:
		r.failed = err
	}
}

// answer returns the state of the reading.
func (r *opinionReading) answer() cloud.OpinionAnswer {
	out := cloud.OpinionAnswer{
		Source: cloud.GoogleRecommender, State: cloud.OpinionsRead, Calls: r.calls, Cut: r.taker.IsCut(),
	}
	missing := strings.Join(slices.Sorted(maps.Keys(r.denied)), ", ")
	switch {
	case r.disabled != "":
		out.State = cloud.OpinionsNotEnrolled
		out.Message = "switch the API on: gcloud services enable " + recommenderAPI + " --project " +
			r.conn.project + " (" + r.disabled + ")"
	case len(r.denied) > 0 && len(r.read) == 0:
		out.State, out.Message = cloud.OpinionsDenied, "grant to the credentials on the project: "+missing
	case len(r.denied) > 0:
		out.State, out.Message = cloud.OpinionsPartial, "grant to the credentials on the project: "+missing
	}
	return out
}
