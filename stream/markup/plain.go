package markup

// plain shows where links lead; bare does not.
var (
	plain = tags{pre: noTags, link: noTags, schemes: []string{"http", "https", "mailto", "tel"}}
	bare  = tags{pre: noTags, link: noTags}
)

func noTags(string) (string, string) { return "", "" }

// Plain renders md as text without markup, for platforms that have none and for messages whose markup was refused. Links
// become "label (address)".
func Plain(md string) string {
	n, src := parse(valid(md))
	c := chat{sink: &sink{}, t: &plain, src: src}
	c.document(n)
	return c.b.String()
}
