package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"bellhop/config"
	"bellhop/core"
)

// lockTokens takes each bot token for this process, so that two gateways of one host do not receive for one bot. Between
// hosts, and between containers, the platform's own conflict answer tells.
func lockTokens(cfg config.Config) ([]io.Closer, error) {
	var locks []io.Closer
	for _, t := range cfg.Platforms.Telegram {
		if !t.On() || t.Token == "" {
			continue
		}
		sum := sha256.Sum256([]byte(t.Token.Reveal()))
		l, err := lockName("bellhop-token-" + hex.EncodeToString(sum[:12]))
		if held := (*core.Error)(nil); errors.As(err, &held) && held.Kind == core.Locked {
			return locks, core.Errorf("lock bot token", core.Locked, "%s on this machine already uses this bot token", held.Text)
		}
		if err != nil {
			return locks, err
		}
		locks = append(locks, l)
	}
	return locks, nil
}
