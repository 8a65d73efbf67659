package functions_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions"
	"lamplighter.dev/functions/eraser"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// names returns the names in the paths that a pattern matches: the part that its * stands for.
func names(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	before, after, _ := strings.Cut(pattern, "*")
	for i := range found {
		found[i] = strings.TrimSuffix(strings.TrimPrefix(found[i], before), after)
	}
	slices.Sort(found)
	return found
}

func TestAll_HasEveryFolder(t *testing.T) {
	var have []string
	for _, f := range functions.All() {
		have = append(have, f.Name)
		if len(f.Groups) > 0 && f.Worker != nil {
			t.Errorf("%s has both groups and a worker", f.Name)
		}
	}
	slices.Sort(have)
	if want := names(t, "*/lambda/main.go"); !slices.Equal(have, want) {
		t.Errorf("functions.All has\n%v, the folders are\n%v", have, want)
	}
}

// A main that opens the platform of another function would have that one's rights in the store.
func TestMains_OpenTheirOwnDeclaration(t *testing.T) {
	for _, f := range functions.All() {
		b, err := os.ReadFile(filepath.Join(f.Name, "lambda", "main.go"))
		if err != nil || !regexp.MustCompile(
			`platform\.OpenLambda\(`+f.Name+`\.Declaration(, platform\.With(Tokens|AnchorKeys))?\)`).Match(b) ||
			strings.Count(string(b), "platform.OpenLambda(") != 1 {
			t.Errorf("functions/%s/lambda/main.go does not open the platform with its own Declaration: %v", f.Name, err)
		}
		if signs := slices.Contains([]string{"auth", "authorizer", "sso"}, f.Name); signs != strings.Contains(string(b),
			"platform.WithTokens") {
			t.Errorf("functions/%s/lambda/main.go must open the platform with WithTokens if it signs or verifies "+
				"access tokens, and only then: %v", f.Name, signs)
		}
	}
}

// A group that functions.go names and main.go leaves out answers in `make run` and is 404 in the cloud.
func TestMains_MountEachGroupOfTheirFunction(t *testing.T) {
	for _, f := range functions.All() {
		b, err := os.ReadFile(filepath.Join(f.Name, "lambda", "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range f.Groups {
			name := path.Base(runtime.FuncForPC(reflect.ValueOf(g).Pointer()).Name())
			if name == "functions.described" {
				name = "description.Operations"
			}
			if !strings.Contains(string(b), name+"(p") {
				t.Errorf("functions/%s/lambda/main.go does not mount %s", f.Name, name)
			}
		}
	}
}

func TestAll_NamesMachinesSamplesAndFunctionsThatThereAre(t *testing.T) {
	all := functions.All()
	if got, want := functions.Machines(all), names(t, "../statemachines/*.asl.json"); !slices.Equal(got, want) {
		t.Errorf("functions run the tasks of the machines %v; statemachines/ has %v", got, want)
	}
	var samples []string
	for _, f := range all {
		for _, s := range f.Samples {
			samples = append(samples, f.Name+"."+s)
		}
		if len(f.Groups) == 0 && len(f.Samples) == 0 {
			t.Errorf("%s is no operation group and declares no sample event: add events/%[1]s.<what>.json and <what> "+
				"to Samples", f.Name)
		}
		for _, c := range f.Calls {
			if !slices.ContainsFunc(all, func(o functions.Function) bool {
				return o.Name == c && (o.Worker != nil || answersWorker(o, f.Name))
			}) {
				t.Errorf("%s calls %s, which is no worker, and has no operation that is for it alone", f.Name, c)
			}
		}
	}
	slices.Sort(samples)
	if got := names(t, "../events/*.json"); !slices.Equal(got, samples) {
		t.Errorf("events/ has the samples\n%v, and functions declare\n%v", got, samples)
	}
}

// answersWorker reports whether a function has an operation that is for a worker alone.
func answersWorker(f functions.Function, worker string) bool {
	for _, g := range f.Operations(&platform.Platform{}) {
		if slices.ContainsFunc(g.Ops(), func(op rest.Op) bool { return op.Worker == worker }) {
			return true
		}
	}
	return false
}

// A function that answers operations uses the partitions of package rest.
func TestAll_OperationGroupsDeclareWhatRestTouches(t *testing.T) {
	for _, f := range functions.All() {
		var changing bool
		for _, g := range f.Operations(&platform.Platform{}) {
			changing = changing || slices.ContainsFunc(g.Ops(), func(op rest.Op) bool { return op.Changes() })
		}
		if more := f.Access.With(rest.Access); changing && len(more.All()) != len(f.Access.All()) {
			t.Errorf("%s changes something and does not declare rest.Access", f.Name)
		}
	}
}

// Only the eraser may change or delete a row of an audit log. The partitions that other functions declare to write must
// match no audit log as IAM compares them: there a * also matches a #.
func TestAll_NobodyButTheEraserChangesAuditRows(t *testing.T) {
	for _, f := range functions.All() {
		for _, p := range f.Access.Writes {
			for _, pk := range []string{"ORG#org_a#AUDIT", "AUDIT#SYS#03"} {
				if erases := f.Name == eraser.Declaration.Name && p == eraser.Everything; asIAM(string(p), pk) &&
					!erases {
					t.Errorf("%s declares to write %s, of which %s is one: declare it in Appends", f.Name, p, pk)
				}
			}
		}
	}
}

// asIAM reports whether IAM's StringLike holds.
func asIAM(pattern, s string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	s, ok := strings.CutPrefix(s, first)
	if !ok || !star {
		return ok && s == ""
	}
	for i := range len(s) + 1 {
		if asIAM(rest, s[i:]) {
			return true
		}
	}
	return false
}

// TestErasing_LeavesNothing fills every partition of an organization that any function declares, with items that lead
// to the members of each family, and erases the organization as the deployed function does, within its declaration.
func TestErasing_LeavesNothing(t *testing.T) {
	const org = "org_a"
	p, _ := apitest.NewPlatform(t)
	store, anywhere := p.Table, table.Within(t.Context(), "")
	keys := fill(t, store, org)
	i := slices.IndexFunc(functions.All(), func(f functions.Function) bool { return f.Name == eraser.Declaration.Name })
	f := functions.All()[i]
	kept := archived(t, p, org)
	p.Own(f.Declaration)
	input := `{"task":"erase","input":{"org":"` + org +
		`","jobID":"job_1","ended":"2026-01-01T00:00:00Z","actor":"a@example.com"}}`
	out, err := f.Worker(p, nil)(t.Context(), json.RawMessage(input))
	if r, _ := out.(eraser.Result); err != nil || !r.Done {
		t.Fatalf("%+v, %v", out, err)
	}
	for _, k := range keys {
		if it, err := store.Get(anywhere, k); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s %s is left: %s, %v", k.PK, k.SK, it.Data, err)
		}
	}
	if _, err = store.Get(anywhere, table.Key{PK: "ORG#org_b#CA", SK: "x"}); err != nil {
		t.Errorf("of another organization: %v", err)
	}
	if _, err = os.Stat(kept); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left in the archive: %v", kept, err)
	}
}

// archived puts an object of the organization into an archive, gives p the archiver that erases it, and returns its
// file.
func archived(t *testing.T, p *platform.Platform, org string) string {
	t.Helper()
	dir, name := t.TempDir(), org+"/2026-03/actions-0001.ndjson.gz"
	other := p.Clone()
	other.Archive, other.Lines = archive.NewFolder(dir), archive.NewFolder(t.TempDir())
	if err := other.Archive.Put(t.Context(), name, func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(functions.All(), func(f functions.Function) bool { return f.Name == archive.Worker })
	p.Workers = lambdacall.Local{archive.Worker: lambdacall.Handler(functions.All()[i].Worker(other, nil))}
	return filepath.Join(dir, name)
}

// fill puts an item into each partition, under the name that the families are led to by, and gives the keys of those
// that are the organization's. Some are of another organization.
func fill(t *testing.T, s table.Store, org string) []table.Key {
	t.Helper()
	const text = `{"id":"x","resourceUid":"x","changedBy":"x:y","email":"x@example.com","org":"org_a",` +
		`"domains":[{"name":"x.example.com"}],"chunks":["x"]}`
	var keys []table.Key
	put := func(pk string) {
		k := table.Key{PK: pk, SK: "x"}
		if strings.HasSuffix(pk, "#INV") || strings.HasSuffix(pk, "#RECX") {
			k.SK = "P#x" // the plan of a compaction, which leads to chunks
		}
		if strings.HasSuffix(pk, "#COST") {
			k.SK = "G#x" // a generation of a period, which leads to its chunks
		}
		if _, err := s.Write(table.Within(t.Context(), ""),
			table.Put(table.Item{Key: k, Data: []byte(text)})); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(pk, "ORG#org_b#") {
			keys = append(keys, k)
		}
	}
	for _, p := range functions.Partitions(functions.All()) {
		members := append(eraser.Members(p, org), eraser.Members(p, "org_b")...)
		for _, pk := range members {
			put(pk)
		}
		if p.OfOrg() && len(members) == 0 {
			name := strings.ReplaceAll(p.Name(), "*", "x")
			put("ORG#" + org + "#" + name)
			put("ORG#org_b#" + name)
		}
	}
	put("SIM#x")
	access, err := table.NewItem(identity.AccessKey(org), identity.Access{Ended: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Write(table.Within(t.Context(), ""), table.Put(access)); err != nil {
		t.Fatal(err)
	}
	if len(keys) < 29 {
		t.Fatalf("only %d partitions are declared", len(keys))
	}
	return append(keys, access.Key)
}
