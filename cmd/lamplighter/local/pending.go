package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/shared/cloud/ecb"
	"lamplighter.dev/shared/cloud/providers"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Compilation is the compilation of the complete program while this one, which links no SDK of a cloud, serves.
type Compilation interface {
	// Left returns an estimate of the remaining time, or the error of a failed compilation.
	Left() (time.Duration, error)
	// Failed returns a channel that is closed when the compilation has failed.
	Failed() <-chan struct{}
}

// clouds names the clouds whose SDKs are compiled in the background.
const clouds = "support for AWS, Azure, Google Cloud and Kubernetes "

// pending is the platform.Pending of a program that does not link the SDKs.
type pending struct {
	compilation Compilation // nil: nothing is compiled
	accounts    *unverified
}

// Reason returns a text with the remaining time of the compilation, or with its error.
func (p *pending) Reason(provider string) string {
	if provider == simulated.Name || provider == ecb.Name {
		return ""
	}
	if p.compilation == nil {
		return clouds + "is not part of this program: start it with make run"
	}
	left, err := p.compilation.Left()
	if err != nil {
		return fmt.Sprintf("%scould not be compiled (%v): run make build/lamplighter, mend what it reports, and "+
			"start again",
			clouds, err)
	}
	return fmt.Sprintf("%sis being compiled, about %d seconds left", clouds, max(int(math.Ceil(left.Seconds())), 1))
}

// Wait returns fault.Unavailable with the reason: at once for a client's request, and in a turn after the compilation
// has failed. It returns the cause of ctx if ctx ends first.
func (p *pending) Wait(ctx context.Context) error {
	if one := turnOf(ctx); one != nil {
		one.pause()
		defer one.resume()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.failed():
		}
	}
	return fault.New(fault.Unavailable, "%s", p.Reason(""))
}

// failed returns a channel that is closed if no complete program will take over.
func (p *pending) failed() <-chan struct{} {
	if p.compilation != nil {
		return p.compilation.Failed()
	}
	never := make(chan struct{})
	close(never)
	return never
}

// Remember stores the id of an account for VerifyAccounts.
func (p *pending) Remember(org, accountID string) error { return p.accounts.add(org, accountID) }

// unverifiedFile is the file in the folder of the service with the accounts to verify, one a line.
const unverifiedFile = "unverified.txt"

// unverified lists the accounts that were accepted without a check, because the program could not reach their clouds.
type unverified struct {
	path string
	mu   sync.Mutex
}

// accountOf names an account of an organization.
type accountOf struct{ org, accountID string }

// add appends an account and returns when it is on disk.
func (u *unverified) add(org, accountID string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	f, err := os.OpenFile(u.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("note that account %s is to be verified: %w", accountID, err)
	}
	_, err = fmt.Fprintf(f, "%s %s\n", org, accountID)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("note that account %s is to be verified: %w", accountID, err)
	}
	return nil
}

// list returns the accounts. It ignores a line that a crash cut off, because that account was not stored.
func (u *unverified) list() ([]accountOf, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	b, err := os.ReadFile(u.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which accounts are to be verified: %w", err)
	}
	var out []accountOf
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		if org, accountID, ok := strings.Cut(lines.Text(), " "); ok {
			out = append(out, accountOf{org, accountID})
		}
	}
	return out, nil
}

// remove deletes the file. Only a program that adds no accounts calls it.
func (u *unverified) remove() error {
	if err := os.Remove(u.path); err != nil {
		return fmt.Errorf("drop the list of verified accounts: %w", err)
	}
	return nil
}

// newUnverified returns the list in the folder of the service.
func newUnverified(dir string) *unverified {
	return &unverified{path: filepath.Join(dir, unverifiedFile)}
}

// VerifyAccounts asks the clouds about the accounts that were accepted without a check. An account whose cloud does
// not answer stays in the list, and the next turn asks again.
func (s *Service) VerifyAccounts(ctx context.Context) error {
	if !providers.Complete {
		return nil
	}
	all, err := s.unverified.list()
	if err != nil || len(all) == 0 {
		return err
	}
	ctx = cloudaccounts.Declaration.As(ctx)
	var errs []error
	for _, a := range all {
		err := connection.Opener{P: s.Platform}.Verify(table.WithOrg(ctx, a.org), a.org, a.accountID)
		errs = append(errs, fault.Wrap("verify account "+a.accountID, err))
	}
	if err = errors.Join(errs...); err != nil {
		return err
	}
	return s.unverified.remove()
}
