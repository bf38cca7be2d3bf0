// Package adaptertest is what every adapter must do, tried over its platform's fake.
//
//	suite --Deliver--> fake --its protocol--> adapter --Receive--> Inbox of the suite
//	suite --Send, Edit ...--> adapter --its protocol--> fake --Visible--> suite
//
// There is a file per subject. A capability that an adapter does not have must be absent in CapsOf, as its harness says;
// what stands in for it is gateway/deliver's affair and tested there. Every subject runs in a synctest bubble of its own,
// so the fake has to be reached over in-memory connections, and back-off takes no time.
//
// An adapter's test is ten lines: it fills in a Harness and calls Run.
package adaptertest
