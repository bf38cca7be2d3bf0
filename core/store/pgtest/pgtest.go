package pgtest

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// ErrMissing: there is no PostgreSQL on this machine.
var ErrMissing = errors.New("no PostgreSQL here: sudo apt-get install postgresql")

// Server is a running PostgreSQL. Its methods may be called concurrently, except Stop, Kill and Restart.
type Server struct {
	bin, dir string
	port     int
	cred     *syscall.Credential
	cmd      *exec.Cmd
	ears     io.WriteCloser // hears how the server is to end; closed when this process is gone
	made     atomic.Int64
	env      []string // of the server, beside this process's
}

// Start starts a server with the given settings, as name=value, beside those for tests. ErrMissing: it is not installed.
func Start(settings ...string) (*Server, error) { return start(nil, settings) }

// StartAt starts a server whose clock is off by shift, until SetClock. ErrMissing: libfaketime is not installed either.
func StartAt(shift time.Duration) (*Server, error) {
	found, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if len(found) == 0 {
		return nil, fmt.Errorf("%w, and faketime", ErrMissing)
	}
	return start(func(s *Server) error {
		s.env = []string{"LD_PRELOAD=" + found[0], "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_TIMESTAMP_FILE=" + s.clock()}
		return s.SetClock(shift)
	}, nil)
}

func (s *Server) clock() string { return filepath.Join(s.dir, "clock") }

// SetClock sets by how much the clock of a server of StartAt is off from now on.
func (s *Server) SetClock(shift time.Duration) error {
	next := s.clock() + ".next"
	if err := os.WriteFile(next, fmt.Appendf(nil, "%+d\n", int(shift.Seconds())), 0o644); err != nil {
		return err
	}
	return os.Rename(next, s.clock())
}

func start(prepare func(*Server) error, settings []string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin}
	base := ""
	if os.Getuid() == 0 {
		base = "/tmp" // where another user may go, whatever TMPDIR says
	}
	if s.dir, err = os.MkdirTemp(base, "pgtest"); err != nil {
		return nil, err
	}
	if err = s.prepare(settings); err == nil && prepare != nil {
		err = prepare(s)
	}
	if err == nil {
		err = s.launch()
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// binaries finds the newest installed version's folder.
func binaries() (string, error) {
	if p, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(p), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", ErrMissing
	}
	version := func(p string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(p))))
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
}

func (s *Server) prepare(settings []string) error {
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return err
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(s.dir, uid, gid); err != nil {
			return err
		}
	}
	init := s.command(s.program("initdb"), "-D", s.data(), "-U", "bellhop", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C.UTF-8")
	if out, err := init.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	s.port = port
	conf := fmt.Sprintf("listen_addresses='127.0.0.1'\nport=%d\nunix_socket_directories=''\nmax_connections=300\nshared_buffers=32MB\n", port) +
		"fsync=off\nfull_page_writes=off\ndeadlock_timeout=100ms\nlogging_collector=off\n"
	for _, v := range settings {
		conf += v + "\n"
	}
	f, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(conf)
	return errors.Join(err, f.Close())
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) program(name string) string { return filepath.Join(s.bin, name) }

func (s *Server) command(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred, Setpgid: true}
	return cmd
}

// keeper runs the server, and ends it with the signal it reads, or when nobody is there any more to say one.
const keeper = `"$0" -D "$1" & server=$!; read signal; kill -${signal:-QUIT} $server; wait $server`

// launch starts the server and waits until it answers.
func (s *Server) launch() error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd = s.command("/bin/sh", "-c", keeper, s.program("postgres"), s.data())
	s.cmd.Env = append(os.Environ(), s.env...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if s.ears, err = s.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	deadline, look := time.After(30*time.Second), time.NewTicker(20*time.Millisecond)
	defer look.Stop()
	for {
		err := s.ping()
		if err == nil {
			return nil
		}
		select {
		case <-deadline:
			out, _ := os.ReadFile(log.Name())
			return fmt.Errorf("PostgreSQL does not answer: %w\n%s", err, out)
		case <-look.C:
		}
	}
}

func (s *Server) ping() error {
	db, err := sql.Open("pgx", s.DSN("public"))
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Ping()
}

// DSN is the address of a schema of the server.
func (s *Server) DSN(name string) string {
	return fmt.Sprintf("postgres://bellhop@127.0.0.1:%d/postgres?sslmode=disable&search_path=%s", s.port, name)
}

// Database makes an empty schema, which is as good as a database and made much faster, and drops it when the test ends.
func (s *Server) Database(tb testing.TB) string {
	tb.Helper()
	name := fmt.Sprint("t", s.made.Add(1))
	s.exec(tb, "CREATE SCHEMA "+name)
	tb.Cleanup(func() { s.exec(tb, "DROP SCHEMA "+name+" CASCADE") })
	return s.DSN(name)
}

func (s *Server) exec(tb testing.TB, q string) {
	tb.Helper()
	db, err := sql.Open("pgx", s.DSN("public"))
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(q); err != nil {
		tb.Fatal(q, err)
	}
}

// Cut ends every connection but its own.
func (s *Server) Cut(tb testing.TB) {
	tb.Helper()
	s.exec(tb, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
}

// Kill ends the server at once, as a crash would.
func (s *Server) Kill() error { return s.end("QUIT") }

// Restart starts a server that was killed.
func (s *Server) Restart() error { return s.launch() }

// Stop ends the server and removes its folder.
func (s *Server) Stop() error {
	return errors.Join(s.end("INT"), os.RemoveAll(s.dir))
}

func (s *Server) end(signal string) error {
	if s.cmd == nil || s.cmd.Process == nil {
		return nil
	}
	_, err := fmt.Fprintln(s.ears, signal)
	_ = s.cmd.Wait() // its state is of no interest
	s.cmd = nil
	return err
}
