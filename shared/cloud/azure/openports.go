package azure

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// watchedPorts are the ports that rules ask about. A range of ports is told as those of them that it contains.
var watchedPorts = []int{22, 1433, 3306, 3389, 5432, 6379, 27017}

// allPorts is how the fact open_ports tells every port.
const allPorts = "all"

// securityRule is a rule of a network security group for traffic from the internet.
type securityRule struct {
	priority float64
	allows   bool
	ports    []string
}

// openPorts lists the ports that a network security group opens to the internet. A rule of a lower number decides
// before one of a higher number.
var openPorts fact = func(r row) (any, bool) {
	closed, open := map[string]bool{}, map[string]bool{}
	for _, s := range internetRules(r) {
		for _, port := range s.ports {
			switch {
			case closed[port] || closed[allPorts]:
			case s.allows:
				open[port] = true
			default:
				closed[port] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(open)), true
}

// internetRules returns the inbound rules for traffic from the internet, in the order in which they decide.
func internetRules(r row) []securityRule {
	var out []securityRule
	for _, p := range r.propertiesOf("securityRules") {
		if !strings.EqualFold(p.textAt("direction"), "Inbound") || !p.isFromInternet() {
			continue
		}
		priority, _ := p.valueAt("priority").(float64)
		s := securityRule{priority: priority, allows: strings.EqualFold(p.textAt("access"), "Allow")}
		if s.allows || p.isForEverything() {
			s.ports = p.destinationPorts()
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b securityRule) int { return cmp.Compare(a.priority, b.priority) })
	return out
}

// isFromInternet reports whether a rule is for traffic from every address.
func (r row) isFromInternet() bool {
	sources, _ := listFact("sourceAddressPrefixes")(r)
	return slices.ContainsFunc(append(sources.([]string), r.textAt("sourceAddressPrefix")), func(s string) bool {
		return slices.Contains([]string{"*", "internet", "any", "0.0.0.0/0", "::/0"}, strings.ToLower(s))
	})
}

// isForEverything reports whether a rule is for all protocols, or TCP, and all addresses of the network. Only such a
// rule closes a port.
func (r row) isForEverything() bool {
	protocol := strings.ToLower(r.textAt("protocol"))
	return (protocol == "*" || protocol == "tcp") && r.textAt("destinationAddressPrefix") == "*"
}

// destinationPorts returns the ports of a rule; ranges as the watched ports in them.
func (r row) destinationPorts() []string {
	ranges, _ := listFact("destinationPortRanges")(r)
	var out []string
	for _, text := range append(ranges.([]string), r.textAt("destinationPortRange")) {
		out = append(out, portsIn(text)...)
	}
	return out
}

// portsIn returns the ports that a text like "443", "*" or "20-25" means.
func portsIn(text string) []string {
	first, last, isRange := strings.Cut(text, "-")
	switch {
	case text == "":
		return nil
	case text == "*" || text == "0-65535" || text == "1-65535":
		return []string{allPorts}
	case !isRange:
		return []string{text}
	}
	from, err := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	var out []string
	for _, port := range watchedPorts {
		if err == nil && err2 == nil && from <= port && port <= to {
			out = append(out, strconv.Itoa(port))
		}
	}
	return out
}
