package workflow

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"lamplighter.dev/shared/engine/workflow/asl"
)

// definitionSuffix is the suffix of files with state machines.
const definitionSuffix = ".asl.json"

var placeholder = regexp.MustCompile(`\$\{[^}]*\}`)

// LoadMachines parses the *.asl.json files of a folder. The keys of the result are the file names without the suffix.
// It replaces ${Name} in the files by names[Name], like the DefinitionSubstitutions of infra/stacks/*.yaml, and returns
// an error if a name is missing.
func LoadMachines(folder fs.FS, names map[string]string) (map[string]*asl.Machine, error) {
	files, err := fs.Glob(folder, "*"+definitionSuffix)
	if err != nil {
		return nil, fmt.Errorf("list state machines: %w", err)
	}
	out := make(map[string]*asl.Machine, len(files))
	for _, file := range files {
		m, err := readMachine(folder, file, names)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		out[strings.TrimSuffix(file, definitionSuffix)] = m
	}
	return out, nil
}

func readMachine(folder fs.FS, file string, names map[string]string) (*asl.Machine, error) {
	b, err := fs.ReadFile(folder, file)
	if err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	unknown := map[string]bool{}
	b = placeholder.ReplaceAllFunc(b, func(p []byte) []byte {
		name := string(p[2 : len(p)-1])
		v, ok := names[name]
		if !ok {
			unknown[name] = true
		}
		return []byte(v)
	})
	if len(unknown) > 0 {
		return nil, fmt.Errorf(
			"no substitution is given for ${%s}", strings.Join(slices.Sorted(maps.Keys(unknown)), "}, ${"))
	}
	return asl.Parse(b)
}
