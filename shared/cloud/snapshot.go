package cloud

import (
	"encoding/json"
	"fmt"
)

// EncodeSnapshot encodes the state that a stop overwrites and a start restores. It panics if JSON cannot hold v, which
// is a struct of numbers and strings.
func EncodeSnapshot(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil { // a defect of ours
		panic(fmt.Sprintf("encode snapshot %+v: %v", v, err))
	}
	return b
}

// DecodeSnapshot decodes a snapshot; ok is false when there is none. The error for one that cannot be read is class
// Invalid and names the noun, such as "size".
func DecodeSnapshot[T any](raw json.RawMessage, noun string) (v T, ok bool, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return v, false, nil
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, false, ErrInvalid("the remembered %s %s cannot be read: %v", noun, raw, err)
	}
	return v, true, nil
}
