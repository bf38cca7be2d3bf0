-- One index serves the transcript of a session and the whole history of a conversation: a message is written to two places
-- less.

-- +goose Up
DROP INDEX messages_session;
DROP INDEX messages_conversation;
CREATE INDEX messages_session ON messages (conversation, session);
