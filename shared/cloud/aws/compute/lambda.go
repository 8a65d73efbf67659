package compute

import (
	"context"
	"fmt"
	"net/http"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/lambda"
)

// allowStop is the tag that a function's owner sets to permit its stop. A stopped function refuses its callers, and
// the stop saves money only if the function has provisioned concurrency.
const allowStop = "lamplighter:allow-stop"

// notAllowed is the reason why functions without this tag are left alone.
const notAllowed = "Lambda functions are stopped only where their tag " + allowStop + " is true"

// StoppableFunctions are Lambda functions; the uid is the ARN. The listing of everything else finds them
// (functions.go). A stop removes the provisioned concurrency and sets the reserved concurrency to 0, so that every
// call is throttled. A start restores both; a function without a reservation gets none. A tag (functionMark) records
// the former values until all is restored, so that a half-stopped function is recognized.
var StoppableFunctions = resource.Kind[lambdaClient]{
	Kind: resource.CatalogueKind(cloud.AWSLambda),
	Needs: resource.Needs{
		Discover: []string{
			"lambda:ListFunctions", "lambda:GetFunctionConcurrency", "lambda:ListProvisionedConcurrencyConfigs",
			"lambda:ListTags", "tag:GetResources",
		},
		StartStop: []string{
			"lambda:PutFunctionConcurrency", "lambda:DeleteFunctionConcurrency",
			"lambda:PutProvisionedConcurrencyConfig",
			"lambda:DeleteProvisionedConcurrencyConfig", "lambda:TagResource", "lambda:UntagResource",
		},
	},
	Client: func(cfg sdk.Config) lambdaClient { return lambdaClient{lambda.NewFromConfig(cfg), cfg} },
	List: func(ctx context.Context, c lambdaClient, page string) (cloud.ResourcePage, error) {
		return listFunctions(ctx, resource.Place{Cfg: c.cfg, Region: c.cfg.Region}, page)
	},
	Read: resource.ReadOneByOne(func(ctx context.Context, c lambdaClient, uid string) (cloud.State, error) {
		f, err := readFunction(ctx, c.Client, uid)
		return f.state(), err
	}),
	Act: resource.ActOneByOne(actFunction),
}

// lambdaClient is the client of Lambda and its configuration. The tags of a listing come from another service, whose
// client is made from the same configuration.
type lambdaClient struct {
	*lambda.Client
	cfg sdk.Config
}

// function is the state of a function that may be stopped.
type function struct {
	uid            string
	allowed        bool
	functionMemory // the current state
	provisioned    []lambda.ProvisionedConcurrencyConfigListItem
	was            *functionMemory // the state before a stop that is not undone
}

// readFunction reads a function. It reads only the tags of a function that may not be stopped.
func readFunction(ctx context.Context, c *lambda.Client, uid string) (function, error) {
	f := function{uid: uid}
	if resource.NameIn(uid, "lambda", "function:") == "" {
		return f, cloud.ErrNotFound("%q is not the ARN of a Lambda function", uid)
	}
	tags, err := c.ListTags(ctx, &lambda.ListTagsInput{Resource: &uid})
	if err != nil {
		return f, err
	}
	if f.allowed = tags.Tags[allowStop] == "true"; !f.allowed {
		return f, nil
	}
	if mark, marked := tags.Tags[stoppedTag]; marked {
		m, err := parseFunctionMark(mark)
		if err != nil {
			return f, err
		}
		f.was = &m
	}
	return f, f.readConcurrency(ctx, c)
}

// readConcurrency reads the reserved and the provisioned concurrency.
func (f *function) readConcurrency(ctx context.Context, c *lambda.Client) error {
	out, err := c.GetFunctionConcurrency(ctx, &lambda.GetFunctionConcurrencyInput{FunctionName: &f.uid})
	if err != nil {
		return err
	}
	f.Reserved, f.Provisioned = out.ReservedConcurrentExecutions, map[string]int32{}
	pages := wire.NewPages(c.ListProvisionedConcurrencyConfigs,
		&lambda.ListProvisionedConcurrencyConfigsInput{FunctionName: &f.uid})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		// an emulator without provisioned concurrency: the function itself existed a moment ago
		if resource.StatusOf(err) == http.StatusNotFound {
			return nil
		}
		if err != nil {
			return err
		}
		for _, p := range page.ProvisionedConcurrencyConfigs {
			f.provisioned = append(f.provisioned, p)
			f.Provisioned[qualifierOf(sdk.ToString(p.FunctionArn))] = sdk.ToInt32(
				p.RequestedProvisionedConcurrentExecutions)
		}
	}
	return nil
}

// off reports whether the function answers no calls and has no provisioned concurrency.
func (f function) off() bool { return f.Reserved != nil && *f.Reserved == 0 && len(f.Provisioned) == 0 }

// status returns the status of the function. A stop or start that has begun and not ended is pending, so that it is
// done again.
func (f function) status() cloud.Status {
	switch {
	case !f.allowed:
		return cloud.Running
	case f.off():
		return cloud.Stopped
	case f.was != nil:
		return cloud.Pending
	}
	for _, p := range f.provisioned {
		switch p.Status {
		case lambda.ProvisionedConcurrencyStatusEnumInProgress:
			return cloud.Starting
		case lambda.ProvisionedConcurrencyStatusEnumFailed:
			return cloud.Unknown
		case lambda.ProvisionedConcurrencyStatusEnumReady:
		}
	}
	return cloud.Running
}

func (f function) state() cloud.State {
	s := cloud.State{UID: f.uid, Status: f.status(), Native: "Active"}
	if !f.allowed {
		s.Unschedulable = notAllowed
		return s
	}
	s.Native = f.words()
	for _, p := range f.provisioned {
		if r := sdk.ToString(p.StatusReason); r != "" {
			s.Reason = r
		}
	}
	switch {
	case f.was != nil && !f.off():
		s.Snapshot, s.Reason = cloud.EncodeSnapshot(f.was), "it was "+f.was.words()+" before it was stopped"
	case !f.off():
		s.Snapshot = cloud.EncodeSnapshot(f.functionMemory)
	}
	if _, err := f.mark(); err != nil && f.was == nil {
		s.Unschedulable = err.Error()
	}
	return s
}

// addStops adds to listed functions whether they may be stopped, and the status of those that may.
func addStops(ctx context.Context, c *lambda.Client, found []cloud.Resource) error {
	errs := make([]error, len(found))
	cloud.InParallel(len(found), resource.Width, func(i int) {
		r := &found[i]
		if r.Tags[allowStop] != "true" {
			r.Unschedulable = notAllowed
			return
		}
		f, err := readFunction(ctx, c, r.UID)
		if err != nil && cloud.ClassOf(resource.ClassifyError(err)) != cloud.NotFound {
			errs[i] = err
			return
		}
		s := f.state()
		r.Status, r.Unschedulable = s.Status, s.Unschedulable
	})
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("read whether functions are stopped: %w", err)
		}
	}
	return nil
}
