// Package gateway lets people in: what an adapter received becomes admissions, and commands are answered.
package gateway
