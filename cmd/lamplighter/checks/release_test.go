package checks

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// release is .goreleaser.yaml, as far as this test reads it.
type release struct {
	Builds []struct {
		Main   string   `yaml:"main"`
		GOOS   []string `yaml:"goos"`
		GOARCH []string `yaml:"goarch"`
		Tags   []string `yaml:"tags"`
	} `yaml:"builds"`
	Archives []struct {
		Files []any `yaml:"files"`
	} `yaml:"archives"`
	Images []struct {
		Dockerfile string `yaml:"dockerfile"`
	} `yaml:"dockers_v2"`
}

// TestRelease_HasTheProgramsAsTheyAreBuiltHere compares .goreleaser.yaml, which no test runs, with the repository.
func TestRelease_HasTheProgramsAsTheyAreBuiltHere(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var r release
	if err = yaml.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	tags := regexp.MustCompile(`(?m)^TAGS := (.*)$`).FindStringSubmatch(string(makefile))
	if tags == nil || len(r.Builds) != 2 || len(r.Images) != 1 {
		t.Fatalf("tags %q, %d programs, %d images", tags, len(r.Builds), len(r.Images))
	}
	needed := []string{r.Images[0].Dockerfile}
	for _, b := range r.Builds {
		needed = append(needed, b.Main)
		if len(b.GOOS)*len(b.GOARCH) != 6 {
			t.Errorf("%s is built for %q and %q", b.Main, b.GOOS, b.GOARCH)
		}
		if b.Main == "./cmd/lamplighter" && !slices.Equal(b.Tags, strings.Split(tags[1], ",")) {
			t.Errorf("%s has the tags %q, and the Makefile %q", b.Main, b.Tags, tags[1])
		}
	}
	for _, a := range r.Archives {
		for _, f := range a.Files {
			if pattern, ok := f.(string); ok {
				needed = append(needed, pattern)
			}
		}
	}
	for _, pattern := range needed {
		if found, err := filepath.Glob(filepath.Join(root, pattern)); err != nil || len(found) == 0 {
			t.Errorf("%s names nothing: %v", pattern, err)
		}
	}
}
