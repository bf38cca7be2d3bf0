// Package attach brings the files of a claimed input to where its turn can read them.
//
//	claimed row --> fetch each file (a few tries) --> WORKSPACE/inbox/ADMISSION/NAME --> the turn
//	                      |
//	                      +-- nothing came and nothing was written beside it: the turn ends here, the person is told,
//	                          and the transcript has both
//
// References are durable since admission; bytes are fetched here, by the adapter of the platform they came from. A Runner
// stands in front of the turn's own and has the same form, so that fetching is part of the turn: it can be stopped, it
// counts as activity, and after a crash it is simply done again.
//
// An input of nothing but sound ends with a sentence, because no speech recognition is there; the model never sees a
// placeholder as if a person had typed it. Names are made safe, the folder is confined, sizes are bounded.
package attach
