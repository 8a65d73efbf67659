package asl

import (
	"strings"
	"time"
)

// kind is the type of a state.
type kind string

const (
	kindPass     kind = "Pass"
	kindTask     kind = "Task"
	kindChoice   kind = "Choice"
	kindWait     kind = "Wait"
	kindMap      kind = "Map"
	kindParallel kind = "Parallel"
	kindSucceed  kind = "Succeed"
	kindFail     kind = "Fail"
)

// state is one state, its expressions compiled. Which members are set depends on the kind.
type state struct {
	name string
	kind kind
	next string // "" ends the level

	inputPath  *path // nil is "$"; see noInput
	outputPath *path
	resultPath *path
	noInput    bool // InputPath null: an empty object
	noOutput   bool // OutputPath null
	noResult   bool // ResultPath null: the result goes, the input stays
	parameters expr
	selector   expr // ResultSelector
	assign     expr

	retry []retrier
	catch []catcher

	task   task
	wait   wait
	choice []rule // in order; next is the Default
	fail   failure
	each   each
	result expr     // of a Pass
	levels []*level // branches of a Parallel; the processor of a Map
}

// task is what a Task calls.
type task struct {
	resource string
	callback bool // .waitForTaskToken
	invoke   bool // arn:aws:states:::lambda:invoke, which wraps the payload
	timeout  time.Duration
}

// wait says until when a Wait waits: one of its members is set.
type wait struct {
	seconds       time.Duration
	secondsPath   *path
	timestamp     time.Time
	timestampPath *path
}

// failure is what a Fail fails with.
type failure struct{ name, cause expr }

// each is how a Map goes over its items.
type each struct {
	items       *path // nil is "$"
	selector    expr
	concurrency int
	distributed bool
	tolerated   int     // failed items
	tolerance   float64 // percentage of failed items
}

// retrier is one element of Retry.
type retrier struct {
	names    []string
	interval float64 // seconds
	rate     float64
	maxDelay float64 // seconds; 0 is no bound
	attempts int
	jitter   bool
}

// catcher is one element of Catch.
type catcher struct {
	names      []string
	next       string
	resultPath *path
	noResult   bool
	assign     expr
}

const (
	lambdaInvoke = "arn:aws:states:::lambda:invoke"
	tokenSuffix  = ".waitForTaskToken"
)

// functionName returns the name of the function that a Task calls, "" when a path computes it.
func (s *state) functionName() string {
	if !s.task.invoke {
		return FunctionName(s.task.resource)
	}
	if m, ok := s.parameters.(constant); ok {
		fields, _ := m.v.(map[string]any)
		name, _ := fields["FunctionName"].(string)
		return FunctionName(name)
	}
	fields, _ := s.parameters.(members)
	c, _ := fields["FunctionName"].(constant)
	name, _ := c.v.(string)
	return FunctionName(name)
}

// FunctionName returns the bare name in what names a Lambda function: a name, a partial or a full ARN, each with or without
// a version or an alias.
func FunctionName(s string) string {
	if _, after, ok := strings.Cut(s, ":function:"); ok {
		s = after
	} else if after, ok := strings.CutPrefix(s, "function:"); ok {
		s = after
	}
	name, _, _ := strings.Cut(s, ":")
	return name
}
