package token

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"math/big"
	"testing"
)

// Short numbers, one of 128, must be padded.
func TestSignaturesOfKMSBecomeThoseOfJWS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	short := 0
	for i := range 1000 {
		sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
		der, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		sig, err := fixedSignature(der)
		if err != nil || len(sig) != 64 {
			t.Fatalf("%d bytes, %v", len(sig), err)
		}
		if sig[0] == 0 || sig[32] == 0 {
			short++
		}
		r, s := new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])
		if !ecdsa.Verify(&key.PublicKey, sum[:], r, s) {
			t.Fatalf("signature %x is not that of %x", sig, der)
		}
	}
	t.Logf("%d of 1,000 had a short number", short)
}

func FuzzSignature(f *testing.F) {
	for _, b := range [][]byte{nil, {0x30, 0}, {0x30, 6, 2, 1, 1, 2, 1, 1}, {0x30, 6, 2, 1, 0xff, 2, 1, 1}} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if sig, err := fixedSignature(b); err == nil && len(sig) != 64 {
			t.Errorf("%x becomes %x", b, sig)
		}
	})
}
