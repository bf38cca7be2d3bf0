-- Which node a delivery belongs to until its time: when that node is gone, another need not wait.

-- +goose Up
ALTER TABLE deliveries ADD COLUMN node TEXT NOT NULL DEFAULT '';
