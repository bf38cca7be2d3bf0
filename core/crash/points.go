package crash

// The kill points, in the order a message passes them.
const (
	BeforeAdmit    = "before-admit"    // a batch is built, nothing is stored
	AfterAdmit     = "after-admit"     // rows are durable, the platform has no acknowledgement
	AfterAck       = "after-ack"       // acknowledged, nobody woken
	AfterAcquire   = "after-acquire"   // lease held, nothing claimed
	AfterClaim     = "after-claim"     // started, the turn has not begun
	AfterOpen      = "after-open"      // user message stored, no model call yet
	MidStream      = "mid-stream"      // part of the answer was shown
	BeforeRecord   = "before-record"   // the model asked for a tool, the call is not stored
	AfterRecord    = "after-record"    // call recorded, not started
	AfterAsk       = "after-ask"       // the call is known to need an approval, which is not asked yet
	AfterQuestion  = "after-question"  // the approval is stored and told, nobody has answered
	AfterAnswer    = "after-answer"    // the approval was given, the call not started
	AfterStart     = "after-start"     // call started, committed; nothing executed yet
	AfterEffect    = "after-effect"    // the tool ran, its result is not stored
	AfterResult    = "after-result"    // result stored, no answer yet
	BeforeSettle   = "before-settle"   // the answer is complete (and shown), not settled
	AfterSettle    = "after-settle"    // terminal and owed, not delivered
	BeforeSend     = "before-send"     // an attempt is marked, nothing sent
	AfterSend      = "after-send"      // the platform took it, the message id is not stored
	AfterDelivered = "after-delivered" // delivered and marked
	BeforeReadback = "before-readback" // an unknown row was found
	AfterResolve   = "after-resolve"   // an unknown row was settled, its retry not woken
)

// Points lists every kill point in order.
var Points = []string{
	BeforeAdmit, AfterAdmit, AfterAck, AfterAcquire, AfterClaim, AfterOpen, MidStream, BeforeRecord, AfterRecord,
	AfterAsk, AfterQuestion, AfterAnswer, AfterStart, AfterEffect, AfterResult, BeforeSettle, AfterSettle, BeforeSend, AfterSend, AfterDelivered,
	BeforeReadback, AfterResolve,
}
