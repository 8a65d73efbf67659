package remediation

import (
	_ "embed"
	"encoding/csv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/rule"
)

// CodePatch is a change for the code that a resource is made from. Somebody applies it there: a change of the resource
// itself would be undone.
type CodePatch struct {
	Tool   string   `json:"tool" doc:"cloudformation, terraform, helm, gitops, or what the resource's tag names" example:"terraform"`
	Owner  *string  `json:"owner" doc:"The stack, workspace, release or application, as the tags say; null if they do not"`
	Format string   `json:"format" enum:"json,hcl,yaml,text" doc:"json: resources of a CloudFormation template; hcl: a block of Terraform; yaml: a merge patch of a Kubernetes object; text: words"`
	Text   string   `json:"text"`
	Notes  []string `json:"notes" nullable:"false" doc:"What the text does not say: values without a known name there, and values that a person chooses"`
}

// PatchSubject is the resource and its change that a patch is for.
type PatchSubject struct {
	Type, UID, Name string
	Verb            rule.Verb
	After           map[string]string // the values after the change
	Notes           []string          // values that are not known
}

// codeName is how tools name a value of a type.
type codeName struct {
	resource, argument string // of Terraform; an argument with dots is in blocks
	cfn, property      string // of CloudFormation
	manifest           string // the path in a Kubernetes object
	words              map[string]string
	factor             float64
}

//go:embed codenames.csv
var codeNamesFile string

// codeNames are the names of values by type and value. A value without a line is written in words.
var codeNames = sync.OnceValue(func() map[[2]string]codeName {
	lines, err := csv.NewReader(strings.NewReader(codeNamesFile)).ReadAll()
	if err != nil {
		panic("remediation: codenames.csv: " + err.Error())
	}
	out := map[[2]string]codeName{}
	for _, l := range lines[1:] {
		n := codeName{resource: l[2], argument: l[3], cfn: l[4], property: l[5], manifest: l[6]}
		n.factor, _ = strconv.ParseFloat(l[8], 64) // most have none
		for pair := range strings.FieldsSeq(l[7]) {
			if n.words == nil {
				n.words = map[string]string{}
			}
			from, to, _ := strings.Cut(pair, "=")
			n.words[from] = to
		}
		out[[2]string{l[0], l[1]}] = n
	}
	return out
})

// text returns a value as the tools write it.
func (n codeName) text(value string) string {
	if to, named := n.words[value]; named {
		return to
	}
	if number, err := strconv.ParseFloat(value, 64); err == nil && n.factor != 0 {
		return strconv.FormatFloat(number*n.factor, 'f', -1, 64)
	}
	return value
}

// sizeFacts returns the sizes of a group by the names of facts. Plans name them min, max and desired.
func sizeFacts(kind string, after map[string]string) map[string]string {
	out := map[string]string{}
	for fact, bound := range bounds[kind] {
		for _, name := range []string{fact, string(bound)} {
			if v, set := after[name]; set {
				out[fact] = v
			}
		}
	}
	return out
}

// PatchValues returns the values that a rule sets, as far as its stored evidence says them, and a note for each other
// one. A dry run computes those.
func PatchValues(r *rule.Rule, seen Observed) (after map[string]string, notes []string) {
	after = map[string]string{}
	for _, s := range r.Target.Settings {
		text, err := valueOf(s, seen)
		switch {
		case s.Op == "+=":
			notes = append(notes, s.Name+": add "+s.Value.Text)
		case s.Op == "-=":
			notes = append(notes, s.Name+": take away "+s.Value.Text)
		case err != nil, isAsked(r, s.Value):
			notes = append(notes, s.Name+": choose its value; a dry run with parameters."+s.Name+" checks it")
		case text == cloud.Carried:
			notes = append(notes, s.Name+": what the storage can do now; a dry run computes it")
		default:
			after[s.Name] = text
		}
	}
	return after, notes
}

// NewPatch returns the patch of a change for the code of its resource.
func NewPatch(o CodeOwner, s PatchSubject) CodePatch {
	if s.Verb == rule.VerbScale {
		s.After = sizeFacts(s.Type, s.After)
	}
	out := CodePatch{Tool: o.Tool, Notes: append([]string{}, s.Notes...)}
	if o.Name != "" {
		out.Owner = &o.Name
	}
	switch {
	case s.Verb == rule.VerbStop || s.Verb == rule.VerbSchedule:
		out.Format, out.Text = "text", inWords(o, s)
	case cloud.ChangeVerb(s.Verb).RemovesResource():
		out.Format, out.Text = "text", removal(o, s)
	default:
		out.writeForTool(o, s)
	}
	if out.Text == "" { // no value has a known name there
		out.Format, out.Text, out.Notes = "text", inWords(o, s), append([]string{}, s.Notes...)
	}
	return out
}

// writeForTool writes the values in the form of the tool, and nothing for a tool without one.
func (p *CodePatch) writeForTool(o CodeOwner, s PatchSubject) {
	switch o.Tool {
	case "cloudformation":
		p.writeTemplate(o, s)
	case "terraform", "opentofu":
		p.writeBlocks(s)
	case "helm", "gitops":
		p.writeManifest(o, s)
	}
}

// inWords says what to change, in the words of rules.
func inWords(o CodeOwner, s PatchSubject) string {
	where := "In " + o.String() + ", "
	switch {
	case s.Verb == rule.VerbStop:
		return where + "stop " + s.Type + " " + s.UID + ", or remove it."
	case s.Verb == rule.VerbSchedule:
		return where + "let a schedule start and stop " + s.Type + " " + s.UID + "."
	case len(s.After) == 0:
		return where + "change " + s.Type + " " + s.UID + " as the recommendation says."
	}
	var sets []string
	for _, name := range slices.Sorted(maps.Keys(s.After)) {
		sets = append(sets, name+" to "+s.After[name])
	}
	return where + "set for " + s.Type + " " + s.UID + ": " + strings.Join(sets, ", ") + "."
}

// removal says what to remove.
func removal(o CodeOwner, s PatchSubject) string {
	name, known := codeNames()[[2]string{s.Type, cloud.ExistsValue}]
	what := s.Type
	switch {
	case known && o.Tool == "cloudformation" && name.cfn != "":
		what = "the resource " + cmpOr(o.Part, "of type") + " " + name.cfn
	case known && (o.Tool == "terraform" || o.Tool == "opentofu"):
		what = "the block " + name.resource
	}
	return "In " + o.String() + ", remove " + what + " (" + s.UID + "). Take a snapshot first if its data is needed."
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
