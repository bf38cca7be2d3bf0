package store

import (
	"context"
	"strings"

	"bellhop/core"
)

// The names of the tally: what was ever accepted, and what ended, by result.
const (
	tallyAccepted = "accepted"
	tallyEnded    = "ended:"
	tallyShard    = "#" // before the shard of a counter that several handles move
)

type count struct {
	name      string
	n, oldest int64
}

func scanCount(r scanner) (c count, err error) {
	err = r.Scan(&c.name, &c.n, &c.oldest)
	return c, err
}

// Census implements core.Admissions. What was accepted and what ended are counters, moved by the transactions that accept
// and end; what is open is counted. A row that was lost, or ended twice, unbalances it. It costs the same at any size.
func (s *Store) Census(ctx context.Context) (core.Census, error) {
	return s.census(ctx, `SELECT name, n, 0 FROM tally UNION ALL
		SELECT status, COUNT(*), MIN(created) FROM admissions WHERE open = 1 GROUP BY status`)
}

// Recount is the census from the rows alone, for a check at leisure: it reads every admission.
func (s *Store) Recount(ctx context.Context) (core.Census, error) {
	return s.census(ctx, `SELECT 'accepted', COUNT(*), 0 FROM admissions UNION ALL
		SELECT CASE WHEN status = 'terminal' THEN 'ended:' || result ELSE status END, COUNT(*), MIN(created)
		FROM admissions GROUP BY 1`)
}

func (s *Store) census(ctx context.Context, q string) (core.Census, error) {
	c := core.Census{Results: map[core.Result]int64{}}
	counts, err := all(s.read(ctx, "count admissions"), scanCount, q)
	for _, v := range counts {
		v.name, _, _ = strings.Cut(v.name, tallyShard)
		switch v.name {
		case tallyAccepted:
			c.Accepted += v.n
		case string(core.Queued):
			c.Queued, c.OldestQueued = v.n, at(v.oldest)
		case string(core.Started):
			c.Started = v.n
		case string(core.Unknown):
			c.Unknown = v.n
		}
		if result, ok := strings.CutPrefix(v.name, tallyEnded); ok && v.n != 0 {
			c.Terminal += v.n
			c.Results[core.Result(result)] += v.n
		}
	}
	return c, err
}
