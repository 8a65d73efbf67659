package gcp

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// This file reads the facts of facts.csv out of the listings of the kinds. It makes no calls.

// instanceFacts returns the facts of an instance. stopped_at is cloud.Never while the instance runs, whenever it was
// last stopped.
func instanceFacts(i *googlerest.Instance) cloud.Facts {
	f := cloud.Facts{
		"state": i.Status, "spot": false, "mig": groupOf(i), "gke": false, "local_ssd_count": float64(localSSDs(i)),
		"gpu_count":   0.0,
		"external_ip": false, "default_sa": false, "full_scope": false, "shielded": false, "serial_port": false,
		"auto_restart": false,
		"os_license":   "", "stopped_at": cloud.Never,
	}
	_, f["gke"] = i.Labels["goog-gke-node"]
	if s := i.Scheduling; s != nil {
		f["spot"] = s.ProvisioningModel == "SPOT" || s.Preemptible
		f["auto_restart"] = s.AutomaticRestart == nil || *s.AutomaticRestart
	}
	gpus := int64(0)
	for _, a := range i.GuestAccelerators {
		gpus += a.AcceleratorCount
	}
	f["gpu_count"] = float64(gpus)
	for _, n := range i.NetworkInterfaces {
		for _, a := range n.AccessConfigs {
			f["external_ip"] = f["external_ip"] == true || a.NatIP != ""
		}
	}
	f["shielded"] = i.ShieldedInstanceConfig.EnableVtpm && i.ShieldedInstanceConfig.EnableIntegrityMonitoring
	policies := []string{}
	for _, p := range i.ResourcePolicies {
		policies = append(policies, lastPart(p))
	}
	f["resource_policies"] = policies
	addAccount(f, i)
	addTimes(f, i)
	addBoot(f, i)
	return f
}

// defaultAccount is the suffix of the service account of instances that name none.
const defaultAccount = "-compute@developer.gserviceaccount.com"

func addAccount(f cloud.Facts, i *googlerest.Instance) {
	if len(i.ServiceAccounts) > 0 {
		f["default_sa"] = strings.HasSuffix(i.ServiceAccounts[0].Email, defaultAccount)
		f["full_scope"] = slices.ContainsFunc(i.ServiceAccounts[0].Scopes, func(s string) bool {
			return lastPart(s) == "cloud-platform"
		})
	}
	for _, item := range i.Metadata.Items {
		if item.Key == "serial-port-enable" && item.Value != nil {
			f["serial_port"] = slices.Contains([]string{"1", "true"}, strings.ToLower(*item.Value))
		}
	}
}

func addTimes(f cloud.Facts, i *googlerest.Instance) {
	if i.LastStartTimestamp != "" {
		f["started_at"] = timeOf(i.LastStartTimestamp)
	}
	last := i.LastStopTimestamp
	switch i.Status {
	case "SUSPENDED":
		last = i.LastSuspendedTimestamp
	case "TERMINATED", "STOPPED":
	default:
		return
	}
	if delete(f, "stopped_at"); last != "" {
		f["stopped_at"] = timeOf(last)
	}
}

// billedLicences are the parts of names of licences that are billed by the hour.
var billedLicences = []string{"windows-server", "sql-server", "rhel", "sles"}

func addBoot(f cloud.Facts, i *googlerest.Instance) {
	for _, d := range i.Disks {
		for _, l := range d.Licenses {
			if d.Boot && slices.ContainsFunc(billedLicences, func(p string) bool {
				return strings.Contains(lastPart(l), p)
			}) {
				f["os_license"] = lastPart(l)
			}
		}
	}
}

// groupFacts returns the facts of a managed instance group.
func groupFacts(g group) cloud.Facts {
	f := cloud.Facts{
		"target_size": float64(g.TargetSize), "regional": g.Zone == "", "autohealing": len(g.AutoHealingPolicies) > 0,
		"gke": strings.HasPrefix(g.Name, "gke-"), "autoscaled": false, "min_replicas": 0.0,
		"unstable_since": cloud.Never,
	}
	if g.Status != nil {
		if f["stable"] = g.Status.IsStable; !g.Status.IsStable {
			f["unstable_since"] = cloud.Since{}
		}
	}
	if g.scaler != nil && g.scaler.AutoscalingPolicy != nil {
		f["autoscaled"] = g.scaler.AutoscalingPolicy.Mode == "ON"
		f["min_replicas"] = float64(g.scaler.AutoscalingPolicy.MinNumReplicas)
	}
	return f
}

// nodepoolFacts returns the facts of a node pool.
func nodepoolFacts(n nodepool) cloud.Facts {
	nodes := int64(0)
	for _, s := range n.sizes {
		nodes += s
	}
	f := cloud.Facts{
		"node_count": float64(nodes), "autoscaling": false, "min_nodes": 0.0, "spot": false, "auto_upgrade": false,
		"auto_repair": false, "default_sa": true,
	}
	if a := n.Autoscaling; a != nil {
		f["autoscaling"], f["min_nodes"] = a.Enabled, float64(a.MinNodeCount)
	}
	f["auto_upgrade"], f["auto_repair"] = n.Management.AutoUpgrade, n.Management.AutoRepair
	if c := n.Config; c != nil {
		f["spot"] = c.Spot || c.Preemptible
		f["default_sa"] = c.ServiceAccount == "" || c.ServiceAccount == "default" ||
			strings.HasSuffix(c.ServiceAccount, defaultAccount)
	}
	return f
}

// databaseFacts returns the facts of a Cloud SQL instance.
func databaseFacts(d *googlerest.DatabaseInstance) cloud.Facts {
	f := cloud.Facts{
		"activation": activationPolicy(d), "engine": d.DatabaseVersion,
		"replica":       d.InstanceType == "READ_REPLICA_INSTANCE",
		"replica_count": float64(len(d.ReplicaNames)),
	}
	s := d.Settings
	if s == nil {
		return f
	}
	f["edition"], f["ha"], f["storage_gb"] = s.Edition, s.AvailabilityType == "REGIONAL", float64(s.DataDiskSizeGb)
	if s.DataDiskType != "" {
		f["storage_type"] = s.DataDiskType
	}
	f["storage_auto"] = s.StorageAutoResize == nil || *s.StorageAutoResize
	f["deletion_protection"], f["backups"], f["retained_backups"] = s.DeletionProtectionEnabled, false, 0.0
	if n, ok := tierCores(s.Tier); ok {
		f["vcpu"] = n
	}
	if b := s.BackupConfiguration; b != nil {
		f["backups"], f["retained_backups"] = b.Enabled, float64(b.BackupRetentionSettings.RetainedBackups)
	}
	if ip := s.IPConfiguration; ip != nil {
		f["public_ip"], f["ssl_required"] = ip.Ipv4Enabled, ip.SslMode != "" &&
			ip.SslMode != "ALLOW_UNENCRYPTED_AND_ENCRYPTED"
		f["open_network"] = false
		for _, n := range ip.AuthorizedNetworks {
			f["open_network"] = f["open_network"] == true || n.Value == "0.0.0.0/0"
		}
	}
	return f
}

// tierName has the cores in the names of tiers: db-custom-4-16384, db-n1-standard-2, db-perf-optimized-N-8.
var tierName = regexp.MustCompile(
	`^db-(?:custom|[a-z0-9]+-(?:standard|highmem|highcpu)|perf-optimized-[A-Z]|memory-optimized-[A-Z])-(\d+)(?:-\d+)?$`)

// tierCores reads the number of cores from the name of a tier, because the listing of tiers has only the memory.
// Shared tiers count as one core.
func tierCores(tier string) (float64, bool) {
	switch tier {
	case "db-f1-micro", "db-g1-small":
		return 1, true
	}
	m := tierName.FindStringSubmatch(tier)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	return n, err == nil
}

// runFacts returns the facts of a Cloud Run service.
func runFacts(s runService) cloud.Facts {
	f := cloud.Facts{"ingress": s.Ingress, "min_instances": float64(s.Scaling.MinInstanceCount), "gpu": false}
	t := s.Template
	if t == nil {
		return f
	}
	f["min_instances"] = float64(max(t.Scaling.MinInstanceCount, s.Scaling.MinInstanceCount))
	f["concurrency"], f["gpu"] = float64(t.MaxInstanceRequestConcurrency), t.NodeSelector.Accelerator != ""
	if len(t.Containers) > 0 && t.Containers[0].Resources != nil {
		r := t.Containers[0].Resources
		f["cpu_always"] = !r.CPUIdle
		addQuantity(f, "cpu_limit", r.Limits["cpu"], 1)
		addQuantity(f, "memory_mb", r.Limits["memory"], 1e-6)
	}
	return f
}

// suffixes are the suffixes of quantities: "500m" of a core, "512Mi" of memory.
var suffixes = map[string]float64{
	"": 1, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30,
}

// addQuantity adds a quantity, if it can be read.
func addQuantity(f cloud.Facts, name, quantity string, factor float64) {
	digits := strings.TrimRight(quantity, "mkMGKi")
	n, err := strconv.ParseFloat(digits, 64)
	if by, known := suffixes[quantity[len(digits):]]; known && err == nil {
		f[name] = n * by * factor
	}
}
