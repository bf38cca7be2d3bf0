// Package command holds the slash commands: one table for every door.
package command
