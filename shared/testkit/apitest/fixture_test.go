package apitest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// fakeT is the *testing.T of an example, and of tests about the reports of the fixture.
type fakeT struct {
	testing.TB
	said    []string
	cleanup []func()
}

func newT() *fakeT { return &fakeT{} }

func (t *fakeT) Helper()                  {}
func (t *fakeT) Context() context.Context { return context.Background() }
func (t *fakeT) Cleanup(f func())         { t.cleanup = append(t.cleanup, f) }
func (t *fakeT) Error(args ...any)        { t.said = append(t.said, fmt.Sprint(args...)) }
func (t *fakeT) Errorf(format string, args ...any) {
	t.said = append(t.said, fmt.Sprintf(format, args...))
}
func (t *fakeT) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (t *fakeT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (t *fakeT) TempDir() string {
	dir, err := os.MkdirTemp("", "apitest")
	if err != nil {
		panic(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (t *fakeT) end() {
	for _, f := range slices.Backward(t.cleanup) {
		f()
	}
}

// A fixture that reported nothing would leave every test green.
func TestFixture_ReportsWhatIsNotAsWanted(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(f *apitest.Fixture, a apitest.Answer)
		says string // "" is nothing
	}{
		"the status that is there": {func(_ *apitest.Fixture, a apitest.Answer) { a.Want(200, `"members":1`) }, ""},
		"another status": {func(_ *apitest.Fixture, a apitest.Answer) {
			a.Want(404)
		}, "GET /headcount: got 200"},
		"a word that is missing": {func(_ *apitest.Fixture, a apitest.Answer) {
			a.Want(200, "lamp")
		}, `does not say "lamp"`},
		"as many round trips": {func(_ *apitest.Fixture, a apitest.Answer) { a.AtMost(1) }, ""},
		"fewer round trips": {func(_ *apitest.Fixture, a apitest.Answer) {
			a.AtMost(0)
		}, "1 round trips, want 0 at most"},
		"data": {func(_ *apitest.Fixture, a apitest.Answer) { apitest.Data[headcount](a) }, ""},
		"data of another status": {func(_ *apitest.Fixture, a apitest.Answer) {
			apitest.Data[headcount](a, 202)
		}, "want 202"},
		"data of another shape": {func(_ *apitest.Fixture, a apitest.Answer) {
			apitest.Data[[]int](a)
		}, "cannot unmarshal"},
		"what is equal": {func(f *apitest.Fixture, _ apitest.Answer) { f.Equal("n", 1, 1) }, ""},
		"what is not equal": {func(f *apitest.Fixture, _ apitest.Answer) {
			f.Equal("n", 1, 2)
		}, "n: got 1, want 2"},
		"an error": {func(f *apitest.Fixture, _ apitest.Answer) {
			f.Must(errors.New("broken"))
		}, "broken"},
		"a value that is not there": {func(f *apitest.Fixture, _ apitest.Answer) {
			apitest.Value(1, errors.New("broken"))(f)
		}, "broken"},
		"a row that is not there": {func(f *apitest.Fixture, _ apitest.Answer) {
			f.Change(identity.UserKey("usr_x"), table.Set("epoch", 1))
		}, "condition failed"},
		"a member who is not there": {func(f *apitest.Fixture, _ apitest.Answer) {
			f.Member(apitest.OtherOrg, "ada")
		}, "usr_ada"},
		"an audit log that is empty": {func(f *apitest.Fixture, _ apitest.Answer) {
			f.LastAudited(apitest.OtherOrg)
		}, "empty"},
		"another organization's member": {func(f *apitest.Fixture, _ apitest.Answer) {
			apitest.Read[identity.Member](f, identity.MemberKey(apitest.OtherOrg, "usr_ada"))
		}, "usr_ada"},
	} {
		t.Run(name, func(t *testing.T) {
			fake := newT()
			defer fake.end()
			f := apitest.New(fake, Operations)
			f.Join(apitest.Org, "ada", grant.Owner)
			a := f.Call(apitest.Caller(apitest.Org, "ada", "owner"), "GET /headcount")
			func() {
				defer func() {
					if why := recover(); why != nil {
						fake.said = append(fake.said, fmt.Sprint(why))
					}
				}()
				c.do(f, a)
			}()
			if said := strings.Join(fake.said, "\n"); c.says == "" && said != "" || !strings.Contains(said, c.says) {
				t.Errorf("it says %q, want %q", said, c.says)
			}
		})
	}
}

func TestCaller_HoldsWhatTheTextsSay(t *testing.T) {
	c := apitest.Caller(apitest.Org, "bob", "viewer", "operator team:team_1",
		"budgets:read,budgets:write resource:res_1")
	for name, tt := range map[string]struct{ may, want bool }{
		"a role holds everywhere":         {identity.Allows(c, "actions:read"), true},
		"one on a team there":             {identity.Allows(c, "actions:execute", "team:team_1"), true},
		"and nowhere else":                {identity.Allows(c, "actions:execute"), false},
		"policies hold on their resource": {identity.Allows(c, "budgets:write", "resource:res_1"), true},
		"and on no other":                 {identity.Allows(c, "budgets:write", "resource:res_2"), false},
	} {
		if tt.may != tt.want {
			t.Errorf("%s: %v", name, tt.may)
		}
	}
}
