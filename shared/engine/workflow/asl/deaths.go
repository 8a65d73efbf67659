package asl

import (
	"context"
	"fmt"
)

// ErrProcessDied is the error of a call that ended its process MaxDeaths times. Lambda reports a process that died
// under this name.
const ErrProcessDied = "Runtime.ExitError"

// MaxDeaths is how often a call may be under way when its process dies. After that it fails with ErrProcessDied, and
// Retry does not apply: the call is not made again.
const MaxDeaths = 3

// suspectDeaths is the number of deaths after which a call is made alone among such calls. Up to then all calls that
// were under way are made side by side, so the first two deaths may be due to any of them. The third is counted against
// the one that was on trial.
const suspectDeaths = 2

// admitCall counts the death of the process that a restored fiber was calling in, before the call is made again. It
// returns a function to call when the call has returned. A call that has had all its deaths is an error.
func (f *fiber) admitCall(ctx context.Context, function string) (release func(), err error) {
	if !f.restored || f.run.env.Journal == nil {
		return func() {}, nil
	}
	f.restored = false
	f.countDeath()
	switch n := f.frame.Deaths; {
	case n >= MaxDeaths:
		cause := fmt.Sprintf("the function %s was running each of the %d times that its process died", function, n)
		return nil, firstError(f.saveFrame(ctx), &Error{Name: ErrProcessDied, Cause: cause, final: true})
	case n < suspectDeaths:
		return func() {}, f.saveFrame(ctx)
	}
	return f.beginTrial(ctx)
}

// countDeath counts a death, unless the call was not made in the process that died, because it waited for its trial.
func (f *fiber) countDeath() {
	made := f.frame.Deaths < suspectDeaths || f.frame.Trial
	f.dirty = f.dirty || f.frame.Trial
	f.frame.Trial = false
	if f.run.x.Died && made {
		f.frame.Deaths++
		f.dirty = true
	}
}

// beginTrial waits until no other call is on trial, and keeps that this one is.
func (f *fiber) beginTrial(ctx context.Context) (release func(), err error) {
	if err := f.saveFrame(ctx); err != nil {
		return nil, err
	}
	release, err = f.run.env.Trial(ctx)
	if err != nil {
		return nil, err
	}
	f.frame.Trial, f.dirty = true, true
	if err := f.saveFrame(ctx); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// acquit forgets the deaths of a call that has returned.
func (f *fiber) acquit() { f.frame.Deaths, f.frame.Trial = 0, false }

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
