package bill

// Numbering gives numbers from 1 to the distinct texts of a column, in the order in which they are asked for. Unlike
// the numbers of a Column they are the same in all blocks of all files, so that rows can be grouped by them.
type Numbering[T any] struct {
	text    func(T) string
	column  *Column[T]
	edition int
	known   []int32 // by number in the column; 0 for words that were not asked for
	texts   textSet
}

// NewNumbering returns a Numbering of columns whose words have the given texts.
func NewNumbering[T any](text func(T) string) *Numbering[T] {
	return &Numbering[T]{text: text, texts: newTextSet()}
}

// Use makes the column that of the following calls of At. Call it for each block.
func (n *Numbering[T]) Use(c *Column[T]) {
	if n.column != c || n.edition != c.Edition {
		n.column, n.edition = c, c.Edition
		clear(n.known)
	}
	if more := len(c.Words) - len(n.known); more > 0 {
		n.known = append(n.known, make([]int32, more)...)
	}
}

// At returns the number of the text in a row.
func (n *Numbering[T]) At(row int) int32 {
	word := n.column.Numbers[row]
	if known := n.known[word]; known != 0 {
		return known
	}
	return n.number(word)
}

// number looks a word up by its text.
func (n *Numbering[T]) number(word int32) int32 {
	n.known[word] = n.texts.number(n.text(n.column.Words[word]))
	return n.known[word]
}

// Text returns the text of a number.
func (n *Numbering[T]) Text(number int32) string { return string(n.texts.at(number)) }

// Len returns the number of texts, which is also the last number.
func (n *Numbering[T]) Len() int { return n.texts.len() }
