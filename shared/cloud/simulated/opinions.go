package simulated

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
)

var _ cloud.OpinionReader = (*conn)(nil)

// asOpinion is the aspect of a node that decides about the opinion on it.
const asOpinion uint64 = 1000

// ReadOpinions makes up opinions, the same for the same seed: about the resources of kinds that can be stopped, and
// about volumes and addresses that serve nothing. Of the idle ones, the cloud leaves out some that our rules find; it
// has opinions on some that are busy; and it names a size for some where our rules recommend a stop.
func (c *conn) ReadOpinions(ctx context.Context, r cloud.OpinionRequest, take func(cloud.Opinion)) (
	cloud.OpinionAnswer, error,
) {
	out := cloud.OpinionAnswer{Source: cloud.SimulatedAdvisor, State: cloud.OpinionsRead}
	taker := cloud.NewOpinionTaker(r.Limit, take)
	call := request{method: "ReadOpinions", op: "cost-optimization-hub:ListRecommendations", capability: discover}
	err := c.simulateCall(ctx, call, func(ctx context.Context) error {
		return c.world.readHistory(ctx, func(h history) { c.takeOpinions(h, taker) })
	})
	out.Calls, out.Cut = 1, taker.IsCut()
	if err == nil || cloud.ClassOf(err) != cloud.Denied {
		return out, err
	}
	out.State, out.Message = cloud.OpinionsDenied, "grant "+call.op+" to the credentials: "+err.Error()
	return out, nil //nolint:nilerr // the answer says that it was denied
}

// takeOpinions passes the opinions about all nodes.
func (c *conn) takeOpinions(h history, taker *cloud.OpinionTaker) {
	for kind := range kinds {
		for at, region := range regionNames {
			for i := range c.nodeCount(kind, region) {
				n := node{kind: uint8(kind), region: uint8(at), number: uint32(i)}
				if c.drawHit(n, asVanish, c.faults.vanish) {
					continue
				}
				if o, has := c.opinionOn(n, h); has && !taker.Take(o) {
					return
				}
			}
		}
	}
}

// opinionOn returns the opinion about a node. Of ten nodes the cloud says nothing about one, whatever it does, and
// something about one of the busy ones.
func (c *conn) opinionOn(n node, h history) (cloud.Opinion, bool) {
	r, draw := c.describeNode(n, h, c.clk.Now()), c.drawProperty(n, asOpinion)%10
	out := cloud.Opinion{
		ID: "opinion/" + r.UID, ResourceUID: r.UID, Type: kinds[n.kind].Native, Region: regionNames[n.region],
		Currency: "USD", Origin: "simulation", Current: r.InstanceType,
		RefreshedAt: c.clk.Now().UTC().Truncate(24 * time.Hour),
	}
	if draw < 4 { // of others it does not say how much they would save
		out.Saving = new(money.FromScaled(int64(500+c.drawProperty(n, asSize)%20_000), 2))
	}
	unused := r.Facts["attachment_count"] == 0.0 || r.Facts["association_id"] == ""
	if r.Status != cloud.Running && !unused || draw == 0 {
		return out, false
	}
	return c.advise(out, n, unused)
}

// advise adds to an opinion what it recommends, if anything.
func (c *conn) advise(out cloud.Opinion, n node, unused bool) (cloud.Opinion, bool) {
	draw := c.drawProperty(n, asOpinion) % 10
	switch {
	case unused:
		out.Action, out.Native, out.Recommended = cloud.OpinionDelete, "Delete", "Delete what nothing uses"
	case c.patternOf(n) == idle && draw < 6:
		out.Action, out.Native, out.Recommended = cloud.OpinionStop, "Stop", "Stop the idle resource"
	case c.patternOf(n) == idle || draw == 1:
		out.Action, out.Native = cloud.OpinionResize, "Rightsize"
		out.Target = smallerClass(out.Current)
		out.Recommended = fmt.Sprintf("Change %s to %s", out.Current, out.Target)
	default:
		return out, false
	}
	return out, out.Action != cloud.OpinionResize || out.Target != ""
}

// smallerSizes are sizes of classes, each with the next smaller one.
var smallerSizes = map[string]string{
	"24xlarge": "16xlarge", "16xlarge": "12xlarge", "12xlarge": "8xlarge", "8xlarge": "4xlarge", "4xlarge": "2xlarge",
	"2xlarge": "xlarge", "xlarge": "large", "large": "medium", "medium": "small", "small": "micro",
}

// smallerClass returns the class of the next smaller size, "" if there is none.
func smallerClass(class string) string {
	at := strings.LastIndex(class, ".")
	if next := smallerSizes[class[at+1:]]; at > 0 && next != "" {
		return class[:at+1] + next
	}
	return ""
}
