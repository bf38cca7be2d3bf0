package markup

import "strings"

// Span is a piece of inline markup. Mark closes and opens it again; "" is a link or an address, which cannot be cut.
type Span struct {
	Start, End int
	Mark       string
	label      int // of a link under way: where its label ends
}

// maxOpen bounds how many markers wait for their partner.
const maxOpen = 32

// inliner reads one block of text.
type inliner struct {
	s        string
	closed   []Span
	stack    []delim // emphasis that is open
	brackets []int
}

// delim is a run of emphasis marks whose partner has not come.
type delim struct {
	c   byte
	pos int
	n   int
}

// Spans finds the inline markup of one block: what is closed, in no order, and what would be open if the text went on,
// outermost first.
func Spans(block string) (closed, open []Span) {
	in := inliner{s: block}
	for i := 0; i < len(block); {
		switch c := block[i]; c {
		case '\\':
			i += 2
		case '`':
			n, ok := in.code(i)
			if !ok {
				open = in.opened()
				return in.closed, append(open, Span{Start: i, End: len(block), Mark: block[i : i+n]})
			}
			i += n
		case '*', '_', '~':
			i += in.emphasis(i)
		case '[':
			if len(in.brackets) < maxOpen {
				in.brackets = append(in.brackets, i)
			}
			i++
		case ']':
			n, rest := in.link(i)
			if rest != nil {
				return in.closed, append(in.opened(), *rest)
			}
			i += n
		case '<', 'h', 'H':
			i += in.address(i)
		default:
			i++
		}
	}
	return in.closed, in.opened()
}

// code reads the code span at i. ok is false when its end is not there.
func (in *inliner) code(i int) (n int, ok bool) {
	n = runOf(in.s[i:], '`')
	for j := i + n; j < len(in.s); {
		k := strings.IndexByte(in.s[j:], '`')
		if k < 0 {
			break
		}
		j += k
		m := runOf(in.s[j:], '`')
		if j += m; m == n {
			in.closed = append(in.closed, Span{Start: i, End: j, Mark: in.s[i : i+n]})
			return j - i, true
		}
	}
	return n, false
}

// emphasis reads the run of marks at i.
func (in *inliner) emphasis(i int) int {
	c := in.s[i]
	n := runOf(in.s[i:], c)
	before, after := around(in.s, i, i+n)
	left, right := flanking(c, before, after)
	if c == '~' && n > 2 {
		return n
	}
	rest := n
	if right {
		rest = in.close(c, i, n)
	}
	if rest > 0 && left && len(in.stack) < maxOpen {
		in.stack = append(in.stack, delim{c, i + n - rest, rest})
	}
	return n
}

// close pairs n marks at i with open ones, and returns how many are left.
func (in *inliner) close(c byte, i, n int) int {
	for j := len(in.stack) - 1; j >= 0 && n > 0; j-- {
		d := &in.stack[j]
		if d.c != c || c == '~' && d.n != n {
			continue
		}
		for n > 0 && d.n > 0 {
			use := 1
			if n >= 2 && d.n >= 2 {
				use = 2
			}
			d.n -= use
			start := d.pos + d.n
			in.closed = append(in.closed, Span{Start: start, End: i + use, Mark: in.s[start : start+use]})
			i, n = i+use, n-use
		}
		in.stack = in.stack[:j+1]
		if d.n == 0 {
			in.stack = in.stack[:j]
		}
	}
	return n
}

// link reads the bracket that ends a label at i. rest is a link whose address has not ended.
func (in *inliner) link(i int) (n int, rest *Span) {
	if len(in.brackets) == 0 {
		return 1, nil
	}
	start := in.brackets[len(in.brackets)-1]
	in.brackets = in.brackets[:len(in.brackets)-1]
	if start > 0 && in.s[start-1] == '!' {
		start--
	}
	if i+1 == len(in.s) || in.s[i+1] != '(' {
		return 1, nil
	}
	depth := 0
	for j := i + 1; j < len(in.s); j++ {
		switch in.s[j] {
		case '\\':
			j++
		case '\n':
			return 1, nil
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				in.closed = append(in.closed, Span{Start: start, End: j + 1})
				return j + 1 - i, nil
			}
		}
	}
	return 1, &Span{Start: start, End: len(in.s), label: i}
}

// address reads <scheme:...> or a bare http(s) address at i; anything else is one byte of text.
func (in *inliner) address(i int) int {
	s := in.s[i:]
	if s[0] == '<' {
		if end := strings.IndexAny(s[1:], "<> \n"); end > 0 && s[end+1] == '>' && strings.Contains(s[:end], ":") {
			in.closed = append(in.closed, Span{Start: i, End: i + end + 2})
			return end + 2
		}
		return 1
	}
	if !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") {
		return 1
	}
	end := strings.IndexAny(s, " \t\n<")
	if end < 0 {
		end = len(s)
	}
	end = len(strings.TrimRight(s[:end], "*_~.,;:!?)]'\"`"))
	in.closed = append(in.closed, Span{Start: i, End: i + end})
	return max(end, 1)
}

func (in *inliner) opened() (open []Span) {
	for _, d := range in.stack {
		open = append(open, Span{Start: d.pos, End: len(in.s), Mark: in.s[d.pos : d.pos+d.n]})
	}
	return open
}
