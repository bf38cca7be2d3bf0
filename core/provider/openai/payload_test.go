package openai

import (
	"io"
	"testing"
)

func TestPayload(t *testing.T) {
	p := newPayload([]byte("abc"))
	first := p.open()
	if _, err := io.ReadFull(first, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	again, err := p.again()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(again); string(b) != "abc" || err != nil {
		t.Errorf("again: %q %v", b, err)
	}
	p.drop()
	if _, err := p.again(); err == nil {
		t.Error("it is there after it was dropped")
	}
	if b, err := io.ReadAll(first); string(b) != "bc" || err != nil { // the endpoint answered before it had read all
		t.Errorf("%q %v", b, err)
	}
	for name, s := range map[string]io.ReadCloser{"read": first, "read again": again} {
		if s.(*sending).r.Load() != nil {
			t.Errorf("the bytes are kept after they were %s", name)
		}
	}
}

func TestPayloadClosed(t *testing.T) {
	s := newPayload([]byte("abc")).open()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(s); len(b) > 0 || err != nil {
		t.Errorf("%q %v", b, err)
	}
	if s.(*sending).r.Load() != nil {
		t.Error("the bytes are kept after it was closed")
	}
}
