package store

// Exec runs a statement on the writing connection, outside of any transaction.
func Exec(s *Store, q string) error {
	_, err := s.w.conn.ExecContext(s.w.ctx, q)
	return err
}

// Ask returns the number that a query on the writing connection yields.
func Ask(s *Store, q string) (n int64, err error) {
	err = s.w.conn.QueryRowContext(s.w.ctx, q).Scan(&n)
	return n, err
}
