// Package adapters is the contract with a chat platform. One folder below per platform implements it; the suite in
// adaptertest says what every implementation must do, over that platform's own strict fake.
//
//	platform --> Run --> Inbox.Receive(batch) returns when the batch is durable --> acknowledge the platform
//	gateway  --> Send, Edit, Delete, Typing ... one call each --> platform
//
// An adapter is dumb: it translates and classifies. It never retries, splits, falls back, queues or logs what it returns;
// all of that is gateway/deliver's. It moves its cursor only with the batch that makes the updates durable. It never
// waits for a turn. What a platform can do beside sending is a one-method interface, found once by CapsOf.
//
// The package imports the standard library only; platforms can be read and tested without the rest of bellhop.
package adapters
