package config

import "cmp"

// unbuilt warns about ways to show an answer that this version does not have. holds tells which keys count: of a platform's
// section those that were written.
func (k *checker) unbuilt(at string, s Stream, d Display, holds func(key string) bool) {
	def := Default().Display
	for _, v := range []struct {
		key       string
		used      bool
		value, is string
	}{
		{"stream.mode", s.Mode == "native", s.Mode, "drafts are used where the chat has them"},
		{"display.tool_progress", d.ToolProgress == "full", d.ToolProgress, "it is compact"},
		{"display.reasoning", cmp.Or(d.Reasoning, def.Reasoning) != def.Reasoning, d.Reasoning, "reasoning stays hidden"},
		{"display.long_running", d.LongRunning != def.LongRunning, d.LongRunning.String(), "it changes nothing"},
	} {
		if v.used && holds(v.key) {
			k.warn("%s%s: %s is not in this version; %s", at, v.key, v.value, v.is)
		}
	}
}
