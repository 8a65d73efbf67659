package inventory

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/foundation/fault"
)

// silent is a worker that gives no answer until its caller gives up.
type silent struct{ lambdacall.Invoker }

func (silent) Invoke(ctx context.Context, _ string, _, _ any) error {
	<-ctx.Done()
	return ctx.Err()
}

// Every question has a limit below the 24 seconds of a request handler, and a cloud that is slower is named as the
// reason.
func TestAskConnector_ASlowCloudIsUnavailableInTime(t *testing.T) {
	for ask, limit := range map[string]time.Duration{
		AskVerify: 15 * time.Second, AskOrganisation: 15 * time.Second, AskPermissions: 20 * time.Second,
		AskClusters:      22 * time.Second,
		AskClusterReview: 20 * time.Second, AskMetrics: 20 * time.Second, AskAutoscaling: 6 * time.Second,
		AskSetAutoscaling: 10 * time.Second,
	} {
		t.Run(ask, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := AskConnector(t.Context(), silent{}, Question{Ask: ask, Account: Account{ID: "ca_7"}}, nil)
				if took := time.Since(began); took != limit || !fault.Is(err, fault.Unavailable) ||
					!strings.Contains(fault.Message(err), "ca_7 did not answer in time") {
					t.Errorf("after %s: %v; want it unavailable after %s", took, err, limit)
				}
			})
		})
	}
}

func TestAskConnector_TheLimitOfTheCallerEndsItFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		err := AskConnector(ctx, silent{}, Question{Ask: AskPermissions, Account: Account{ID: "ca_7"}}, nil)
		if took := time.Since(began); took != 5*time.Second || !fault.Is(err, fault.Unavailable) {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

// refusing is a worker that returns the reason for having no answer.
type refusing struct {
	lambdacall.Invoker
	err error
}

func (r refusing) Invoke(context.Context, string, any, any) error { return r.err }

func TestAskConnector_KeepsTheReasonOfTheWorker(t *testing.T) {
	for _, kind := range []fault.Kind{fault.NotFound, fault.Conflict, fault.Unavailable, fault.Internal} {
		if err := AskConnector(t.Context(), refusing{err: fault.New(kind, "its reason")}, Question{Ask: AskVerify},
			nil); !fault.Is(err, kind) {
			t.Errorf("%v", err)
		}
	}
	if err := AskConnector(t.Context(), refusing{}, Question{Ask: "weather"}, nil); !fault.Is(err, fault.Internal) {
		t.Errorf("a question that nobody knows: %v", err)
	}
}
