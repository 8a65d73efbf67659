package rest

import (
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
)

// reply is a complete answer.
type reply struct {
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// sendReply sends the answer to w.
func (r *reply) sendReply(w http.ResponseWriter) {
	maps.Copy(w.Header(), r.Header)
	w.WriteHeader(r.Status)
	_, _ = w.Write(r.Body)
}

// recording is an answer under construction.
type recording struct{ reply }

// Header returns the headers of the answer.
func (r *recording) Header() http.Header { return r.reply.Header }

// WriteHeader records the first status.
func (r *recording) WriteHeader(status int) {
	if r.Status == 0 {
		r.Status = status
	}
}

// Write appends to the body.
func (r *recording) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	r.Body = append(r.Body, b...)
	return len(b), nil
}

// withEmpty returns the answer with an empty text as one member of its data.
func (r *reply) withEmpty(member string) (*reply, error) {
	var body struct {
		Data map[string]json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return nil, fmt.Errorf("read answer to withhold %s: %w", member, err)
	}
	if string(body.Data[member]) == "null" { // there was no secret
		return r, nil
	}
	body.Data[member] = json.RawMessage(`""`)
	b, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("write answer without %s: %w", member, err)
	}
	return &reply{r.Status, r.Header, b}, nil
}

// sealReply compresses and encrypts an answer. It returns nil if the answer is too large to keep.
func (r *reply) sealReply(secret []byte) ([]byte, error) {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if err := errors.Join(json.NewEncoder(z).Encode(r), z.Close()); err != nil {
		return nil, fmt.Errorf("pack answer: %w", err)
	}
	if buf.Len() > maxKept*3/4 {
		return nil, nil
	}
	aead, err := aes256(secret)
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, buf.Bytes(), nil), nil
}

// openReply returns the answer that was sealed with secret.
func openReply(secret, sealed []byte) (*reply, error) {
	aead, err := aes256(secret)
	if err != nil {
		return nil, err
	}
	packed, err := aead.Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, fmt.Errorf("open kept answer: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack kept answer: %w", err)
	}
	var r reply
	if err := json.NewDecoder(z).Decode(&r); err != nil {
		return nil, fmt.Errorf("unpack kept answer: %w", err)
	}
	return &r, nil
}

func aes256(secret []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}
