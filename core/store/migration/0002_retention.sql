-- What housekeeping looks for: the oldest of what may go. Rows enter these indexes at their end, in the order of time.

-- +goose Up
CREATE INDEX admissions_untrimmed ON admissions (trimmed, settled) WHERE trimmed = 0 AND open = 0;
CREATE INDEX events_at ON events (at);
CREATE INDEX deliveries_done ON deliveries (done) WHERE done > 0;
