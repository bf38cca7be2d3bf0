package main

import (
	"strings"
	"testing"
)

// The password in the address of a database is nowhere to be seen, whether the address is wrong or nobody answers at it.
func TestDatabasePasswordStaysSecret(t *testing.T) {
	const password = "planted-db-password"
	for name, dsn := range map[string]string{
		"nobody answers": "postgres://bellhop:" + password + "@127.0.0.1:9/bellhop?sslmode=disable",
		"no address":     "postgres://bellhop:" + password + "@:x/%zz",
		"key and value":  "host=127.0.0.1 port=9 user=bellhop password=" + password + " sslmode=disable",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pong).on(storeKind{"postgres", func(*testing.T) string { return dsn }})
			for _, args := range [][]string{{"serve"}, {"doctor"}, {"doctor", "--json"}, {"verify"}, {"config", "show"}, {"config", "check"}} {
				out, _ := r.command(args...).CombinedOutput()
				if strings.Contains(string(out), password) {
					t.Errorf("bellhop %s says the password:\n%s", strings.Join(args, " "), out)
				}
				if args[0] == "serve" && !strings.Contains(string(out), "store.dsn") {
					t.Errorf("it does not say what is wrong:\n%s", out)
				}
			}
		})
	}
}
