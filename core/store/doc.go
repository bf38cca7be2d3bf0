// Package store keeps core's contracts on SQL.
package store
