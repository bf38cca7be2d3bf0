package problem

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestRegister(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []string
		r := New(func(p Problem, open bool) { heard = append(heard, fmt.Sprint(p.ID, " ", open)) })
		r.Clear("store")
		r.Raise(Problem{ID: "store", Text: "full"})
		began := time.Now()
		time.Sleep(time.Minute)
		r.Raise(Problem{ID: "store", Text: "still full"})
		r.Raise(Problem{ID: "receive:a", Text: "deaf"})
		open := r.Open()
		if len(open) != 2 || open[1].Text != "still full" || open[1].Count != 2 || !open[1].Since.Equal(began) {
			t.Errorf("open: %+v", open)
		}
		r.Clear("store")
		r.Clear("store")
		if got, want := fmt.Sprint(heard), "[store true receive:a true store false]"; got != want {
			t.Errorf("heard %s, want %s", got, want)
		}
	})
}

func TestRegisterIsBounded(t *testing.T) {
	r := New(nil)
	for i := range 2 * Max {
		r.Raise(Problem{ID: fmt.Sprint(i)})
	}
	if n := len(r.Open()); n != Max {
		t.Errorf("%d problems held, want %d", n, Max)
	}
}
