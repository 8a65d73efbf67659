package cloud

import "sync"

// InParallel runs do for 0 to n-1, at most width at once, and returns when all have returned.
func InParallel(n, width int, do func(int)) {
	var wg sync.WaitGroup
	free := make(chan struct{}, width)
	for i := range n {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			do(i)
		})
	}
	wg.Wait()
}
