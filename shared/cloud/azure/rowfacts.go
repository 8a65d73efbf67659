package azure

import (
	"math"
	"net/netip"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// rowFacts are kindFacts of the types that no kind lists, and of kinds whose rules read a single fact.
var rowFacts = map[string]map[string]fact{
	"azure-acr": {
		"sku": skuOf, "admin_user": flagFact("adminUserEnabled"),
		"retention":         wordIsFact("policies.retentionPolicy.status", "enabled"),
		"private_endpoints": lengthFact("privateEndpointConnections"),
	},
	"azure-apim": {
		"sku": skuOf, "capacity": skuCount, "zone_count": zoneCount,
		"vnet": func(r row) (any, bool) {
			kind := r.textAt("virtualNetworkType")
			return kind != "" && !strings.EqualFold(kind, "None"), true
		},
	},
	"azure-availability-set": {
		"vm_count": lengthFact("virtualMachines"),
		"asr":      func(r row) (any, bool) { return strings.HasSuffix(strings.ToLower(r.Name), "-asr"), true },
	},
	"azure-cosmosdb": {
		"region_count":          lengthFact("locations"),
		"capability_serverless": hasNamed("capabilities", "EnableServerless"), "public_access": openCosmos,
	},
	"azure-ddos-plan":      {"network_count": lengthFact("virtualNetworks")},
	"azure-dedicated-host": {"vm_count": lengthFact("virtualMachines")},
	"azure-eventhub": {
		"sku": skuOf, "capacity": skuCount, "auto_inflate": flagFact("isAutoInflateEnabled"),
	},
	"azure-expressroute": {
		"provider_state": requiredTextFact("serviceProviderProvisioningState"), "tier": skuTier,
		"bandwidth_mbps": numberFact("serviceProviderProperties.bandwidthInMbps"),
		"peering_count":  lengthFact("peerings"),
		"billing_model":  func(r row) (any, bool) { return skuText(r, func(s *sku) string { return s.Family }) },
	},
	"azure-firewall": {
		"tier": requiredTextFact("sku.tier"), "ip_config_count": lengthFact("ipConfigurations"),
		"idps_mode": intrusionMode, "tls_inspection": inspectsTLS,
	},
	"azure-frontdoor-waf": {"link_count": sumOfLengths("securityPolicyLinks", "frontendEndpointLinks")},
	"azure-keyvault": {
		"purge_protection": flagFact("enablePurgeProtection"), "network_open": openVault,
		"is_hsm_pool": func(r row) (any, bool) {
			return strings.HasSuffix(strings.ToLower(r.Type), "/managedhsms"), true
		},
	},
	"azure-loganalytics": {
		"retention_days": numberFact("retentionInDays"), "daily_cap_gb": numberOr("workspaceCapping.dailyQuotaGb", -1),
		"commitment_gb": numberOr("sku.capacityReservationLevel", 0), "sentinel": hasSentinel,
	},
	"azure-netapp-pool": {
		"size_tib": scaledFact("size", 1.0/(1<<40)), "volume_count": volumeCount, "allocated_tib": allocatedTiB,
	},
	"azure-nsg": {"attached": eitherPresent("networkInterfaces", "subnets"), "open_ports": openPorts},
	"azure-private-dns-zone": {
		"link_count": numberFact("numberOfVirtualNetworkLinks"),
	},
	"azure-private-endpoint": {"connection_state": connectionState},
	"azure-redis": {
		"sku": requiredTextFact("sku.name"), "capacity": numberFact("sku.capacity"),
		"non_ssl": flagFact("enableNonSslPort"),
	},
	"azure-search":     {"sku": skuOf, "replicas": numberFact("replicaCount")},
	"azure-servicebus": {"sku": skuOf, "capacity": skuCount},
	"azure-snapshot": {
		"vault_owned": vaultOwned, "source_exists": sourceExists,
	},
	"azure-sql-elasticpool": {
		"sku_tier": skuTier, "capacity": skuCount, "license_type": textFact("licenseType"),
		"database_count": poolMembers,
	},
	"azure-storage": {
		"kind": func(r row) (any, bool) { return r.Kind, r.Kind != "" }, "sku": skuOf,
		"https_only": flagFact("supportsHttpsTrafficOnly"), "min_tls": requiredTextFact("minimumTlsVersion"),
		"blob_public": flagFact("allowBlobPublicAccess"), "network_open": openVault, "sftp": flagFact("isSftpEnabled"),
	},
	cloud.AzureStreamAnalytics: {"state": requiredTextFact("jobState")},
	"azure-trafficmanager":     {"endpoint_count": enabledEndpoints},
	"azure-vnet": {
		"ddos_plan": flagFact("enableDdosProtection"), "peerings_down": peeringsDown, "used_ip_pct": fullestSubnet,
	},
	"azure-vnet-gateway": {
		"gateway_type": requiredTextFact("gatewayType"), "sku": requiredTextFact("sku.name"),
		"p2s": presenceFact("vpnClientConfiguration"), "connection_count": gatewayConnections,
	},
}

// factsOfRow returns how the facts of a type are read from its rows, or nil.
func factsOfRow(kind string) map[string]fact {
	if of := kindFacts[kind]; of != nil {
		return of
	}
	return rowFacts[kind]
}

// propertiesOf returns the properties of the objects of a list, each of which is a resource of its own.
func (r row) propertiesOf(path string) []row {
	var out []row
	for _, o := range r.objectsAt(path) {
		out = append(out, row{whole: map[string]any{"properties": o["properties"]}})
	}
	return out
}

// hasNamed reports whether a list has an object with the name.
func hasNamed(path, name string) fact {
	return func(r row) (any, bool) {
		return slices.ContainsFunc(r.objectsAt(path), func(o map[string]any) bool {
			text, _ := o["name"].(string)
			return strings.EqualFold(text, name)
		}), true
	}
}

// sumOfLengths counts the entries of lists.
func sumOfLengths(paths ...string) fact {
	return func(r row) (any, bool) {
		sum := 0.0
		for _, p := range paths {
			n, _ := lengthFact(p)(r)
			sum += n.(float64)
		}
		return sum, true
	}
}

// eitherPresent reports whether one of the lists has an entry.
func eitherPresent(paths ...string) fact {
	return func(r row) (any, bool) {
		n, _ := sumOfLengths(paths...)(r)
		return n != 0.0, true
	}
}

// isPublic reports whether a resource has an endpoint in the internet: that is the default.
func (r row) isPublic() bool { return !strings.EqualFold(r.textAt("publicNetworkAccess"), "Disabled") }

// openVault reports whether a vault or storage account admits every network: without rules, it does.
var openVault fact = func(r row) (any, bool) {
	action := r.textAt("networkAcls.defaultAction")
	return r.isPublic() && (action == "" || strings.EqualFold(action, "Allow")), true
}

// openCosmos reports whether a database account admits every network.
var openCosmos fact = func(r row) (any, bool) {
	rules, _ := lengthFact("ipRules")(r)
	return r.isPublic() && rules == 0.0 && r.valueAt("isVirtualNetworkFilterEnabled") != true, true
}

// connectionState is the state of a private endpoint's connection to its service.
var connectionState fact = func(r row) (any, bool) {
	for _, path := range []string{"privateLinkServiceConnections", "manualPrivateLinkServiceConnections"} {
		for _, c := range r.propertiesOf(path) {
			state := c.textAt("privateLinkServiceConnectionState.status")
			return state, state != ""
		}
	}
	return nil, false
}

// enabledEndpoints counts the endpoints of a profile that are switched on.
var enabledEndpoints fact = func(r row) (any, bool) {
	n := 0.0
	for _, e := range r.propertiesOf("endpoints") {
		if strings.EqualFold(e.textAt("endpointStatus"), "Enabled") {
			n++
		}
	}
	return n, true
}

// peeringsDown counts the peerings whose other side is gone.
var peeringsDown fact = func(r row) (any, bool) {
	n := 0.0
	for _, p := range r.propertiesOf("virtualNetworkPeerings") {
		if strings.EqualFold(p.textAt("peeringState"), "Disconnected") {
			n++
		}
	}
	return n, true
}

// reservedAddresses is how many addresses of a subnet Azure uses itself.
const reservedAddresses = 5

// fullestSubnet is the share of the addresses that are in use, in percent, of the subnet with the largest share.
var fullestSubnet fact = func(r row) (any, bool) {
	fullest := 0.0
	for _, s := range r.propertiesOf("subnets") {
		prefixes, _ := listFact("addressPrefixes")(s)
		size := 0.0
		for _, p := range append(prefixes.([]string), s.textAt("addressPrefix")) {
			if at, err := netip.ParsePrefix(p); err == nil && at.Addr().Is4() {
				size += math.Exp2(float64(32-at.Bits())) - reservedAddresses
			}
		}
		if used, _ := lengthFact("ipConfigurations")(s); size > 0 {
			fullest = max(fullest, used.(float64)/size*100)
		}
	}
	return fullest, true
}

// vaultOwned reports whether Azure Backup made a snapshot.
var vaultOwned fact = func(r row) (any, bool) {
	tagged, _ := hasTag("RSVaultBackup")(r)
	return tagged == true || strings.HasPrefix(strings.ToLower(r.Name), "azurebackup_"), true
}
