// Command infra is the CDK app: one stack for each stage, made of template.yaml, its children and the settings of the
// stage. `cdk synth` runs it, and so does `go run ./infra`, which needs only Go and node and writes the templates to
// build/cdk.out.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

func main() {
	if err := synthesize("."); err != nil {
		fmt.Fprintln(os.Stderr, "infra:", err)
		os.Exit(1)
	}
}

// synthesize writes the stacks of every stage. root is the folder of template.yaml.
func synthesize(root string) error {
	if err := built(root); err != nil {
		return err
	}
	defer jsii.Close()
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: outdir(root)})
	for _, s := range stages {
		s.Domain, s.Operators = domainOf(app, s.Name), operatorsOf(app, s.Name)
		s.Canary = s.Canary && fromContext(app, "rollout", s.Name) != "at-once"
		NewService(app, root, s)
	}
	app.Synth(nil)
	return nil
}

// outdir returns the folder of the assembly: nil if CDK_OUTDIR names one, else build/cdk.out.
func outdir(root string) *string {
	if os.Getenv("CDK_OUTDIR") != "" {
		return nil
	}
	return jsii.String(filepath.Join(root, "build", "cdk.out"))
}

// built returns an error if the functions were not built: an asset of an empty folder would deploy no code.
func built(root string) error {
	folders, err := filepath.Glob(filepath.Join(root, "functions", "*", "lambda"))
	if err != nil {
		return fmt.Errorf("list functions: %w", err)
	}
	for _, f := range folders {
		name := filepath.Base(filepath.Dir(f))
		if _, err := os.Stat(filepath.Join(root, "build", name, "bootstrap")); err != nil {
			return fmt.Errorf("function %s is not built: run `make build` first: %w", name, err)
		}
	}
	return nil
}
