// Package web is the browser's page: plain HTML, CSS and JavaScript, embedded, without a build step and without anything
// from elsewhere. It is a client of gateway/rpc over WebSocket and has no way of its own into the gateway.
//
//	app.js     which conversation is open, what is typed       socket.js   the connection, and its coming back
//	talk.js    the conversation: events -> turns               turn.js     one turn: question, tools, answer
//	card.js    a question with its buttons                     queue.js    messages that wait
//	side.js    the list of conversations                       markdown.js text as it comes; safe.js the final HTML
//
// What the page promises. Turns are keyed by admission and events by number, so that after a reconnect nothing is shown
// twice and nothing is missing; a message without a receipt is sent again under the same request id. While an answer
// streams only its last block is built again; at its end it is exchanged for what the gateway rendered. HTML from the
// gateway is rebuilt from an allow list of elements. Everything works with the keyboard; the end of an answer, questions
// and places in the queue are announced to screen readers, single words are not.
package web
