package simulated

import (
	"context"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// collectedShares are the kinds that an account has when its setting kinds names them, with their shares of 100
// resources. They are listed as the long tail of a real cloud is, in one go. The list is append-only, as kinds is.
var collectedShares = []struct {
	kind  string
	share int
}{
	{"aws-ebs", 70},
	{"aws-ebs-snapshot", 40},
	{"aws-eip", 10},
	{"aws-elb", 8},
	{"aws-nat", 3},
	{"aws-s3", 12},
	{"aws-lambda", 20},
	{"aws-sqs", 10},
	{"aws-ecr", 5},
	{"aws-dynamodb", 5},
	{"aws-elasticache", 3},
	{"aws-opensearch", 1},
	{"aws-log-group", 20},
	{"aws-sns", 5},
	{"aws-security-group", 10},
	{"aws-redshift", 1},
	{"aws-docdb", 1},
	{"aws-neptune", 1},
	{"aws-sagemaker-notebook", 2},
	{"azure-vm", 30},
	{"azure-vmss", 4},
	{"azure-aks", 2},
	{"azure-aks-nodepool", 4},
	{"azure-postgresql-flexible", 3},
	{"azure-mysql-flexible", 2},
	{"azure-containerapp", 4},
	{"azure-appservice", 6},
	{"azure-disk", 30},
	{"azure-publicip", 8},
	{"azure-loadbalancer", 3},
	{"azure-storage", 8},
	{"gcp-compute", 30},
	{"gcp-mig", 4},
	{"gcp-cloudsql", 4},
	{"gcp-gke-nodepool", 4},
	{"gcp-cloudrun", 6},
	{"gcp-disk", 30},
	{"gcp-address", 6},
	{"gcp-gcs", 8},
	{"gcp-memorystore", 2},
	{"kubernetes-namespace", 6},
	{"kubernetes-deployment", 30},
	{"kubernetes-statefulset", 6},
	{"kubernetes-cronjob", 6},
	{"kubernetes-persistentvolumeclaim", 8},
	{cloud.KubernetesNode, 0}, // as many as nodes.go says
	{"aws-cloudtrail", 0},     // planted ones alone
}

// everyCollected is the index of the collective kind, which is not in kinds.
const everyCollected = -1

// collectedKinds returns the kinds of collectedShares. The catalogue lists the possible acts.
func collectedKinds() []kind {
	out := make([]kind, len(collectedShares))
	for i, c := range collectedShares {
		k := kind{
			Kind: describeKind(c.kind), share: c.share, path: c.kind + "/", describe: "simulated:ListOthers",
			words: plain,
		}
		k.Collected = true
		k.service, _, _ = strings.Cut(c.kind, "-")
		if k.Actionable {
			k.start, k.stop = "simulated:Start", "simulated:Stop"
		}
		if k.Scalable {
			k.resize = "simulated:Scale"
		}
		if k.Remembers {
			k.words = scaled
		}
		out[i] = k
	}
	return out
}

var plain = words{"running", "stopped", "starting", "stopping"}

// listOthers reads the next page of everything that is collected in the region: kind after kind, up to pageSize places.
func (c *conn) listOthers(ctx context.Context, r request, page string) (cloud.ResourcePage, error) {
	r.op = "simulated:ListOthers"
	kind, from, err := readPlace(page)
	if err != nil {
		return cloud.ResourcePage{},
			newFailure(cloud.Invalid, r, "InvalidNextToken", "page token "+page+" is not one of ours")
	}
	var out cloud.ResourcePage
	err = c.simulateCall(ctx, r, func(ctx context.Context) error {
		return c.world.readHistory(ctx, func(h history) { out = c.othersFrom(h, kind, r.region, from) })
	})
	return out, err
}

func readPlace(page string) (kind, from int, err error) {
	if page == "" {
		return 0, 0, nil
	}
	k, n, _ := strings.Cut(page, "/")
	if kind, err = strconv.Atoi(k); err != nil || kind < 0 || kind >= len(kinds) {
		return 0, 0, strconv.ErrRange
	}
	from, err = strconv.Atoi(n)
	return kind, max(from, 0), err
}

// othersFrom fills a page from a kind on.
func (c *conn) othersFrom(h history, kind int, region string, from int) cloud.ResourcePage {
	var out cloud.ResourcePage
	for ; kind < len(kinds); kind, from = kind+1, 0 {
		if !kinds[kind].Collected || c.nodeCount(kind, region) == 0 {
			continue
		}
		if len(out.Resources) >= c.page {
			out.Next = strconv.Itoa(kind) + "/" + strconv.Itoa(from)
			return out
		}
		part := c.listPage(h, kind, region, from)
		if out.Resources = append(out.Resources, part.Resources...); part.Next != "" {
			out.Next = strconv.Itoa(kind) + "/" + part.Next
			return out
		}
	}
	return out
}

// unusedRate is the share of volumes, addresses and the like that serve nothing.
const unusedRate = 0.2

// drawnValues holds the random values that every node has.
type drawnValues struct {
	unused bool
	size   float64 // in GB
	since  any     // when it fell out of use
}

func (s *settings) drawnOf(n node) drawnValues {
	unused := s.drawHit(n, asUnused, unusedRate)
	if p, is := s.plantedAs(n); is {
		unused = p.unused
	}
	d := drawnValues{
		unused, float64(int(8) << (s.drawProperty(n, asVolume) % 8)),
		cloud.Never,
	}
	switch {
	case d.unused && s.complete: // as a cloud answers that has been observed for long
		d.since = s.createdAt(n)
	case d.unused:
		d.since = cloud.Since{}
	}
	return d
}

// factSorts are the sorts of kinds; each returns nil of a kind of another.
var factSorts = []func(*settings, node, drawnValues) cloud.Facts{
	(*settings).computeFacts, (*settings).storageFacts, (*settings).networkFacts, (*settings).azureFacts,
	(*settings).googleFacts, (*settings).workloadFacts,
}

// factsOf returns the facts of the node; nil of a kind that has none here.
func (s *settings) factsOf(n node) cloud.Facts {
	d := s.drawnOf(n)
	for _, of := range factSorts {
		if facts := of(s, n, d); facts != nil {
			return facts
		}
	}
	return nil
}

// computeFacts returns the facts of AWS's compute types.
func (s *settings) computeFacts(n node, d drawnValues) cloud.Facts {
	switch kinds[n.kind].Type {
	case "aws-ec2":
		return cloud.Facts{"platform": "Linux/UNIX", "tenancy": "default"}
	case "aws-rds":
		return cloud.Facts{
			"engine": "postgres", "multi_az": s.drawHit(n, asUnused, 0.3), "storage_type": "gp3",
			"allocated_gb": 100.0,
		}
	case "aws-lambda":
		return cloud.Facts{
			"memory_mb": 16 * d.size, "timeout_s": 30.0, "runtime": "python3.12",
			"architecture": s.pickFrom(n, asSize, []string{"x86_64", "arm64"}), "ephemeral_mb": 512.0,
		}
	case "aws-sqs":
		return cloud.Facts{"dead_letter": !d.unused, "is_dead_letter": false, "wait_seconds": 20 * count(!d.unused)}
	}
	return nil
}

// storageFacts returns the facts of AWS's storage types.
func (s *settings) storageFacts(n node, d drawnValues) cloud.Facts {
	switch kinds[n.kind].Type {
	case "aws-ebs":
		return cloud.Facts{
			"attachment_count": count(!d.unused), "unattached_since": d.since, "size_gb": d.size,
			"encrypted":   !d.unused,
			"volume_type": s.pickFrom(n, asSize, []string{"gp2", "gp3", "gp3", "io2"}), "iops": 3000.0,
			"throughput_mibps": 125.0,
		}
	case "aws-ebs-snapshot":
		return cloud.Facts{
			"started_at": s.createdAt(n), "storage_tier": "standard", "source_exists": !d.unused,
			"ami_count": count(s.drawHit(n, asSize, 0.1)),
		}
	case "aws-s3":
		return cloud.Facts{
			"lifecycle_rules": count(!d.unused), "abort_multipart": !d.unused,
			"noncurrent_expiry": false, "versioning": named(!d.unused, "Enabled"),
		}
	case "aws-ecr":
		return cloud.Facts{
			"size_gb": d.size, "untagged_gb": d.size / 2 * count(d.unused), "lifecycle": !d.unused,
			"scan_on_push": !d.unused, "registry_scan": false, "last_pull_at": s.lastUse(n, d.unused),
		}
	}
	return nil
}

// networkFacts returns the facts of AWS's network types.
func (s *settings) networkFacts(n node, d drawnValues) cloud.Facts {
	switch kinds[n.kind].Type {
	case "aws-eip":
		return cloud.Facts{
			"association_id": named(!d.unused, "eipassoc"), "interface_attached": !d.unused,
			"unassociated_since": d.since,
		}
	case "aws-elb":
		return cloud.Facts{
			"lb_type":      s.pickFrom(n, asSize, []string{"application", "network", "classic"}),
			"scheme":       "internet-facing",
			"target_count": 3 * count(!d.unused), "healthy_count": 2 * count(!d.unused),
		}
	case "aws-nat":
		return cloud.Facts{"state": "available", "route_count": count(!d.unused)}
	}
	return nil
}

// azureFacts returns the facts of Azure's types.
func (s *settings) azureFacts(n node, d drawnValues) cloud.Facts {
	switch kinds[n.kind].Type {
	case "azure-disk":
		return cloud.Facts{
			"disk_state":    either(d.unused, "Unattached", "Attached"),
			"managed_by_vm": named(!d.unused, "vm"), "size_gb": d.size, "sku": "Premium_LRS",
			"unattached_since": d.since,
		}
	case "azure-publicip":
		return cloud.Facts{
			"attached": !d.unused, "sku": "Standard", "allocation": "Static",
			"unattached_since": d.since,
		}
	case "azure-loadbalancer":
		return cloud.Facts{
			"sku": "Standard", "backend_count": 2 * count(!d.unused), "rule_count": count(!d.unused),
			"nat_rule_count": 0.0,
		}
	case "azure-storage":
		return cloud.Facts{"kind": "StorageV2", "sku": "Standard_LRS", "lifecycle": !d.unused}
	}
	return nil
}

// googleFacts returns the facts of Google Cloud's types.
func (s *settings) googleFacts(n node, d drawnValues) cloud.Facts {
	switch kinds[n.kind].Type {
	case "gcp-disk":
		return cloud.Facts{
			"size_gb": d.size, "disk_type": "pd-ssd", "users": users(!d.unused),
			"last_detached_at": s.createdAt(n),
		}
	case "gcp-address":
		return cloud.Facts{
			"state": either(d.unused, "RESERVED", "IN_USE"), "address_type": "EXTERNAL",
			"unused_since": d.since,
		}
	case "gcp-gcs":
		return cloud.Facts{
			"storage_class": "STANDARD", "lifecycle_rules": count(!d.unused), "versioning": false,
			"autoclass": false,
		}
	case "gcp-memorystore":
		return cloud.Facts{"memory_gb": d.size, "tier": "BASIC"}
	}
	return nil
}

// lastUse returns when something was last used: never, when it is unused.
func (s *settings) lastUse(n node, unused bool) any {
	if unused {
		return cloud.Epoch
	}
	return s.createdAt(n)
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

func count(one bool) float64 {
	if one {
		return 1
	}
	return 0
}

func named(there bool, name string) string {
	if there {
		return name
	}
	return ""
}

func users(some bool) []string {
	if some {
		return []string{"instance"}
	}
	return []string{}
}
