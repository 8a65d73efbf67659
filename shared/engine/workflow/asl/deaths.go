package asl

import (
	"context"
	"fmt"
)

// ErrProcessDied is the error of a call that crashed its process MaxDeaths times. Lambda uses this name for a crashed
// process.
const ErrProcessDied = "Runtime.ExitError"

// MaxDeaths is the number of crashes after which a call fails with ErrProcessDied. It is not retried.
const MaxDeaths = 3

// suspectDeaths is the number of crashes after which a call is made on trial: only one call on trial runs at a time.
// Before that, all interrupted calls run at the same time, so any of them may have caused the first two crashes. The
// third crash is counted only for the call on trial.
const suspectDeaths = 2

// admitCall counts a crash for a restored fiber, before its call is made again. The caller must call release when the
// call has returned. It returns an error if the call has caused MaxDeaths crashes.
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

// countDeath counts a crash, unless the call was waiting for its trial and so did not run in the crashed process.
func (f *fiber) countDeath() {
	made := f.frame.Deaths < suspectDeaths || f.frame.Trial
	f.dirty = f.dirty || f.frame.Trial
	f.frame.Trial = false
	if f.run.x.Died && made {
		f.frame.Deaths++
		f.dirty = true
	}
}

// beginTrial waits until no other call is on trial, and saves that this one is.
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

// acquit resets the crash count of a call that has returned.
func (f *fiber) acquit() { f.frame.Deaths, f.frame.Trial = 0, false }

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
