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

// state is one state with parsed expressions. The used fields depend on its kind.
type state struct {
	name string
	kind kind
	next string // "" ends the level

	inputPath  *path // nil means "$", unless noInput is set
	outputPath *path
	resultPath *path
	noInput    bool // InputPath is null: the input is an empty object
	noOutput   bool // OutputPath is null
	noResult   bool // ResultPath is null: the result is dropped, the output is the input
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
	levels []*level // branches of a Parallel, or the processor of a Map
}

// task is the resource and the timeout of a Task.
type task struct {
	resource string
	callback bool // .waitForTaskToken
	invoke   bool // arn:aws:states:::lambda:invoke, which wraps the payload
	timeout  time.Duration
}

// wait is the end of a Wait: one of its fields is set.
type wait struct {
	seconds       time.Duration
	secondsPath   *path
	timestamp     time.Time
	timestampPath *path
}

// failure is the error and the cause of a Fail.
type failure struct{ name, cause expr }

// each is the iteration of a Map.
type each struct {
	items       *path // nil means "$"
	selector    expr
	concurrency int
	distributed bool
	tolerated   int     // tolerated number of failed items
	tolerance   float64 // tolerated percentage of failed items
}

// retrier is one element of Retry.
type retrier struct {
	names    []string
	interval float64 // seconds
	rate     float64
	maxDelay float64 // in seconds; 0 means no limit
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

// functionName returns the name of the function that a Task calls, or "" if a path computes it.
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

// FunctionName returns the name of a Lambda function without its version or alias. s is the name, a partial ARN or a
// full ARN.
func FunctionName(s string) string {
	if _, after, ok := strings.Cut(s, ":function:"); ok {
		s = after
	} else if after, ok := strings.CutPrefix(s, "function:"); ok {
		s = after
	}
	name, _, _ := strings.Cut(s, ":")
	return name
}
