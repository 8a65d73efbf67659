package index

import "slices"

// runPage is how many words a page of runs has. Longer runs have a page of their own.
const runPage = 2 << 10

// runs stores each distinct sequence of words once. Many rows share a sequence, such as the tags of a thousand
// machines. Run 0 is the empty sequence.
type runs struct {
	pages [][]uint32 // each run after its length; nil for the rest of a run longer than a page
	known hashed
	words int
}

func newRuns() runs {
	r := runs{}
	r.intern(nil)
	return r
}

// at returns the words of a run. The slice must not be changed.
func (r *runs) at(n uint32) []uint32 {
	page, from := r.pages[n/runPage], n%runPage+1
	return page[from : from+page[from-1]]
}

// intern returns the number of the run of these words. It adds the run if it is new.
func (r *runs) intern(ws []uint32) uint32 {
	sum := hashWords(ws)
	n, ok := r.known.find(sum, func(n uint32) bool { return slices.Equal(r.at(n), ws) })
	if !ok {
		n = r.add(ws)
		r.known.add(sum, n, func(n uint32) uint64 { return hashWords(r.at(n)) })
	}
	return n
}

func (r *runs) add(ws []uint32) uint32 {
	last := len(r.pages) - 1
	if last < 0 || r.pages[last] == nil || len(r.pages[last])+len(ws) >= runPage {
		last++
		r.addPage(max(runPage, len(ws)+1))
	}
	at := last*runPage + len(r.pages[last])
	r.pages[last] = append(append(r.pages[last], uint32(len(ws))), ws...)
	return uint32(at)
}

func (r *runs) addPage(size int) {
	r.pages, r.words = append(r.pages, make([]uint32, 0, size)), r.words+size
	for size -= runPage; size > 0; size -= runPage {
		r.pages = append(r.pages, nil)
	}
}

// held returns how many bytes of memory r takes.
func (r *runs) held() int { return 4*r.words + 24*cap(r.pages) + r.known.held() }
