// Package proof lets the terminal client see that what listens is the gateway of its data folder, before it sends the
// token there: a gateway that died leaves an address, and something else may listen at it later.
//
//	client -- GET /rpc/proof?n=NONCE --> listener
//	       <-- HMAC(token, NONCE) ------           right: the token follows, over the same connection
//
// Both know the token from a file that only their user can read. A proof tells nothing about the token and is good for one
// nonce. The package neither listens nor dials.
package proof
