package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// The flags of pages, and of the element of a leaf that is a bucket.
const (
	branchFlag   = 0x01
	leafFlag     = 0x02
	freelistFlag = 0x10
	bucketFlag   = 0x01
)

// bucketHeadBytes is the size of the head of a bucket: its root page (8) and its sequence (8). If the root is 0, the
// page of the bucket follows.
const bucketHeadBytes = 16

// elementBytes is the size of the description of an element in a page.
const elementBytes = 16

// boltPages reads the pages of a bbolt file, with reads instead of a memory map, so that no damage can end the process.
type boltPages struct {
	file io.ReaderAt
	head boltHead
	seen []uint64 // bits of the pages that belong to something
}

// element is an element of a page: of a branch with the page below, of a leaf with a value.
type element struct {
	key, value []byte
	page       uint64
	isBucket   bool
}

// visitor takes the elements of the leaves of a tree in the order of their keys.
type visitor func(element) error

// newBoltPages returns the pages of the head.
func newBoltPages(f io.ReaderAt, h boltHead) *boltPages {
	p := &boltPages{file: f, head: h, seen: make([]uint64, h.pages/64+1)}
	p.seen[0] = 0b11 // the heads
	return p
}

// markPages records that pages belong to something, and refuses pages that belong to something else already.
func (p *boltPages) markPages(page, n uint64) error {
	if page < 2 || page >= p.head.pages || n > p.head.pages-page {
		return fmt.Errorf("the pages %d to %d are not among its %d pages", page, page+n-1, p.head.pages)
	}
	for i := page; i < page+n; i++ {
		if p.seen[i/64]&(1<<(i%64)) != 0 {
			return fmt.Errorf("the page %d has two places", i)
		}
		p.seen[i/64] |= 1 << (i % 64)
	}
	return nil
}

// readPage reads a page with its overflow into the buffer, and marks it.
func (p *boltPages) readPage(page uint64, buffer []byte) ([]byte, error) {
	size := p.head.pageSize
	if page < 2 || page >= p.head.pages {
		return nil, fmt.Errorf("the page %d is not among its %d pages", page, p.head.pages)
	}
	buffer = slices.Grow(buffer[:0], int(size))[:size]                 //nolint:gosec // at most largestPage
	if _, err := p.file.ReadAt(buffer, int64(page*size)); err != nil { //nolint:gosec // inside the file
		return nil, fmt.Errorf("its page %d cannot be read: %w", page, err)
	}
	if id := binary.NativeEndian.Uint64(buffer); id != page {
		return nil, fmt.Errorf("its page %d has the number %d", page, id)
	}
	n := uint64(binary.NativeEndian.Uint32(buffer[12:])) + 1
	if err := p.markPages(page, n); err != nil || n == 1 {
		return buffer, err
	}
	buffer = slices.Grow(buffer, int((n-1)*size))[:n*size]                        //nolint:gosec // inside the file
	if _, err := p.file.ReadAt(buffer[size:], int64((page+1)*size)); err != nil { //nolint:gosec // inside the file
		return nil, fmt.Errorf("its page %d cannot be read: %w", page, err)
	}
	return buffer, nil
}

// walkBucket visits a bucket, of which value is the stored form.
func (p *boltPages) walkBucket(value []byte, visit visitor) error {
	if len(value) < bucketHeadBytes {
		return errors.New("a part has no head")
	}
	root := binary.NativeEndian.Uint64(value)
	if root != 0 {
		if len(value) > bucketHeadBytes {
			return errors.New("a part has two places")
		}
		return p.walkTree(root, visit)
	}
	elements, used, err := parseElements(nil, value[bucketHeadBytes:], leafFlag)
	if err == nil && used != len(value)-bucketHeadBytes {
		err = errors.New("a part has another size than its rows")
	}
	if err != nil {
		return err
	}
	return (&descent{pages: p, visit: visit}).visitLeaf(elements, keyBounds{})
}

// walkTree visits the tree at a root page.
func (p *boltPages) walkTree(root uint64, visit visitor) error {
	d := &descent{pages: p, visit: visit}
	return d.visitPage(root, keyBounds{}, 0)
}

// keyBounds are the bounds of the keys of a page: the lowest key, and the first key of the next page. nil means none.
type keyBounds struct{ low, high []byte }

// check reports an element out of order: not after the previous one, or not inside the bounds.
func (b keyBounds) check(key, previous []byte) error {
	if len(key) == 0 || previous != nil && bytes.Compare(key, previous) <= 0 ||
		b.low != nil && bytes.Compare(key, b.low) < 0 || b.high != nil && bytes.Compare(key, b.high) >= 0 {
		return fmt.Errorf("the key %.40q is not in its order", key)
	}
	return nil
}

// descent is the way through a tree. Each depth has a page of its own, because keys above are bounds below.
type descent struct {
	pages  *boltPages
	visit  visitor
	levels []level
}

// level is the memory for the pages of a depth.
type level struct {
	page     []byte
	elements []element
}

// maxPageDepth is far above the depth of any tree that fits into a file.
const maxPageDepth = 64

// visitPage visits a page and those below.
func (d *descent) visitPage(page uint64, within keyBounds, depth int) error {
	if depth == maxPageDepth {
		return fmt.Errorf("its pages nest deeper than %d", maxPageDepth)
	}
	if depth == len(d.levels) {
		d.levels = append(d.levels, level{})
	}
	b, err := d.pages.readPage(page, d.levels[depth].page)
	if err != nil {
		return err
	}
	flags := binary.NativeEndian.Uint16(b[8:])
	elements, used, err := parseElements(d.levels[depth].elements, b, flags)
	d.levels[depth] = level{b, elements}
	if err == nil {
		err = checkPageSize(b, used, int(d.pages.head.pageSize), depth) //nolint:gosec // at most largestPage
	}
	if err != nil {
		return fmt.Errorf("in its page %d, %w", page, err)
	}
	if flags == leafFlag {
		return d.visitLeaf(elements, within)
	}
	return d.visitBranch(elements, within, depth)
}

// checkPageSize checks that a page has as many pages as its elements need. Only the root of a tree may have none.
func checkPageSize(b []byte, used, pageSize, depth int) error {
	switch {
	case used == pageHeadBytes && depth > 0, used == pageHeadBytes && !isZero(b[used:]):
		return errors.New("the rows are missing")
	case len(b) != (used+pageSize-1)/pageSize*pageSize && len(b) != (used/pageSize+1)*pageSize:
		return errors.New("the rows have another size than the page")
	}
	return nil
}

func isZero(b []byte) bool { return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 }) }

// visitLeaf hands the elements of a leaf to the visitor.
func (d *descent) visitLeaf(elements []element, within keyBounds) error {
	var previous []byte
	for _, e := range elements {
		if err := within.check(e.key, previous); err != nil {
			return err
		}
		if err := d.visit(e); err != nil {
			return err
		}
		previous = e.key
	}
	return nil
}

// visitBranch visits the pages below a branch.
func (d *descent) visitBranch(elements []element, within keyBounds, depth int) error {
	var previous []byte
	for i, e := range elements {
		if err := within.check(e.key, previous); err != nil {
			return err
		}
		below := keyBounds{e.key, within.high}
		if i+1 < len(elements) {
			below.high = elements[i+1].key
		}
		if err := d.visitPage(e.page, below, depth+1); err != nil {
			return err
		}
		previous = e.key
	}
	return nil
}

// parseElements returns the elements of a page, in the memory of elements, and how many bytes the page uses. Elements
// lie one behind another, as bbolt writes them.
func parseElements(elements []element, b []byte, flags uint16) (parsed []element, used int, err error) {
	if len(b) < pageHeadBytes || flags != binary.NativeEndian.Uint16(b[8:]) || flags != leafFlag &&
		flags != branchFlag {
		return nil, 0, errors.New("there are no rows")
	}
	count := int(binary.NativeEndian.Uint16(b[10:]))
	next := uint64(pageHeadBytes + count*elementBytes) //nolint:gosec // at most a megabyte
	if next > uint64(len(b)) {
		return nil, 0, fmt.Errorf("there are %d rows, which it has no room for", count)
	}
	elements = slices.Grow(elements[:0], count)[:count]
	for i := range elements {
		at := uint64(pageHeadBytes + i*elementBytes) //nolint:gosec // as above
		if next, err = elements[i].parse(b, at, next, flags); err != nil {
			return nil, 0, err
		}
	}
	return elements, int(next), nil //nolint:gosec // inside b
}

// parse parses the description at an offset of an element whose key must be at the offset next. It returns the offset
// after the element.
func (e *element) parse(b []byte, at, next uint64, flags uint16) (uint64, error) {
	d := b[at : at+elementBytes]
	u32 := binary.NativeEndian.Uint32
	var position, key, value uint64
	if flags == leafFlag {
		position, key, value = uint64(u32(d[4:])), uint64(u32(d[8:])), uint64(u32(d[12:]))
		e.isBucket = u32(d) == bucketFlag
		if u32(d) > bucketFlag {
			return 0, fmt.Errorf("a row has the flags %#x", u32(d))
		}
	} else {
		position, key, e.page = uint64(u32(d)), uint64(u32(d[4:])), binary.NativeEndian.Uint64(d[8:])
	}
	if at+position != next || next+key+value > uint64(len(b)) {
		return 0, errors.New("a row is not where it belongs")
	}
	e.key, e.value = b[next:next+key], b[next+key:next+key+value]
	return next + key + value, nil
}

// checkFree checks the list of free pages: together with the pages in use they are all pages, each once.
func (p *boltPages) checkFree() error {
	if p.head.freelist == noFreelist {
		return nil
	}
	b, err := p.readPage(p.head.freelist, nil)
	if err != nil {
		return err
	}
	count, ids := uint64(binary.NativeEndian.Uint16(b[10:])), b[pageHeadBytes:]
	if count == 0xFFFF { // as many or more: the first number is the count
		count, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if binary.NativeEndian.Uint16(b[8:]) != freelistFlag || count > uint64(len(ids))/8 {
		return errors.New("its list of free pages is none")
	}
	for i := range count {
		if err = p.markPages(binary.NativeEndian.Uint64(ids[i*8:]), 1); err != nil {
			return fmt.Errorf("in its list of free pages, %w", err)
		}
	}
	return p.checkSeen()
}

// checkSeen checks that each page belongs to something.
func (p *boltPages) checkSeen() error {
	for i := range p.head.pages {
		if p.seen[i/64]&(1<<(i%64)) == 0 {
			return fmt.Errorf("its page %d belongs to nothing", i)
		}
	}
	return nil
}
