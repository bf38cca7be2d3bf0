package storetest

import (
	"time"

	"bellhop/core"
)

var grantTests = []test{
	{"grants", func(k kit) {
		_, err := k.Grant(k.Context(), "chat:eve")
		k.want(err, core.NotFound)
		g := core.Grant{Person: "chat:eve", Name: "Eve", Code: "ABCD1234", Created: time.Now().Truncate(time.Millisecond)}
		k.ok(k.PutGrant(k.Context(), g))
		k.equal(must(k.Grant(k.Context(), g.Person))(k), g)
		time.Sleep(time.Minute)
		g.Code, g.Allowed, g.Admin, g.Owner, g.Home = "", true, true, true, here
		replaced := g
		replaced.Created = time.Time{} // keeps the time of making
		k.ok(k.PutGrant(k.Context(), replaced))
		k.equal(must(k.Grants(k.Context()))(k), []core.Grant{g})
		k.ok(k.Revoke(k.Context(), g.Person))
		k.want(k.Revoke(k.Context(), g.Person), core.NotFound)
		k.want(k.PutGrant(k.Context(), core.Grant{}), core.Invalid)
	}},
	{"facts", func(k kit) {
		k.equal(must(k.Fact(k.Context(), "claim"))(k), "")
		for _, v := range []string{"one", "two", ""} {
			k.ok(k.SetFact(k.Context(), "claim", v))
			k.equal(must(k.Fact(k.Context(), "claim"))(k), v)
		}
	}},
	{"check", func(k kit) {
		k.ok(k.Check(k.Context()))
		k.ok(k.Check(k.Context()))
	}},
	{"close", func(k kit) {
		a := k.queue(said("1", "x"))
		k.ok(k.Close())
		k.ok(k.Close())
		_, err := k.Admit(k.Context(), core.Intake{Entries: []core.Entry{said("2", "y")}})
		k.want(err, core.Unavailable)
		if _, err := k.Admission(k.Context(), a.ID); err == nil {
			k.Fatal("read from a closed store")
		}
	}},
}
