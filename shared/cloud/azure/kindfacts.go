package azure

import (
	"strings"

	"lamplighter.dev/shared/cloud"
)

// kindFacts are, by type, the facts of facts.csv that its row in the Resource Graph tells: nothing is asked for them.
var kindFacts = map[string]map[string]fact{
	cloud.AzureVM: {
		"power_state": powerOf, "os_type": told("storageProfile.osDisk.osType"), "license_type": text("licenseType"),
		"priority": textOr("priority", "Regular"), "zone_count": zoneCount,
		"vmss_id":            reference("virtualMachineScaleSet.id"),
		"managed_disk":       there("storageProfile.osDisk.managedDisk"),
		"encryption_at_host": flag("securityProfile.encryptionAtHost"),
		"availability_set":   reference("availabilitySet.id"),
		"ephemeral_os_disk":  there("storageProfile.osDisk.diffDiskSettings"),
		"burstable":          burstable, "public_ip": hasPublicAddress, "sql_edition": sqlEdition,
		"sql_license": sqlLicense,
	},
	cloud.AzureVMSS: {
		"capacity": skuCount, "zone_count": zoneCount, "aks_owned": hasTag("aks-managed-poolName"),
		"autoscaled": autoscaled,
		"priority":   textOr("virtualMachineProfile.priority", "Regular"), "health_probe": probed,
		"autoscale_min": autoscaleMin,
	},
	cloud.AzureAKS: {
		"power_state": told("powerState.code"), "tier": skuTier,
		"support_plan":      textOr("supportPlan", "KubernetesOfficial"),
		"private":           flag("apiServerAccessProfile.enablePrivateCluster"),
		"authorized_ranges": list("apiServerAccessProfile.authorizedIPRanges"),
		"local_accounts":    unset("disableLocalAccounts"), "entra": flag("aadProfile.managed"),
		"monitoring": flag("addonProfiles.omsagent.enabled"),
	},
	cloud.AzureAKSNodepool: {
		"mode": told("mode"), "count": number("count"), "autoscaling": flag("enableAutoScaling"),
		"min_count": numberOr("minCount", 0),
		"spot":      is("scaleSetPriority", "Spot"), "os_disk": told("osDiskType"),
		"zone_count": length("availabilityZones"),
		"version_lag": func(r row) (any, bool) {
			return minorLag(r.text("currentOrchestratorVersion"), r.text(clusterVersionOf))
		},
	},
	cloud.AzurePostgreSQL: {
		"state": told("state"), "tier": skuTier, "vcores": coresOf,
		"ha_mode":    textOr("highAvailability.mode", "Disabled"),
		"storage_gb": number("storage.storageSizeGB"), "auto_grow": is("storage.autoGrow", "Enabled"),
		"geo_backup": is("backup.geoRedundantBackup", "Enabled"), "replica_role": text("replicationRole"),
		"public_access": is("network.publicNetworkAccess", "Enabled"),
	},
	cloud.AzureMySQL: {
		"state": told("state"), "tier": skuTier, "vcores": coresOf,
		"ha_mode": textOr("highAvailability.mode", "Disabled"),
		"iops":    number("storage.iops"), "auto_io": is("storage.autoIoScaling", "Enabled"),
		"replica_role": text("replicationRole"),
	},
	cloud.AzureContainerApp: {
		"running_status": told("runningStatus"), "min_replicas": numberOr("template.scale.minReplicas", 0),
		"cpu_cores": appCores,
		"insecure":  flag("configuration.ingress.allowInsecure"), "ingress": there("configuration.ingress"),
	},
	cloud.AzureAppService: {
		"state": told("state"), "https_only": flag("httpsOnly"), "min_tls": told("siteConfig.minTlsVersion"),
	},
	cloud.AzureAppServicePlan: {
		"tier": skuTier, "workers": skuCount, "app_count": number("numberOfSites"),
		"zone_redundant": flag("zoneRedundant"),
		"autoscaled": func(r row) (any, bool) {
			return r.setting.scales() || r.at("elasticScaleEnabled") == true, true
		},
		"running_apps": runningApps,
	},
	cloud.AzureSynapseSQLPool: {"status": told("status"), "dwu": warehouseUnits},
	cloud.AzureSQLMI: {
		"state": told("state"), "tier": skuTier, "vcores": number("vCores"), "storage_gb": number("storageSizeInGB"),
		"license_type": text("licenseType"), "public_endpoint": flag("publicDataEndpointEnabled"),
	},
	cloud.AzureSQLDatabase: {
		"status": told("status"), "sku_tier": skuTier, "capacity": skuCount,
		"auto_pause_min": numberOr("autoPauseDelay", -1),
		"license_type":   text("licenseType"), "pool_id": reference("elasticPoolId"),
		"max_gb":         scaled("maxSizeBytes", 1.0/(1<<30)),
		"zone_redundant": flag("zoneRedundant"), "backup_redundancy": text("currentBackupStorageRedundancy"),
		"serverless": func(r row) (any, bool) {
			return r.SKU != nil && strings.Contains(r.SKU.Name, "_S_"), r.SKU != nil
		},
		"is_master": func(r row) (any, bool) {
			return strings.EqualFold(r.Name, "master"), true
		}, "sibling_count": siblings,
	},
	"azure-aci": {"restart_policy": textOr("restartPolicy", "Always")},
	"azure-adx": {
		"state": told("state"), "instances": skuCount, "autoscale": flag("optimizedAutoscale.isEnabled"),
		"auto_stop": flag("enableAutoStop"),
	},
	"azure-appgateway": {
		"sku": told("sku.name"), "backend_count": gatewayBackends,
		"autoscale_min": numberOr("autoscaleConfiguration.minCapacity", -1),
		"capacity":      numberOr("sku.capacity", 0), "state": told("operationalState"),
		"min_tls": text("sslPolicy.minProtocolVersion"),
	},
	"azure-fabric-capacity":   {"state": told("state"), "sku": skuOf},
	"azure-analysis-services": {"state": told("state"), "sku_tier": skuTier},
	"azure-disk": {
		"asr": replicaDisk, "public_access": openDisk, "vm_state": ownerState,
	},
}

var powerOf fact = func(r row) (any, bool) {
	m, err := properties[machine](r.resource)
	state := m.powerState()
	return state, err == nil && state != ""
}

// burstable: the sizes that save up for bursts are those of family B.
var burstable fact = func(r row) (any, bool) {
	size := strings.ToLower(r.text("hardwareProfile.vmSize"))
	return strings.HasPrefix(size, "standard_b") || strings.HasPrefix(size, "basic_b"), size != ""
}

// probed reports whether the set hears of sick machines: by a probe of its load balancer, or by an extension.
var probed fact = func(r row) (any, bool) {
	if r.at("virtualMachineProfile.networkProfile.healthProbe") != nil {
		return true, true
	}
	for _, e := range r.objects("virtualMachineProfile.extensionProfile.extensions") {
		p, _ := e["properties"].(map[string]any)
		if kind, _ := p["type"].(string); strings.HasPrefix(kind, "ApplicationHealth") {
			return true, true
		}
	}
	return false, true
}

var autoscaleMin fact = func(r row) (any, bool) {
	if !r.setting.scales() {
		return 0.0, true
	}
	return float64(r.setting.bounds.Min), true
}

var appCores fact = func(r row) (any, bool) {
	sum := 0.0
	for _, c := range r.objects("template.containers") {
		resources, _ := c["resources"].(map[string]any)
		cpu, _ := resources["cpu"].(float64)
		sum += cpu
	}
	return sum, sum > 0
}

// warehouseUnits reads "DW100c".
var warehouseUnits fact = func(r row) (any, bool) {
	if r.SKU == nil {
		return nil, false
	}
	r.whole = map[string]any{"properties": map[string]any{"n": strings.Trim(strings.ToUpper(r.SKU.Name), "DWC")}}
	return number("n")(r)
}

var gatewayBackends fact = func(r row) (any, bool) {
	sum := 0
	for _, pool := range r.objects("backendAddressPools") {
		p, _ := pool["properties"].(map[string]any)
		addresses, _ := p["backendAddresses"].([]any)
		interfaces, _ := p["backendIPConfigurations"].([]any)
		sum += len(addresses) + len(interfaces)
	}
	return float64(sum), true
}

// replicaDisk: Site Recovery names the disks that it copies to so.
var replicaDisk fact = func(r row) (any, bool) {
	tagged, _ := hasTag("ASR-ReplicaDisk")(r)
	return tagged == true || strings.Contains(strings.ToLower(r.Name), "asrreplica"), true
}

var openDisk fact = func(r row) (any, bool) {
	return strings.EqualFold(r.text("publicNetworkAccess"), "Enabled") &&
		strings.EqualFold(r.text("networkAccessPolicy"), "AllowAll"), true
}
