package cost

// A rollup is the lines of a period added up over resources and tags. It answers most questions with a few lines
// instead of thousands. It is stored with the stamps from which it is computed.

// worthwhile is the condition for a rollup: its period has at least from lines, and at least share times as many as
// the rollup.
type worthwhile struct{ from, share int }

var usually = worthwhile{1000, 4}

// A line of a rollup has its teams and groups in place of the words of a resource.
const (
	teamsWord  = resourceWord
	groupsWord = tagsWord
)

type rollup struct {
	words
	at    map[lineKey]int
	lines []line
}

func newRollup() *rollup { return &rollup{words: newWords(), at: map[lineKey]int{}} }

// fewWords are the words of a line without its resource and tags.
type fewWords [resourceWord]string

// add adds a line.
func (r *rollup) add(words *fewWords, st *stamp, l *line) {
	var k lineKey
	for i, word := range words {
		k[i] = r.intern(word)
	}
	k[teamsWord], k[groupsWord] = r.intern(st.teams), r.intern(st.groups)
	n, had := r.at[k]
	if !had {
		n = len(r.lines)
		r.at[k] = n
		r.lines = append(r.lines, line{key: k})
	}
	r.lines[n].merge(l)
}

// addBlock adds the lines of a block that is being written.
func (r *rollup) addBlock(e *encoding) {
	for i := range e.lines {
		l := &e.lines[i]
		var words fewWords
		for w := range words {
			words[w] = e.word(l, w)
		}
		r.add(&words, &l.stamp, l.line)
	}
}

// worth reports whether the rollup of a period with this number of lines is kept.
func (r *rollup) worth(lines int, when worthwhile) bool {
	return lines >= when.from && len(r.lines)*when.share <= lines
}

// encodings returns the encoded blocks of the rollup.
func (r *rollup) encodings(days int) []*encoding {
	var out []*encoding
	for from := 0; from < len(r.lines); from += blockLines {
		e := &encoding{words: &r.words, days: days}
		for i := from; i < min(from+blockLines, len(r.lines)); i++ {
			l := &r.lines[i]
			e.lines = append(e.lines,
				stamped{l, stamp{teams: r.names[l.key[teamsWord]], groups: r.names[l.key[groupsWord]]}})
		}
		out = append(out, e)
	}
	return out
}

// merge adds the amounts of another line.
func (l *line) merge(o *line) {
	for m := 1; m < len(l.days); m++ {
		if !l.differs(m) && !o.differs(m) {
			continue
		}
		if !l.differs(m) {
			l.days[m] = l.days[0].clone()
		}
		l.days[m].merge(o.of(m))
	}
	l.days[0].merge(&o.days[0])
}

// merge adds all amounts of another series.
func (s *series) merge(o *series) {
	if s.len() == 0 {
		*s = o.clone()
		return
	}
	same := s.wide == nil && o.wide == nil && s.places == o.places
	for i := range o.len() {
		day := o.first + i
		if at := day - s.first; same && at >= 0 && at < len(s.narrow) {
			if sum, ok := addExactly(s.narrow[at], o.narrow[i]); ok {
				s.narrow[at] = sum
				continue
			}
		}
		a := o.at(day)
		s.add(day, &a)
		same = same && s.wide == nil && s.places == o.places
	}
}

// addExactly adds integers. It returns false if the sum does not fit into 64 bits.
func addExactly(a, b int64) (int64, bool) {
	sum := a + b
	return sum, (sum > a) == (b > 0) || b == 0
}
