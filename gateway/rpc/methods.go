package rpc

// methods is the table of everything that can be called.
func methods() map[string]Method {
	return map[string]Method{
		"prompt.submit": quick("add a message to a session; its answer comes as events", promptSubmit),

		"session.create":       quick("start a session, or find the one of a key", sessionCreate),
		"session.list":         quick("sessions, newest activity first", sessionList),
		"session.history":      quick("what was said, newest page first", sessionHistory),
		"session.resume":       slow("open a session: history, the running turn, questions, queue", sessionResume),
		"session.events.since": quick("events after a number", sessionEventsSince),
		"session.interrupt":    quick("stop the running turn", sessionInterrupt),
		"session.steer":        quick("tell the running turn something", sessionSteer),
		"session.title":        quick("read or change the title", sessionTitle),
		"session.usage":        quick("what a session cost", sessionUsage),
		"session.close":        quick("stop following a session", sessionClose),

		"queue.list":   quick("messages that run or wait", queueList),
		"queue.edit":   quick("change a message that waits", queueEdit),
		"queue.remove": quick("take a message out of the queue", queueRemove),
		"queue.now":    quick("send a waiting message before the others, and end the running turn", queueNow),

		"approval.respond": quick("answer an approval: once, session, always, deny", approvalRespond),
		"clarify.respond":  quick("answer a question of the agent", clarifyRespond),
		"sudo.respond":     quick("give a password", sudoRespond),
		"secret.respond":   quick("give a secret value", secretRespond),

		"commands.catalog": quick("slash commands", commandsCatalog),
		"command.dispatch": quick("run a slash command", commandDispatch),
		"command.press":    quick("press a button beside a command's answer", commandPress),

		"setup.status": quick("is there a model, and which", setupStatus),
		"rpc.discover": quick("this table", discover),
	}
}
