package kubernetes

import (
	"context"
	"errors"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
)

// This file reads the objects that the facts of other objects need: a Deployment's facts need its autoscaler, a
// claim's the pods that mount it. Each resource is listed once for all kinds of a discovery.

// surveyFresh is how long a listing of the survey is used. It is longer than one run of a discovery.
const surveyFresh = 5 * time.Minute

// The resources that are listed for the facts of others.
var (
	nodesOf        = apiResource{Version: "v1", Resource: "nodes"}
	servicesOf     = apiResource{Version: "v1", Resource: "services"}
	quotasOf       = apiResource{Version: "v1", Resource: "resourcequotas"}
	volumesOf      = apiResource{Version: "v1", Resource: "persistentvolumes"}
	accountsOf     = apiResource{Version: "v1", Resource: "serviceaccounts"}
	policiesOf     = apiResource{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"}
	slicesOf       = apiResource{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"}
	clusterRolesOf = apiResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}
	vpasOf         = apiResource{
		Group: "autoscaling.k8s.io", Version: "v1",
		Resource: "verticalpodautoscalers",
	}
)

// survey holds what was read of a cluster for the facts of other objects.
type survey struct {
	pods      remembered[podSurvey]
	services  remembered[map[string][]service] // by namespace
	endpoints remembered[map[ref]float64]      // ready endpoints by Service
	budgets   remembered[map[string][]budget]  // by namespace
	hpas      remembered[map[string][]hpa]     // by namespace
	vpas      remembered[map[string][]vpa]     // by namespace
	quotas    remembered[map[string][]named]   // by namespace
	policies  remembered[map[string][]named]   // by namespace
	nodes     remembered[nodeSurvey]
	disks     remembered[map[string]string] // uids of disks in the cloud by PersistentVolume
	expensive remembered[bool]              // the default StorageClass is of a premium type
	minor     remembered[int]               // minor version of the API server
	workloads remembered[byNamespace]
	roles     remembered[map[string]bool] // cluster roles that allow everything
	accounts  remembered[map[ref]bool]    // service accounts
}

// answer is what a read returned. err is the error of a resource that the credentials may not list, that the cluster
// does not serve, or that it has too many of.
type answer[T any] struct {
	value T
	err   error
}

// missing returns the reason for facts that need the answer, "list pods: Forbidden"; "" if it was read.
func (a answer[T]) missing() string {
	if e, ok := errors.AsType[*cloud.Error](a.err); ok {
		return e.Op + ": " + e.Code
	}
	return ""
}

// remembered is an answer that is read once in surveyFresh.
type remembered[T any] struct {
	mu     sync.Mutex
	known  bool
	at     time.Time
	answer answer[T]
}

// get returns the answer, and reads it if it is not known or if anew is set. An error that may pass is returned and
// not remembered.
func (r *remembered[T]) get(now time.Time, anew bool, read func() (T, error)) (answer[T], error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known && !anew && now.Sub(r.at) < surveyFresh {
		return r.answer, nil
	}
	value, err := read()
	switch cloud.ClassOf(err) {
	case cloud.Denied, cloud.NotFound, cloud.Unsupported:
	default:
		if err != nil {
			return answer[T]{}, err
		}
	}
	r.known, r.at, r.answer = true, now, answer[T]{value, err}
	return r.answer, nil
}

// readAll runs reads side by side and returns their first error.
func readAll(reads ...func() error) error {
	errs := make([]error, len(reads))
	cloud.InParallel(len(reads), parallelCalls, func(i int) { errs[i] = reads[i]() })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// reading returns a read for readAll that stores its answer.
func reading[T any](into *answer[T], read func() (answer[T], error)) func() error {
	return func() (err error) {
		*into, err = read()
		return err
	}
}

// tryReading is reading for objects that must be listed even if others cannot be read: facts that need those are then
// left out. It is not for facts with a time of our own, which would begin anew.
func tryReading[T any](ctx context.Context, into *answer[T], read func() (answer[T], error)) func() error {
	return func() (err error) {
		if *into, err = read(); err != nil && ctx.Err() == nil && cloud.ClassOf(err) != cloud.Refused {
			into.err, err = err, nil
		}
		return err
	}
}

func (c *cluster) surveyServices(ctx context.Context) (answer[map[string][]service], error) {
	return c.survey.services.get(c.clock.Now(), false, func() (map[string][]service, error) {
		return listByNamespace[service](ctx, c, servicesOf, "")
	})
}

func (c *cluster) surveyBudgets(ctx context.Context) (answer[map[string][]budget], error) {
	return c.survey.budgets.get(c.clock.Now(), false, func() (map[string][]budget, error) {
		return listByNamespace[budget](ctx, c, pdbsOf, "")
	})
}

func (c *cluster) surveyHPAs(ctx context.Context) (answer[map[string][]hpa], error) {
	return c.survey.hpas.get(c.clock.Now(), false, func() (map[string][]hpa, error) {
		return listByNamespace[hpa](ctx, c, hpasOf, "")
	})
}

// surveyVPAs returns no autoscaler for a cluster that does not serve them.
func (c *cluster) surveyVPAs(ctx context.Context) (answer[map[string][]vpa], error) {
	return c.survey.vpas.get(c.clock.Now(), false, func() (map[string][]vpa, error) {
		if served, err := c.servesResource(ctx, vpasOf); err != nil || !served {
			return nil, err
		}
		return listByNamespace[vpa](ctx, c, vpasOf, "")
	})
}

func (c *cluster) surveyQuotas(ctx context.Context) (answer[map[string][]named], error) {
	return c.survey.quotas.get(c.clock.Now(), false, func() (map[string][]named, error) {
		return listByNamespace[named](ctx, c, quotasOf, namesAlone)
	})
}

func (c *cluster) surveyPolicies(ctx context.Context) (answer[map[string][]named], error) {
	return c.survey.policies.get(c.clock.Now(), false, func() (map[string][]named, error) {
		return listByNamespace[named](ctx, c, policiesOf, namesAlone)
	})
}

// surveyWorkloads returns the objects of all namespaces that are stopped with them. It lists them if anew is set.
func (c *cluster) surveyWorkloads(ctx context.Context, anew bool) (answer[byNamespace], error) {
	return c.survey.workloads.get(c.clock.Now(), anew, func() (byNamespace, error) {
		h, err := listHeld(ctx, "", c.listServed)
		if err != nil {
			return nil, err
		}
		return h.sortByNamespace(), nil
	})
}
