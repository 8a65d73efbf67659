package index

import "strings"

// textPage is how many bytes a page of texts has. Longer texts have a page of their own.
const textPage = 8 << 10

// texts stores strings one behind another, so that a string takes its bytes and neither a header nor an allocation. A
// string is never removed. Its page stays in memory as long as any string read from it.
type texts struct {
	pages []*strings.Builder // nil for the rest of a text longer than a page
	bytes int
}

// add appends a text and returns its position.
func (t *texts) add(text []byte) uint32 {
	last := len(t.pages) - 1
	if last < 0 || t.pages[last] == nil || t.pages[last].Len()+len(text) > textPage {
		last++
		t.addPage(max(textPage, len(text)))
	}
	at := last*textPage + t.pages[last].Len()
	t.pages[last].Write(text)
	return uint32(at)
}

func (t *texts) addPage(size int) {
	b := new(strings.Builder)
	b.Grow(size)
	t.bytes += b.Cap()
	t.pages = append(t.pages, b)
	for size -= textPage; size > 0; size -= textPage {
		t.pages = append(t.pages, nil)
	}
}

// from returns the text at a position, including all following texts of the page.
func (t *texts) from(at uint32) string { return t.pages[at/textPage].String()[at%textPage:] }

// held returns how many bytes of memory t takes.
func (t *texts) held() int { return t.bytes + (8+32)*cap(t.pages) }

// readUvarint reads a number from the beginning of s, and returns its length in bytes, or 0 if it is malformed.
func readUvarint(s string) (v uint64, n int) {
	if len(s) > 0 && s[0] < 0x80 { // nearly always
		return uint64(s[0]), 1
	}
	return readLongUvarint(s)
}

func readLongUvarint(s string) (v uint64, n int) {
	for shift := uint(0); n < len(s) && shift < 64; shift += 7 {
		b := s[n]
		n++
		if v |= uint64(b&0x7f) << shift; b < 0x80 {
			return v, n
		}
	}
	return 0, 0
}

// cutText cuts a text with its length in front from the beginning of s.
func cutText(s string) (text, rest string) {
	v, n := readUvarint(s)
	end := n + int(v)
	return s[n:end], s[end:]
}
