package store

import (
	"fmt"
	"strings"
	"testing"

	"bellhop/core"
)

// What is remembered is bounded, and what was used last stays.
func TestMemoryIsBounded(t *testing.T) {
	m := newMemory()
	id := func(n int) core.ConversationID { return core.ConversationID(fmt.Sprint("c", n)) }
	content := strings.Repeat("x", memoryOne/2)
	for n := range 100 {
		m.remember(id(n), 1, []core.Message{{ID: 1, Content: content}})
		if _, ok := m.recall(id(0), 1); !ok {
			t.Fatalf("what is used all the time was forgotten after %d others", n)
		}
		if m.bytes > memoryMost || m.order.Len() != len(m.of) {
			t.Fatalf("%d bytes, %d and %d transcripts", m.bytes, m.order.Len(), len(m.of))
		}
	}
	if _, ok := m.recall(id(1), 1); ok {
		t.Error("what was not used for long is still there")
	}
	m.grow(growth{c: id(0), version: 2, messages: []core.Message{{ID: 2, Content: content}}})
	if _, ok := m.recall(id(0), 2); ok {
		t.Error("a transcript that is too long is still there")
	}
	for n := range 100 {
		m.forget(id(n))
	}
	if m.bytes != 0 || len(m.of) != 0 {
		t.Errorf("%d bytes of %d transcripts are left of nothing", m.bytes, len(m.of))
	}
}
