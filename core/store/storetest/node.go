package storetest

import (
	"errors"
	"time"

	"bellhop/core"
)

const beat = 15 * time.Second

func instances(nodes []core.Node) (out []string) {
	for _, n := range nodes {
		out = append(out, n.Holder.Instance)
	}
	return out
}

var nodeTests = []test{
	{"nodes", func(k kit) {
		one, two := core.Node{Holder: holder, Version: "1"}, core.Node{Holder: other, Version: "2"}
		beats := func(n core.Node) []core.Node {
			live, _, err := k.Beat(k.Context(), n, beat)
			k.ok(err)
			return live
		}
		k.equal(instances(beats(one)), []string{"one"})
		time.Sleep(beat / 2)
		live := beats(two)
		k.equal(instances(live), []string{"one", "two"})
		if live[1].Version != "2" || live[1].Holder != other || live[1].Started.IsZero() || !live[1].Expires.After(live[0].Expires) {
			k.Fatalf("%+v", live)
		}
		time.Sleep(beat / 2)
		k.equal(instances(beats(two)), []string{"two"}) // the first was not heard of again
		k.equal(instances(beats(one)), []string{"one", "two"})
		k.ok(k.Leave(k.Context(), holder))
		k.ok(k.Leave(k.Context(), holder))
		k.equal(instances(beats(two)), []string{"two"})
		live, gone, err := k.Beat(k.Context(), two, beat)
		k.ok(err)
		k.equal(instances(live), []string{"two"})
		k.equal(instances(gone), []string{"one"})
		_, _, err = k.Beat(k.Context(), core.Node{}, beat)
		k.want(err, core.Invalid)
	}},
	{"a seat has one owner", func(k kit) {
		mine := must(k.Sit(k.Context(), "bot", holder, beat, alive))(k)
		if mine.Name != "bot" || mine.Generation != 1 || mine.Token == "" {
			k.Fatalf("%+v", mine)
		}
		_, err := k.Sit(k.Context(), "bot", other, beat, alive)
		k.want(err, core.Busy)
		var held *core.Held
		if !errors.As(err, &held) || held.By != holder || !held.Expires.Equal(mine.Expires) {
			k.Fatalf("%+v", held)
		}
		must(k.Sit(k.Context(), "another bot", other, beat, alive))(k)
		k.equal(must(k.Seats(k.Context()))(k), map[string]core.Holder{"bot": holder, "another bot": other})
		time.Sleep(beat / 2)
		kept := must(k.Sit(k.Context(), "bot", holder, beat, alive))(k)
		if kept.Token != mine.Token || kept.Generation != 1 || !kept.Expires.After(mine.Expires) {
			k.Fatalf("%+v, was %+v", kept, mine)
		}
	}},
	{"a seat moves when its node is gone", func(k kit) {
		mine := must(k.Sit(k.Context(), "bot", holder, beat, alive))(k)
		next := must(k.Sit(k.Context(), "bot", other, beat, func(h core.Holder) bool { return h != holder }))(k)
		if next.Generation != 2 || next.Token == mine.Token {
			k.Fatalf("%+v after %+v", next, mine)
		}
		k.ok(k.Rise(k.Context(), mine)) // not ours any more: nothing happens
		_, err := k.Sit(k.Context(), "bot", holder, beat, alive)
		k.want(err, core.Busy)
		time.Sleep(beat)
		again := must(k.Sit(k.Context(), "bot", holder, beat, alive))(k)
		k.equal(again.Generation, int64(3))
		k.ok(k.Rise(k.Context(), again))
		k.equal(must(k.Sit(k.Context(), "bot", other, beat, alive))(k).Generation, int64(4))
		k.ok(k.Leave(k.Context(), other))
		must(k.Sit(k.Context(), "bot", holder, beat, alive))(k)
	}},
	{"one that has run out is taken anew by its owner", func(k kit) {
		mine := must(k.Sit(k.Context(), "bot", holder, beat, alive))(k)
		time.Sleep(beat)
		next := must(k.Sit(k.Context(), "bot", holder, beat, alive))(k)
		if next.Generation != 2 || next.Token == mine.Token {
			k.Fatalf("%+v after %+v", next, mine)
		}
	}},
	{"who lost the seat moves no cursor", func(k kit) {
		mine := must(k.Sit(k.Context(), "bot", holder, beat, alive))(k)
		read := func(s core.Seat, request, place string) error {
			_, err := k.Admit(k.Context(), core.Intake{Entries: []core.Entry{said(request, "x")}, Cursor: &core.Cursor{Name: "bot", Value: place, Seat: s}})
			return err
		}
		k.ok(read(mine, "1", "10"))
		time.Sleep(beat)
		k.want(read(mine, "2", "11"), core.Stale)
		next := must(k.Sit(k.Context(), "bot", other, beat, alive))(k)
		k.want(read(mine, "2", "11"), core.Stale)
		k.equal(must(k.Cursor(k.Context(), "bot"))(k), "10")
		k.ok(read(next, "2", "12"))
		k.equal(must(k.Cursor(k.Context(), "bot"))(k), "12")
		k.equal(k.balanced().Accepted, int64(2)) // of the refused batch nothing was stored
	}},
}
