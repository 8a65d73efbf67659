package azuretwin

import "strings"

// AddOffer adds an item to the list of sizes of a region: its type, its name, its capabilities, and its zones. A
// restriction is "Location", or the zone that the subscription may not use; "" is none.
func (c *Cloud) AddOffer(region, name string, capabilities map[string]string, zones []string, restriction string) {
	var all []any
	for n, v := range capabilities {
		all = append(all, map[string]any{"name": n, "value": v})
	}
	info := map[string]any{"locations": []string{region}}
	restrictions := []any{}
	switch restriction {
	case "":
	case "Location":
		restrictions = append(restrictions, map[string]any{"type": "Location", "restrictionInfo": info})
	default:
		info["zones"] = []string{restriction}
		restrictions = append(restrictions, map[string]any{"type": "Zone", "restrictionInfo": info})
	}
	c.ChangeLocked(func() {
		c.offers = append(c.offers, map[string]any{
			"resourceType": "virtualMachines", "name": name, "capabilities": all, "restrictions": restrictions,
			"locationInfo": []any{map[string]any{"location": region, "zones": zones}},
		})
	})
}

// offersIn returns the items of the region that a filter names: location eq 'westeurope'.
func (c *Cloud) offersIn(filter string) []any {
	region := strings.Trim(strings.TrimPrefix(filter, "location eq "), "'")
	out := []any{map[string]any{"resourceType": "disks", "name": "Premium_LRS"}}
	for _, o := range c.offers {
		at := o["locationInfo"].([]any)[0].(map[string]any) //nolint:forcetypeassert // as AddOffer made it
		if at["location"] == region {
			out = append(out, o)
		}
	}
	return out
}
