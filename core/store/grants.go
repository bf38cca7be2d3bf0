package store

import (
	"context"

	"bellhop/core"
)

const selectGrants = `SELECT person, name, admin, home, code, allowed, owner, created FROM grants`

func scanGrant(r scanner) (g core.Grant, err error) {
	var home string
	var created int64
	err = r.Scan(&g.Person, &g.Name, &g.Admin, &home, &g.Code, &g.Allowed, &g.Owner, &created)
	if err != nil {
		return g, err
	}
	g.Created = at(created)
	return g, structure(home, &g.Home)
}

// Grant implements core.Grants.
func (s *Store) Grant(ctx context.Context, p core.PrincipalID) (core.Grant, error) {
	const op = "find grant"
	g, found, err := one(s.read(ctx, op), scanGrant, selectGrants+` WHERE person = ?`, p)
	if err == nil && !found {
		err = core.Errorf(op, core.NotFound, "%s is a stranger", p)
	}
	return g, err
}

// Grants implements core.Grants.
func (s *Store) Grants(ctx context.Context) ([]core.Grant, error) {
	return all(s.read(ctx, "list grants"), scanGrant, selectGrants+` ORDER BY created, person`)
}

// PutGrant implements core.Grants. The time of a row's making stays when it is replaced without one.
func (s *Store) PutGrant(ctx context.Context, g core.Grant) error {
	const op = "put grant"
	if g.Person == "" {
		return core.Errorf(op, core.Invalid, "nobody is granted anything")
	}
	home, err := routeText(g.Home)
	if err != nil {
		return err
	}
	return s.write(ctx, op, synced, func(t *tx) error {
		created := g.Created
		if created.IsZero() {
			created = t.now
		}
		_, err := t.exec(`INSERT INTO grants (person, name, admin, home, code, allowed, owner, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (person) DO UPDATE SET name = excluded.name, admin = excluded.admin, home = excluded.home, code = excluded.code,
				allowed = excluded.allowed, owner = excluded.owner, created = CASE WHEN ? = 1 THEN grants.created ELSE excluded.created END`,
			g.Person, g.Name, bit(g.Admin), home, g.Code, bit(g.Allowed), bit(g.Owner), ms(created), bit(g.Created.IsZero()))
		return err
	})
}

// Revoke implements core.Grants.
func (s *Store) Revoke(ctx context.Context, p core.PrincipalID) error {
	const op = "revoke"
	return s.write(ctx, op, synced, func(t *tx) error {
		n, err := t.exec(`DELETE FROM grants WHERE person = ?`, p)
		if err == nil && n == 0 {
			err = core.Errorf(op, core.NotFound, "%s is a stranger", p)
		}
		return err
	})
}

// Fact implements core.Grants. A fact that nobody set is "".
func (s *Store) Fact(ctx context.Context, name string) (string, error) {
	return fact(s.read(ctx, "read fact"), name)
}

func fact(q querier, name string) (v string, err error) {
	_, err = q.row(`SELECT value FROM facts WHERE name = ?`, name).scan(&v)
	return v, err
}

// SetFact implements core.Grants. Setting "" forgets it.
func (s *Store) SetFact(ctx context.Context, name, value string) error {
	return s.write(ctx, "set fact", synced, func(t *tx) error { return t.setFact(name, value) })
}

func (t *tx) setFact(name, value string) error {
	if value == "" {
		_, err := t.exec(`DELETE FROM facts WHERE name = ?`, name)
		return err
	}
	_, err := t.exec(`INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
	return err
}
