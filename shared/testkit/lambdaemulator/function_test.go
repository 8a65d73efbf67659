package lambdaemulator

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

// TestMain makes this test binary a Lambda function when it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") != "" {
		lambda.Start(answer)
	}
	os.Exit(m.Run())
}

type refusal struct{ why string }

func (r *refusal) Error() string { return r.why }

type question struct {
	Do    string
	Value string
}

// answer is the function under test. The event tells it how to answer.
func answer(ctx context.Context, q question) (string, error) {
	switch q.Do {
	case "fail":
		return "", &refusal{q.Value}
	case "die":
		os.Stderr.WriteString(q.Value)
		os.Exit(3)
	case "hang":
		<-ctx.Done()
		time.Sleep(50 * time.Millisecond) // longer than the caller waits
	case "environment":
		return os.Getenv(q.Value), nil
	}
	return q.Value, nil
}

func start(t *testing.T, env ...string) *Function {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := StartFunction(self, env...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestInvokeAnswersEachEvent(t *testing.T) {
	f := start(t, "COLOUR=green")
	t.Setenv("LEAK", "from the test")
	for event, want := range map[string]string{
		`{"do":"echo","value":"one"}`:           `"one"`,
		`{"do":"environment","value":"COLOUR"}`: `"green"`,
		`{"do":"environment","value":"LEAK"}`:   `""`,
	} {
		got, err := f.Invoke(t.Context(), []byte(event))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", event, got, err, want)
		}
	}
}

func TestInvokeTellsTheErrorThatTheFunctionReports(t *testing.T) {
	f := start(t)
	_, err := f.Invoke(t.Context(), []byte(`{"do":"fail","value":"no such thing"}`))
	var failure *Failure
	if !errors.As(err, &failure) || failure.Type != "refusal" || failure.Message != "no such thing" {
		t.Fatalf("got %v", err)
	}
	if got, err := f.Invoke(t.Context(), []byte(`{"value":"still here"}`)); err != nil ||
		string(got) != `"still here"` {
		t.Fatalf("after a failure: %s, %v", got, err)
	}
}

func TestInvokeDropsTheLateAnswerToAnEventThatNobodyWaitsFor(t *testing.T) {
	f := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := f.Invoke(ctx, []byte(`{"do":"hang","value":"late"}`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a function that hangs: %v", err)
	}
	if got, err := f.Invoke(t.Context(), []byte(`{"value":"next"}`)); err != nil || string(got) != `"next"` {
		t.Fatalf("the next event: %s, %v", got, err)
	}
}

func TestInvokeTellsHowTheFunctionDied(t *testing.T) {
	f := start(t)
	_, err := f.Invoke(t.Context(), []byte(`{"do":"die","value":"out of oil"}`))
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "out of oil") {
		t.Fatalf("got %v", err)
	}
	if _, err = f.Invoke(t.Context(), []byte(`{}`)); err == nil {
		t.Fatal("a dead function answered")
	}
}

func TestStartRefusesWhatIsNoProgram(t *testing.T) {
	if f, err := StartFunction("testdata/nothing"); err == nil {
		f.Close()
		t.Fatal("started a file that is not there")
	}
}
