package simulated

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// plantedTable lists the resources of an account with the setting facts=planted: a line each, with the rules that find
// it. A healthy resource has none. The line decides the environment, the use, and the facts that differ from those of
// a healthy resource; "unused" says that nothing uses it. The fact desired is the first size of a service. "past" is
// the rule of a change that was made on the day of the setting changedOn, the cost before it in percent, and the facts
// before it that the rule reads.
//
//go:embed planted.csv
var plantedTable string

// plantedNode is a line of plantedTable.
type plantedNode struct {
	rules   []string
	env     string
	pattern pattern
	unused  bool
	facts   cloud.Facts
	past    plantedPast
}

// plantedKey is a node of a planted account, which has one region.
type plantedKey struct {
	kind   uint8
	number uint32
}

// plantedPatterns are the names of patterns in plantedTable.
var plantedPatterns = map[string]pattern{"idle": idle, "nightly": nightly, "busy": busy}

// readPlanted reads plantedTable. The number of a node is its place among the lines of its kind.
func readPlanted() map[plantedKey]plantedNode {
	out, counts := map[plantedKey]plantedNode{}, map[int]uint32{}
	_, lines, _ := strings.Cut(plantedTable, "\n") // behind the header
	for line := range strings.Lines(lines) {
		cells := strings.Split(strings.TrimSpace(line), ";")
		kind, known := kindOf(cells[0])
		if len(cells) != 7 || !known {
			panic(fmt.Sprintf("planted.csv: %q does not have a kind of this cloud and six more cells", line))
		}
		out[plantedKey{uint8(kind), counts[kind]}] = plantedNode{
			rules: strings.Fields(cells[1]), env: cells[2], pattern: plantedPatterns[cells[3]],
			unused: cells[4] == "yes", facts: plantedFacts(cells[5]), past: readPast(cells[6]),
		}
		counts[kind]++
	}
	return out
}

// plantedFacts reads facts of the form name=value: truths, numbers and texts.
func plantedFacts(text string) cloud.Facts {
	out := cloud.Facts{}
	for item := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(item, "=")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			out[name] = n
		} else if truth, err := strconv.ParseBool(value); err == nil {
			out[name] = truth
		} else {
			out[name] = value
		}
	}
	return out
}

// plant makes the account one with exactly the planted resources, in its first region.
func (s *settings) plant() {
	s.planted = readPlanted()
	s.counts = make([][]int, len(kinds))
	for kind := range s.counts {
		s.counts[kind] = make([]int, len(s.regions))
	}
	for at := range s.planted {
		s.counts[at.kind][0]++
	}
}

// plantedAs returns how a node is planted; false in an account without planted nodes.
func (s *settings) plantedAs(n node) (plantedNode, bool) {
	p, is := s.planted[plantedKey{n.kind, n.number}]
	return p, is
}

// plantFacts sets the facts of the line of a planted node.
func (s *settings) plantFacts(n node, r *cloud.Resource) {
	p, is := s.plantedAs(n)
	if !is {
		return
	}
	if r.Facts == nil {
		r.Facts = cloud.Facts{}
	}
	for name, v := range p.facts {
		if name != sizeFact { // an action may have changed it
			r.Facts[name] = v
		}
	}
}

// sizeFact is the fact that is the number of instances of a service.
const sizeFact = "desired"

// plantedSize is how many instances a planted service has, unless its line says otherwise.
const plantedSize = 2

// plantedCapacity returns the first size of a planted service.
func (p *plantedNode) plantedCapacity() capacity {
	d := int32(plantedSize)
	if n, told := p.facts[sizeFact].(float64); told {
		d = int32(n)
	}
	return capacity{Min: 1, Max: 2 * d, Desired: d}
}

// Waste is a resource of an account with the setting facts=planted. Rules are the recommendation rules that find it,
// without those that need metrics of more than two weeks; a healthy resource has none.
type Waste struct {
	UID, Type, Region string
	Rules             []string
}

// PlantedWaste lists the resources of an account with the setting facts=planted by their type and number. It is empty
// for other accounts.
func PlantedWaste(a cloud.Account) ([]Waste, error) {
	s, err := parseSettings(a)
	if err != nil {
		return nil, err
	}
	var out []Waste
	for kind := range kinds {
		for region, count := range s.counts[kind] {
			at := uint8(slices.Index(regionNames, s.regions[region]))
			for number := range uint32(count) {
				n := node{kind: uint8(kind), region: at, number: number}
				if p, is := s.plantedAs(n); is {
					out = append(out, Waste{s.nativeUID(n), kinds[kind].Type, s.regions[region], p.rules})
				}
			}
		}
	}
	return out, nil
}
