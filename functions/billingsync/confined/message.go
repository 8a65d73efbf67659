package confined

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

// readMessage reads a kind or status and the content behind it.
func readMessage(r *bufio.Reader) (kind byte, content []byte, err error) {
	var head [5]byte
	if _, err = io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(head[1:])
	if n > maxMessage {
		return 0, nil, fmt.Errorf("a message of %d bytes; at most %d are read", n, maxMessage)
	}
	content = make([]byte, n)
	_, err = io.ReadFull(r, content)
	return head[0], content, err
}

func writeMessage(w io.Writer, kind byte, content []byte) error {
	head := make([]byte, 5, 5+len(content))
	head[0] = kind
	binary.LittleEndian.PutUint32(head[1:], uint32(len(content))) //nolint:gosec // at most maxMessage
	_, err := w.Write(append(head, content...))
	return err
}

// request is the parent's order to a child: the file to read.
type request struct {
	Form  cloud.BillForm `json:"form"`
	Name  string         `json:"name"`
	Size  int64          `json:"size"`
	Limit int64          `json:"limit"`
}

func (q request) write(w io.Writer) error {
	b, err := json.Marshal(q)
	if err != nil {
		return err
	}
	return writeMessage(w, 0, b)
}

// answer is the result of bill.Read.
type answer struct {
	Rows    int64      `json:"rows"`
	Failed  bool       `json:"failed,omitempty"`
	Kind    fault.Kind `json:"kind,omitempty"`
	Message string     `json:"message,omitempty"`
}

func readAnswer(content []byte) (*answer, error) {
	var a answer
	return &a, json.Unmarshal(content, &a)
}

func (a *answer) err() error {
	if !a.Failed {
		return nil
	}
	return fault.New(a.Kind, "%s", a.Message)
}
