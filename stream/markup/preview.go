package markup

import "strings"

// Preview closes what is open in a text that still grows, so that it renders sanely: fences, code spans, emphasis. What
// has only begun (a lone list marker, half a fence, the address of a link) is left out until it is clear what it is.
func Preview(md string) string { return Live(md, "") }

// Live is Preview with a cursor where the text goes on.
func Live(md, cursor string) string {
	head, tail := md, ""
	if i := strings.LastIndexByte(md, '\n'); i+1 < len(md) {
		head, tail = md[:i+1], md[i+1:]
	}
	var sc Scanner
	block, prev := scan(&sc, head)
	if f := sc.Fence(); f != nil {
		return liveCode(head, tail, cursor, f, sc)
	}
	switch kind := sc.Line(tail); {
	case sc.Fence() != nil: // a fence whose line is not complete
		if head == "" {
			return ""
		}
		return Live(strings.TrimRight(head, "\n"), cursor)
	case tail != "" && !Continues(prev, kind):
		block = len(head)
	}
	text := clear(md[block:])
	if strings.TrimSpace(text) == "" {
		return idle(md[:block], cursor, prev)
	}
	return md[:block] + liveText(text, cursor)
}

// idle puts the cursor behind a text whose next block has not begun.
func idle(head, cursor string, prev LineKind) string {
	head = strings.TrimRight(head, "\n")
	if strings.TrimSpace(head) == "" {
		return ""
	}
	if prev == FenceLine && cursor != "" {
		return head + "\n" + strings.TrimLeft(cursor, " ")
	}
	return head + cursor
}

// scan takes the complete lines of md and returns where the block begins that the next line may continue.
func scan(sc *Scanner, md string) (block int, prev LineKind) {
	prev = BlankLine
	pos := 0
	eachLine(md, func(line string) {
		kind := sc.Line(line)
		if !Continues(prev, kind) {
			block = pos
		}
		pos += len(line) + 1
		if kind == BlankLine || kind == FenceLine || kind == CodeLine {
			block = min(pos, len(md))
		}
		prev = kind
	})
	return block, prev
}

// Continues reports whether a line belongs to the same block of inline text as the line before.
func Continues(prev, kind LineKind) bool {
	return kind == TextLine && (prev == TextLine || prev == ItemLine || prev == QuoteLine) ||
		kind == QuoteLine && prev == QuoteLine
}

// liveCode ends the code block f, which is open before the last line.
func liveCode(head, tail, cursor string, f *Fence, sc Scanner) string {
	if sc.Line(tail); tail != "" && sc.Fence() == nil {
		if cursor == "" {
			return head + tail
		}
		return head + tail + "\n" + strings.TrimLeft(cursor, " ")
	}
	half := strings.TrimSpace(strings.TrimPrefix(tail, f.Quote))
	if len(half) < len(f.Run) && runOf(half, f.Run[0]) == len(half) { // perhaps the fence that closes
		tail = ""
	}
	return endLine(head+tail+cursor) + f.Closer()
}

// CloseFence ends a code block that is open at the end of md.
func CloseFence(md string) string {
	var sc Scanner
	eachLine(md, func(line string) { sc.Line(line) })
	if f := sc.Fence(); f != nil {
		return endLine(md) + f.Closer()
	}
	return md
}

func endLine(s string) string {
	if strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

func eachLine(md string, do func(line string)) {
	for md != "" {
		line, rest, _ := strings.Cut(md, "\n")
		do(line)
		md = rest
	}
}

// clear takes what has only begun off the end of a block.
func clear(s string) string {
	i := strings.LastIndexByte(s, '\n') + 1
	switch last := strings.TrimSpace(s[i:]); {
	case last == "":
	case strings.Trim(last, "-=*+_#>`") == "", strings.Trim(last, "0123456789") == ".":
		return strings.TrimRight(s[:i], "\n")
	}
	if t := strings.TrimRight(s, "*_~`"); t != s && strings.TrimRight(t, " \n") != t {
		return t
	}
	return strings.TrimSuffix(s, `\`)
}

// liveText closes the inline markup of a block.
func liveText(s, cursor string) string {
	var open []Span
	for {
		_, open = Spans(s)
		if len(open) == 0 {
			break
		}
		last := open[len(open)-1]
		if last.Mark == "" { // a link whose address is coming: its label alone
			s = s[:last.Start] + strings.TrimLeft(s[last.Start:last.label], "![")
			continue
		}
		if strings.TrimSpace(s[last.Start+len(last.Mark):]) != "" {
			break
		}
		s = s[:last.Start] // a mark without text
	}
	marks := ""
	for _, o := range open {
		marks = o.Mark + marks
	}
	t := strings.TrimRight(s, " \n") + cursor
	last := t[strings.LastIndexByte(t, '\n')+1:] + marks
	if _, fence := opener(strings.TrimLeft(last, " >")); fence { // the marks together would be something else
		return t
	}
	return t + marks
}
